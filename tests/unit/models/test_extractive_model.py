"""`local/extractive` as LangChain and the graphs see it."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage, SystemMessage

from tributary.domain.errors import DependencyUnavailable
from tributary.models.chat import NAME_KEY
from tributary.models.invoke import name_of
from tributary.models.local.extractive.model import ExtractiveChatModel, cut_at, pieces
from tributary.models.local.extractive.reply import NOTHING_FOUND, NOTICE
from tributary.models.protocols import Vectors
from tributary.models.tokens import estimate_message_tokens, estimate_tokens

CONTEXT = """---KNOWLEDGE BASE CONTEXT---
[1] Source: HR (handbook.pdf) | Relevance: 85%
Employees get 25 days of paid leave each year. The office in Oslo closes at six.

[2] Source: HR (benefits.pdf) | Relevance: 60%
The dental plan pays up to $500 a year for braces.
---END KNOWLEDGE BASE CONTEXT---"""


class TopicEmbedder:
    """Texts about the same listed topic have the same vector, all others their own."""

    name = "test/topics"
    dimension = 64
    max_tokens = 512

    def __init__(self, *topics: frozenset[str]) -> None:
        self._topics = topics
        self.embedded: list[str] = []
        self.threads: set[int] = set()

    def _vector(self, text: str) -> Vectors:
        words = frozenset(text.casefold().replace("?", " ").replace(".", " ").split())
        number = next((number for number, topic in enumerate(self._topics) if words & topic), 32 + len(text) % 32)
        vector = np.zeros(self.dimension, np.float32)
        vector[number] = 1.0
        return vector

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.threads.add(threading.get_ident())
        self.embedded += texts
        return np.stack([self._vector(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        return self._vector(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def similarity(self, cosine: Vectors) -> Vectors:
        return np.clip(cosine, 0.001, 0.99)


class BrokenEmbedder(TopicEmbedder):
    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise DependencyUnavailable("no weights")


def messages(question: str) -> list[BaseMessage]:
    return [SystemMessage(CONTEXT), HumanMessage(question)]


LEAVE = messages("How many days of paid leave do employees get?")


async def test_a_call_answers_with_usage_and_facts() -> None:
    message = await ExtractiveChatModel().ainvoke(LEAVE)
    assert str(message.content).startswith("Employees get 25 days of paid leave each year. [1]")
    assert str(message.content).endswith(NOTICE)
    read, written = estimate_message_tokens(LEAVE), estimate_tokens(str(message.content))
    assert message.usage_metadata == {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    assert message.response_metadata["model_name"] == "local/extractive"
    assert message.response_metadata["finish_reason"] == "stop"


async def test_the_stream_joined_is_the_answer_of_the_call() -> None:
    model = ExtractiveChatModel()
    whole = await model.ainvoke(LEAVE)
    chunks = [chunk async for chunk in model.astream(LEAVE)]
    assert len(chunks) > 3
    assert "".join(str(chunk.content) for chunk in chunks) == whole.content
    assert [bool(chunk.usage_metadata) for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert [chunk.chunk_position for chunk in chunks if isinstance(chunk, AIMessageChunk)][-1] == "last"
    merged = sum(chunks[1:], chunks[0])
    assert merged.usage_metadata == whole.usage_metadata
    assert merged.response_metadata["finish_reason"] == "stop"


def test_the_synchronous_calls_answer_alike() -> None:
    model = ExtractiveChatModel(embedder=TopicEmbedder())
    whole = model.invoke(LEAVE)
    assert "".join(str(chunk.content) for chunk in model.stream(LEAVE)) == whole.content


async def test_a_synchronous_call_within_a_running_loop_still_answers() -> None:
    embedder = TopicEmbedder(frozenset({"holiday", "leave"}))
    model = ExtractiveChatModel(embedder=embedder)
    message = model.invoke(messages("How long is my holiday?"))
    assert "25 days" in str(message.content)
    assert embedder.threads.isdisjoint({threading.get_ident()})


async def test_a_batch_answers_each_question() -> None:
    replies = await ExtractiveChatModel().abatch([LEAVE, messages("What does the dental plan pay for braces?")])
    assert "25 days" in str(replies[0].content)
    assert "$500" in str(replies[1].content)


async def test_a_stop_sequence_ends_the_answer() -> None:
    message = await ExtractiveChatModel().ainvoke(LEAVE, stop=[" of paid"])
    assert message.content == "Employees get 25 days"
    assert cut_at("abcabc", ["c", "b"]) == "a"
    assert cut_at("abc", [""]) == "abc"


async def test_meaning_finds_what_shares_no_word_with_the_question() -> None:
    question = messages("Сколько длится отпуск сотрудников?")
    alone = await ExtractiveChatModel().ainvoke(question)
    assert str(alone.content).startswith(NOTHING_FOUND)
    embedder = TopicEmbedder(frozenset({"отпуск", "leave"}))
    message = await ExtractiveChatModel(embedder=embedder).ainvoke(question)
    assert str(message.content).startswith("Employees get 25 days of paid leave each year. [1]")


async def test_words_without_meaning_do_not_support_an_answer() -> None:
    model = ExtractiveChatModel(embedder=TopicEmbedder())
    message = await model.ainvoke(messages("Can office chairs be painted at noon?"))
    assert str(message.content).startswith(NOTHING_FOUND)


async def test_nothing_is_embedded_where_words_are_certain() -> None:
    embedder = TopicEmbedder()
    await ExtractiveChatModel(embedder=embedder).ainvoke(LEAVE)
    assert embedder.embedded == []


async def test_words_alone_answer_while_the_embedder_is_down(caplog: pytest.LogCaptureFixture) -> None:
    model = ExtractiveChatModel(embedder=BrokenEmbedder())
    message = await model.ainvoke(messages("Which dental costs does the plan cover for children?"))
    assert str(message.content).endswith(NOTICE)
    assert "DependencyUnavailable" in caplog.text


async def test_the_event_loop_runs_on_while_a_long_prompt_is_read() -> None:
    text = "The harbour pilot guides ships of every size past the northern reef. " * 6_000
    asked = [SystemMessage(CONTEXT.replace("The office", text)), HumanMessage("Who guides ships past the reef?")]
    answering = asyncio.create_task(ExtractiveChatModel().ainvoke(asked))
    turns = 0
    while not answering.done():
        await asyncio.sleep(0)
        turns += 1
    assert "pilot" in str((await answering).content)
    assert turns > 100


def test_the_model_is_known_by_its_registry_name() -> None:
    model: BaseChatModel = ExtractiveChatModel()
    assert name_of(model) == "local/extractive"
    assert (model.metadata or {})[NAME_KEY] == "local/extractive"
    assert model._llm_type == "tributary-extractive"


@pytest.mark.parametrize("text", ["", "   a", "One two. [1]\n\n— end", "漢字" * 100, "x" * 1_000, "\0\n\r\t  y"])
def test_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text
    assert all(len(piece) <= 60 for piece in pieces(text))
