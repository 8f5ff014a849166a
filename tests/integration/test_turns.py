"""Turns from their request to their stored answer, on PostgreSQL with its checkpointer."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from graphs.chat import build_chat_graph
from nodes.chat.state import Context
from stores.protocols.conversations import ConversationStore
from tests.support.chat_worlds import TOKEN, ChatWorld, claim, open_chat_world
from tests.support.turning import Bench, ScriptedModel
from tributary.domain.attachments import FileType
from tributary.domain.errors import DependencyUnavailable, ProviderError
from tributary.domain.ids import new_id
from tributary.models.catalogue import Capabilities

CHECKPOINTS = """
SELECT coalesce(sum(size), 0)::bigint FROM (
    SELECT pg_column_size(c.*) AS size FROM checkpoints c
    UNION ALL SELECT pg_column_size(b.*) FROM checkpoint_blobs b
    UNION ALL SELECT pg_column_size(w.*) FROM checkpoint_writes w
) AS everything
"""


@pytest.fixture
async def world(dsn: str) -> AsyncIterator[ChatWorld]:
    async with open_chat_world(dsn) as world:
        yield world


def rows(dsn: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(query).fetchall()


async def test_a_turn_stores_its_question_its_answer_and_its_trace(world: ChatWorld) -> None:
    bench = Bench(world)
    bot = await world.bot()
    turn = await bench.ask(bot.id)
    assert turn.response is not None
    question, answer = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert (question.content, answer.content, answer.parent_id) == ("Why?", "An answer.", question.id)
    assert str(answer.id) == turn.response["messageId"]
    trace = await world.conversations.trace(world.acme, answer.id)
    assert {node["node"] for node in trace["nodes"]} >= {"validate_attachments", "invoke_model", "record_answer"}


async def test_no_access_token_reaches_a_checkpoint(world: ChatWorld, dsn: str) -> None:
    bench = Bench(world)
    bot, attachment = await world.bot(), await world.attachment()
    turn = await bench.ask(bot.id, attachments=[claim(attachment)])
    assert turn.response is not None
    assert len(rows(dsn, "SELECT 1 FROM checkpoints")) > 0
    for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
        assert rows(dsn, f"SELECT 1 FROM {table} AS t WHERE position('{TOKEN}' IN t::text) > 0") == []
        hexed = TOKEN.encode().hex()
        assert rows(dsn, f"SELECT 1 FROM {table} AS t WHERE position('{hexed}' IN t::text) > 0") == []


async def test_what_a_turn_checkpoints_does_not_grow_with_the_conversation(world: ChatWorld, dsn: str) -> None:
    bench = Bench(world)
    bot = await world.bot()
    conversation: str | None = None
    sizes = []
    for number in range(24):
        attachment = await world.attachment()
        turn = await bench.ask(
            bot.id, f"question {number:03}", conversation_id=conversation, attachments=[claim(attachment)]
        )
        assert turn.response is not None
        conversation = turn.response["conversationId"]
        sizes.append(rows(dsn, CHECKPOINTS)[0][0])
    growth = [after - before for before, after in pairwise(sizes)]
    assert max(growth[-3:]) <= 1.1 * max(growth[:3])


async def test_a_turn_of_the_same_conversation_waits_for_the_one_before(world: ChatWorld) -> None:
    gate = asyncio.Event()
    bench = Bench(world, ScriptedModel(("first", gate)))
    bot = await world.bot()
    first = bench.start(bot.id, "one")
    await bench.model.reached.wait()
    second = bench.start(bot.id, "two", conversation_id=str(first.conversation_id))
    gate.set()
    await asyncio.gather(first.wait(), second.wait())
    history = await world.conversations.messages(world.acme, first.conversation_id, after=None, limit=9)
    assert [message.content for message in history] == ["one", "first", "two", "first"]
    assert [type(message).__name__ for message in bench.model.calls[1]] == ["HumanMessage", "AIMessage", "HumanMessage"]


async def test_a_stop_keeps_what_was_written_and_ends_the_turn(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel(("Half an", asyncio.Event())))
    bot = await world.bot()
    turn = bench.start(bot.id)
    await bench.model.reached.wait()
    await bench.turns.stop(world.acme, turn.conversation_id)
    await turn.wait()
    assert turn.response is not None
    assert (turn.response["message"], turn.response["status"]) == ("Half an", "stopped")


async def test_a_stop_before_the_first_word_leaves_no_empty_answer(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel((asyncio.Event(),)))
    bot = await world.bot()
    turn = bench.start(bot.id)
    await bench.model.reached.wait()
    await bench.turns.stop(world.acme, turn.conversation_id)
    await turn.wait()
    [question] = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert question.status.value == "stopped"


async def test_a_provider_that_fails_at_once_leaves_a_failed_question_and_no_answer(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel((ProviderError("overloaded", transient=True),)))
    bot = await world.bot()
    turn = await bench.ask(bot.id)
    assert turn.problem is not None
    assert (turn.problem["code"], turn.answering) == ("provider_error", False)
    [question] = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert (question.status.value, question.details["problem"]["code"]) == ("failed", "provider_error")


async def test_what_was_said_before_a_failure_is_kept_as_a_part_and_never_shown_to_a_model(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel(("Half", ProviderError("overloaded", transient=True))))
    bot = await world.bot()
    turn = await bench.ask(bot.id)
    assert turn.problem is not None
    assert (turn.problem["code"], turn.answering, turn.response) == ("provider_error", True, None)
    question, part = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert (question.status.value, question.details["problem"]["code"]) == ("failed", "provider_error")
    assert (part.content, part.status.value, part.details["problem"]["code"]) == ("Half", "failed", "provider_error")
    assert part.usage is not None
    assert part.usage["outputTokens"] > 0
    assert (await world.conversations.trace(world.acme, part.id))["nodes"][-1]["node"] == "record_answer"
    states = [event["data"] async for event in turn.events() if event["event"] == "status"]
    assert {"node": "invoke_model", "state": "failed"} in states

    bench.model.pieces = ("Better.",)
    again = await bench.ask(bot.id, "again", conversation_id=str(turn.conversation_id))
    assert again.response is not None
    assert [type(message).__name__ for message in bench.model.calls[-1]] == ["HumanMessage"]
    retried = await bench.ask(
        bot.id, "Why?", conversation_id=str(turn.conversation_id), replace_message_id=str(question.id)
    )
    assert retried.response is not None
    history = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert [message.content for message in history] == ["Why?", "Better."]


async def test_a_bug_is_an_internal_error_and_leaves_the_question_interrupted(
    world: ChatWorld, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench(world, ScriptedModel((KeyError("bug"),)))
    bot = await world.bot()
    turn = await bench.ask(bot.id)
    assert turn.problem is not None
    assert (turn.problem["code"], turn.problem["status"]) == ("internal_error", 500)
    assert "KeyError" in caplog.text
    [question] = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert question.status.value == "interrupted"


async def test_a_shutdown_interrupts_what_does_not_finish_in_time(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel((asyncio.Event(),)))
    bot = await world.bot()
    turn = bench.start(bot.id)
    await bench.model.reached.wait()
    await bench.turns.drain(0.05)
    assert turn.problem is not None
    assert turn.problem["code"] == "interrupted"
    [question] = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert question.status.value == "interrupted"


async def test_a_shutdown_in_the_middle_of_an_answer_keeps_what_was_said(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel(("Half an", asyncio.Event())))
    bot = await world.bot()
    turn = bench.start(bot.id)
    await bench.model.reached.wait()
    await bench.turns.drain(0.05)
    question, part = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert (question.status.value, question.details["problem"]["code"]) == ("interrupted", "interrupted")
    assert (part.content, part.status.value, part.parent_id) == ("Half an", "interrupted", question.id)
    assert list(await world.conversations.recent(world.acme, turn.conversation_id, limit=9)) == []


async def test_a_file_whose_bytes_are_gone_is_told_and_the_turn_goes_on(world: ChatWorld) -> None:
    bench = Bench(world)
    bot, attachment = await world.bot(), await world.attachment(filename="gone.txt")
    turn = await bench.ask(bot.id, attachments=[claim(attachment)])
    assert turn.response is not None
    assert [(file["filename"], file["reason"]) for file in turn.response["notSent"]] == [("gone.txt", "missing")]
    assert "[File no longer available: gone.txt]" in str(bench.model.calls[0][-1].content)


async def test_a_message_that_can_not_fit_names_its_files(world: ChatWorld) -> None:
    small = Capabilities(images=False, pdfs=False, audio=False, context_tokens=100)
    bench = Bench(world, ScriptedModel(takes=small))
    attachment = await world.attachment(filename="long.txt")
    bench.blobs._blobs[attachment.storage_key] = b"word " * 1000
    bot = await world.bot()
    turn = await bench.ask(bot.id, attachments=[claim(attachment)])
    assert turn.problem is not None
    assert (turn.problem["status"], turn.problem["code"]) == (413, "message_too_large")
    assert "long.txt" in turn.problem["detail"]
    assert [each["filename"] for each in turn.problem["files"]] == ["long.txt"]
    [question] = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert (question.status.value, question.details["problem"]["status"]) == ("failed", 413)


async def test_without_text_and_without_a_file_that_is_left_no_model_is_asked(world: ChatWorld) -> None:
    nothing = Capabilities(images=False, pdfs=False, audio=False, context_tokens=10_000)
    bench = Bench(world, ScriptedModel(takes=nothing))
    attachment = await world.attachment(filename="a.png", file_type=FileType.PNG)
    bot = await world.bot()
    turn = await bench.ask(bot.id, "", attachments=[claim(attachment)])
    assert turn.response is not None
    assert turn.response["message"] == "This model does not support files: a.png"
    assert bench.model.calls == []
    assert turn.response["usage"] == {"inputTokens": 0, "outputTokens": 0, "totalTokens": 0}


async def test_made_up_citations_reach_neither_the_stream_nor_the_history(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel(("As said [", "7", "] before", ".")))
    bot = await world.bot()
    turn = await bench.ask(bot.id)
    tokens = [event["data"]["text"] async for event in turn.events() if event["event"] == "token"]
    assert "".join(tokens) == "As said before."
    assert turn.response is not None
    assert turn.response["message"] == "As said before."


async def test_deleting_a_conversation_leaves_no_checkpoint(world: ChatWorld, dsn: str) -> None:
    bench = Bench(world)
    bot = await world.bot()
    turn = await bench.ask(bot.id)
    assert rows(dsn, CHECKPOINTS)[0][0] > 0
    await world.conversations.delete(world.acme, turn.conversation_id)
    assert rows(dsn, CHECKPOINTS) == [(0,)]


async def test_a_refused_turn_leaves_no_checkpoint_of_a_conversation_that_is_not_there(
    world: ChatWorld, dsn: str
) -> None:
    bench = Bench(world)
    bot = await world.bot()
    for refused in (await bench.ask(bot.id, conversation_id=str(new_id())), await bench.ask(new_id())):
        assert refused.problem is not None
        assert refused.problem["status"] == 404
    assert rows(dsn, CHECKPOINTS) == [(0,)]


async def test_a_refused_turn_takes_nothing_from_its_conversation(world: ChatWorld, dsn: str) -> None:
    bench = Bench(world)
    bot = await world.bot()
    turn = await bench.ask(bot.id)
    attachment = await world.attachment()
    refused = await bench.ask(
        bot.id, conversation_id=str(turn.conversation_id), attachments=[{"id": str(attachment.id), "accessToken": "x"}]
    )
    assert refused.problem is not None
    assert rows(dsn, CHECKPOINTS)[0][0] > 0


async def test_a_turn_that_fails_gives_out_nothing_of_the_one_before(world: ChatWorld) -> None:
    bench = Bench(world)
    bot = await world.bot()
    graph: Any = build_chat_graph(bench.ports).compile(checkpointer=world.checkpoints.saver())
    context = Context(organisation_id=str(world.acme), conversation_id=str(new_id()))
    config = {"configurable": {"thread_id": f"{world.acme}:{context.conversation_id}"}}
    asked = {"message": "Why?", "botId": str(bot.id)}
    first = await graph.ainvoke(asked, config, context=context)
    assert (first["response"]["message"], first["error"]) == ("An answer.", None)

    follow_up = asked | {"conversationId": first["response"]["conversationId"]}
    bench.model.pieces = ("Half", ProviderError("overloaded"))
    failed = await graph.ainvoke(follow_up, config, context=context)
    assert (failed["response"], failed["error"]["code"]) == (None, "provider_error")
    refused = await graph.ainvoke(follow_up | {"message": " "}, config, context=context)
    assert (refused["response"], refused["error"]["code"]) == (None, "invalid_request")
    bench.model.pieces = ("Better.",)
    again = await graph.ainvoke(follow_up, config, context=context)
    assert (again["response"]["message"], again["error"]) == ("Better.", None)


async def test_turns_of_different_conversations_run_side_by_side(world: ChatWorld) -> None:
    gate = asyncio.Event()
    bench = Bench(world, ScriptedModel(("x", gate)))
    bot = await world.bot()
    turns = [bench.start(bot.id, f"{n}") for n in range(5)]
    async with asyncio.timeout(20):
        while len(bench.model.calls) < 5:
            await asyncio.sleep(0.01)
    gate.set()
    await asyncio.gather(*(turn.wait() for turn in turns))
    assert all(turn.response for turn in turns)


async def test_what_other_models_say_within_a_turn_is_no_part_of_its_answer(world: ChatWorld) -> None:
    class Helped(ScriptedModel):
        """Asks another model before it says what this one can do."""

        async def capabilities(self, model: str) -> Capabilities:
            helper = GenericFakeChatModel(messages=iter([AIMessage("a thought of a helper")]))
            async for _ in helper.astream("What can it do?"):
                pass
            return self.takes

    bench = Bench(world, Helped())
    turn = await bench.ask((await world.bot()).id)
    assert turn.response is not None
    assert turn.response["message"] == "An answer."
    assert turn.said == "An answer."
    told = [event async for event in turn.events()]
    assert not any("helper" in str(event) for event in told)


class LostAtTheEnd:
    """A store of conversations whose database goes away while an answer is written."""

    def __init__(self, store: ConversationStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name in ("finish_turn", "fail_turn"):
            raise DependencyUnavailable("the database is gone")
        return getattr(self._store, name)


async def test_a_database_that_goes_away_before_the_answer_is_stored_is_told_as_such(world: ChatWorld) -> None:
    store: Any = LostAtTheEnd(world.conversations)
    bench = Bench(replace(world, conversations=store))
    turn = await bench.ask((await world.bot()).id)
    assert turn.problem is not None
    assert (turn.problem["code"], turn.problem["status"]) == ("dependency_unavailable", 503)
    [question] = await world.conversations.messages(world.acme, turn.conversation_id, after=None, limit=9)
    assert question.status.value == "running"
    assert await world.conversations.interrupt_orphans(world.acme) == 1
