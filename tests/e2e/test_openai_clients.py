"""The `openai` package and LangChain's `ChatOpenAI` chat with a bot; its model is the stub of a provider."""

import asyncio
import base64
from typing import Any

import openai
import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from tests.support import files
from tests.support.openai_clients import (
    async_openai_of,
    audio_part,
    file_part,
    image_part,
    langchain_of,
    openai_of,
    said,
    text_part,
    user,
)
from tests.support.openapi import Description
from tests.support.provided import Chatting
from tests.support.provider_faults import Pause

NOWHERE = "00000000-0000-7000-8000-000000000000"

pytest_plugins = ["tests.support.provided_fixtures"]


def test_a_model_is_a_bot(chatting: Chatting) -> None:
    client, bot = openai_of(chatting.client), chatting.bot()
    assert [(model.id, model.owned_by) for model in client.models.list()] == [(bot, "tributary")]
    assert client.models.retrieve(bot).id == bot


def test_the_model_is_shown_the_conversation_that_the_client_keeps(chatting: Chatting) -> None:
    chatting.provider.answer = "Nine."
    bot = chatting.bot(prompt="You know ferries.")
    answer = openai_of(chatting.client).chat.completions.create(
        model=bot,
        messages=[
            {"role": "system", "content": "Answer in one word."},
            said("Hello! Ask me anything."),
            user("Where is Sylt?"),
            said("In the North"),
            said("Sea."),
            user("And the ferry?"),
            user("When does it leave?"),
        ],
        max_completion_tokens=77,
        temperature=0.2,
    )
    assert answer.choices[0].message.content == "Nine."
    assert (answer.choices[0].finish_reason, answer.model, answer.object) == ("stop", bot, "chat.completion")
    system, *turns = chatting.last_call["messages"]
    assert system["content"].startswith("You know ferries.\n\n")
    assert system["content"].endswith("\nAnswer in one word.")
    assert [(each["role"], each["content"]) for each in turns] == [
        ("user", "Where is Sylt?"),
        ("assistant", "In the North\n\nSea."),
        ("user", "And the ferry?\n\nWhen does it leave?"),
    ]
    assert chatting.last_call["max_completion_tokens"] == 77
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 1


def test_nothing_of_it_is_kept_but_what_it_cost(chatting: Chatting) -> None:
    chatting.provider.cost = 0.25
    bot = chatting.bot()
    message = user(text_part("What is this?"), image_part(files.png()))
    openai_of(chatting.client).chat.completions.create(model=bot, messages=[message])
    assert chatting.client.get("/api/conversations").json()["items"] == []
    usage = chatting.client.get("/api/usage", params={"groupBy": ["bot", "conversation"]}).json()
    assert [(each["botId"], each["conversationId"], each["costUsd"]) for each in usage["groups"]] == [(bot, None, 0.25)]
    assert chatting.client.delete(f"/api/bots/{bot}").status_code == 204

    async def gone() -> None:
        while chatting.client.get("/api/usage").json()["storage"]["bytes"]:
            await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(gone(), timeout=10))


def test_pictures_files_and_recordings_reach_the_model(chatting: Chatting) -> None:
    pdf, sound = files.pdf(), files.wav()
    openai_of(chatting.client).chat.completions.create(
        model=chatting.bot(),
        messages=[
            user(
                text_part("What are these?"),
                image_part(files.png()),
                file_part("report.pdf", pdf),
                file_part("notes.txt", b"The hut is red.", "text/plain"),
                audio_part(sound),
            )
        ],
    )
    question, image, document, note, audio = chatting.last_question
    assert question == {"type": "text", "text": "What are these?"}
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    assert base64.b64decode(document["file"]["file_data"].partition(",")[2]) == pdf
    assert document["file"]["filename"] == "report.pdf"
    assert note["text"].endswith("The hut is red.")
    assert base64.b64decode(audio["input_audio"]["data"]) == sound


def test_files_of_earlier_messages_go_along_once_while_they_fit(chatting: Chatting) -> None:
    picture, other = files.png(), files.jpeg(size=(60, 20))
    ask = openai_of(chatting.client).chat.completions.create
    past = [user(text_part("One?"), image_part(picture)), said("One."), user(text_part("Two?"), image_part(other))]
    ask(model=chatting.bot(), messages=[*past, said("Two."), user(text_part("Three?"), image_part(picture))])
    first, _, second, _, third = [each["content"] for each in chatting.last_call["messages"]]
    assert "not sent again: image-3.png" in str(first)
    assert "data:image" not in str(first)
    assert [part["type"] for part in second] == [part["type"] for part in third] == ["text", "image_url"]
    many = [each for n in range(25) for each in (user(image_part(files.png(size=(20, 20 + n)))), said("Yes."))]
    ask(model=chatting.bot(), messages=[*many, user("And?")])
    parts = [part for each in chatting.last_call["messages"] if each["role"] == "user" for part in as_parts(each)]
    assert sum(part["type"] == "image_url" for part in parts) == 20


