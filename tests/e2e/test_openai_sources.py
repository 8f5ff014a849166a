"""Answers of the built-in model over the OpenAI-compatible routes: their sources, and the search behind them."""

import base64
from typing import Any

import httpx
import pytest

from tests.support import files
from tests.support.documents import wait_until_ready
from tests.support.openai_clients import image_part, langchain_of, openai_of, said, text_part, user

TEXTS = {
    "ferries.md": b"# Ferries\n\nThe ferry to Sylt leaves at nine from pier four.",
    "cranes.md": b"# Cranes\n\nThe crane in hall seven is painted green.",
}


@pytest.fixture
def bot(client: httpx.Client) -> str:
    base = client.post("/knowledge/kb", json={"name": "Harbour"}).json()["id"]
    sent = [("files", (name, text, "")) for name, text in TEXTS.items()]
    for each in client.post(f"/knowledge/kb/{base}/documents", files=sent).json()["documents"]:
        wait_until_ready(client, base, each["id"])
    made = client.post("/api/bots", json={"name": "b", "knowledgeBaseIds": [base]})
    return str(made.json()["id"])


def test_marks_are_annotated_with_the_passages_they_stand_for(client: httpx.Client, bot: str) -> None:
    ask = openai_of(client).chat.completions.create
    question = user("When does the ferry to Sylt leave?")
    answer: Any = ask(model=bot, messages=[question])
    message = answer.choices[0].message
    cited = {f"[{source['number']}]": source for source in answer.sources if source["cited"]}
    assert [source["filename"] for source in cited.values()] == ["ferries.md"]
    assert message.annotations
    for annotation in message.annotations:
        mark = annotation.url_citation
        source = cited[message.content[mark.start_index : mark.end_index]]
        assert mark.title == source["source"] == "Harbour (ferries.md)"
        assert "leaves at nine" in client.get(mark.url).json()["text"]
    *chunks, last = list(ask(model=bot, messages=[question], stream=True))
    streamed: Any = last
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == message.content
    assert streamed.choices[0].delta.annotations == [each.model_dump() for each in message.annotations]
    assert streamed.sources == answer.sources
    assert answer.degraded == answer.notSent == []


def test_the_search_remembers_the_messages_before_the_question(client: httpx.Client, bot: str) -> None:
    for subject, found in (("the crane in hall seven", "cranes.md"), ("the ferry to Sylt", "ferries.md")):
        past = [user(f"Tell me about {subject}."), said(f"Gladly: what about {subject}?")]
        answer: Any = openai_of(client).chat.completions.create(model=bot, messages=[*past, user("Where is it?")])
        assert answer.sources[0]["filename"] == found


def test_a_file_of_the_message_is_read(client: httpx.Client, bot: str) -> None:
    text = b"The hut on the island is painted red."
    note = {"type": "file", "file": {"filename": "note.txt", "file_data": base64.b64encode(text).decode()}}
    answer = openai_of(client).chat.completions.create(
        model=bot, messages=[user(text_part("Which colour is the hut on the island painted?"), note)]
    )
    assert "painted red" in (answer.choices[0].message.content or "")


def test_langchain_s_chat_model_answers_from_the_knowledge_base(client: httpx.Client, bot: str) -> None:
    model = langchain_of(client, bot)
    assert "[1]" in model.invoke("When does the ferry to Sylt leave?").text
    assert "[1]" in "".join(chunk.text for chunk in model.stream("When does the ferry to Sylt leave?"))


def test_a_picture_that_the_model_can_not_see_is_said_so(client: httpx.Client, bot: str) -> None:
    answer: Any = openai_of(client).chat.completions.create(
        model=bot, messages=[user(text_part("When does the ferry to Sylt leave?"), image_part(files.png()))]
    )
    assert [each["reason"] for each in answer.notSent] == ["unsupported"]
    assert "nine" in answer.choices[0].message.content