def as_parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def test_an_answer_streams_with_its_usage_at_the_end(chatting: Chatting) -> None:
    chatting.provider.answer = "It leaves at nine, from pier four."
    *chunks, last = openai_of(chatting.client).chat.completions.create(
        model=chatting.bot(), messages=[user("When?")], stream=True, stream_options={"include_usage": True}
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == chatting.provider.answer
    assert len({chunk.id for chunk in [*chunks, last]}) == 1
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert all(chunk.usage is None for chunk in chunks)
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens == 7


async def test_many_chat_at_once(chatting: Chatting) -> None:
    chatting.provider.answer = lambda body: body["messages"][-1]["content"][0]["text"][::-1]
    bot = await asyncio.to_thread(chatting.bot)
    async with async_openai_of(chatting.client) as client:

        async def ask(number: int) -> str:
            message = user(text_part(f"question {number:02}"), image_part(files.png(size=(20, 20 + number))))
            if number % 2:
                answer = await client.chat.completions.create(model=bot, messages=[message])
                return answer.choices[0].message.content or ""
            stream = await client.chat.completions.create(model=bot, messages=[message], stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

        answers = await asyncio.gather(*(ask(number) for number in range(20)))
    assert answers == [f"question {number:02}"[::-1] for number in range(20)]


def test_langchain_s_chat_model_works(chatting: Chatting) -> None:
    chatting.provider.answer = "At nine."
    bot = chatting.bot()
    model = langchain_of(chatting.client, bot, stream_usage=True)
    answer = model.invoke([SystemMessage("Be brief."), HumanMessage("When?")])
    assert (answer.content, answer.response_metadata["finish_reason"]) == ("At nine.", "stop")
    whole = None
    for chunk in model.stream("When?"):
        whole = chunk if whole is None else whole + chunk
    assert whole is not None
    assert whole.content == "At nine."
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["output_tokens"] == 2
    encoded = base64.b64encode(files.png()).decode()
    block = {"type": "image", "base64": encoded, "mime_type": "image/png"}
    model.invoke([HumanMessage(content=[text_part("What is this?"), block])])
    assert [part["type"] for part in chatting.last_question] == ["text", "image_url"]


async def test_a_client_that_leaves_stops_its_answer(chatting: Chatting) -> None:
    bot = await asyncio.to_thread(chatting.bot)
    async with async_openai_of(chatting.client) as client:
        for stream in (True, False):
            chatting.provider.next_chat(Pause(1))
            asking = client.chat.completions.create(model=bot, messages=[user("Why?")], stream=stream)
            waiting = asyncio.create_task(_begin(asking, stream))
            assert await asyncio.to_thread(chatting.provider.wait_for_streams, 1)
            waiting.cancel()
            await asyncio.wait([waiting])
            assert await asyncio.to_thread(chatting.provider.wait_for_streams, 0, timeout=2.0)


async def _begin(asking: Any, stream: bool) -> None:
    answer = await asking
    if stream:
        async with answer:
            async for _ in answer:
                pass


def test_a_repeated_request_with_one_key_is_answered_once(chatting: Chatting) -> None:
    client, bot = openai_of(chatting.client), chatting.bot()
    headers = {"Idempotency-Key": "one"}
    first, second = (
        client.chat.completions.create(model=bot, messages=[user("Why?")], extra_headers=headers) for _ in range(2)
    )
    assert first.id == second.id
    assert len(chatting.provider.chats) == 1
    with pytest.raises(openai.ConflictError):
        client.chat.completions.create(model=bot, messages=[user("Else?")], extra_headers=headers)
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model=bot, messages=[user("Why?")], extra_headers=headers, stream=True)


def test_every_route_answers_as_it_is_described(chatting: Chatting) -> None:
    client = chatting.client
    described = Description(client, "/v1/")
    bot = chatting.bot()
    body = {"model": bot, "messages": [user("Why?")]}
    assert client.get("/v1/models").status_code == client.get(f"/v1/models/{bot}").status_code == 200
    assert client.post("/v1/chat/completions", json=body).status_code == 200
    assert client.post("/v1/chat/completions", json={**body, "stream": True}).status_code == 200
    assert client.post("/v1/chat/completions", json={"model": bot}).status_code == 400
    assert client.get(f"/v1/models/{NOWHERE}").status_code == 404
    assert client.get("/v1/models", headers={"Authorization": ""}).status_code == 401
    assert described.operations() == described.called
    client.event_hooks["response"].clear()
