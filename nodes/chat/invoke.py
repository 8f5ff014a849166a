"""The one model call of a turn."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from nodes.chat.capability import CapabilityLookup
from nodes.chat.citations import CitationFilter
from nodes.chat.delivery import MISSING, not_sent
from nodes.chat.history import (
    ANSWER_TOKENS,
    HISTORY_MESSAGES,
    earlier_file_note,
    files_to_replay,
    trim_history,
)
from nodes.chat.messages import (
    Block,
    binary_block,
    build_messages,
    has_content,
    history_messages,
    human_parts,
    text_file_block,
)
from nodes.chat.prompt import system_text
from nodes.chat.state import CallerOf, ChatState, Context, Delivery
from nodes.chat.stopping import until_stopped
from stores.protocols.blobs import BlobStore
from stores.protocols.conversations import ConversationStore
from tributary.domain.attachments import AttachedFile, Modality
from tributary.domain.conversations import Message, MessageStatus, Usage
from tributary.domain.errors import MessageTooLarge, NotFound
from tributary.files.text import decode_text
from tributary.models.catalogue import Capabilities
from tributary.models.content import text_block
from tributary.models.invoke import Finish, Piece


class ChatModel(CapabilityLookup, Protocol):
    """Chat models by name. Failures are `ProviderError` and `ProviderTimeout`; what can be tried again before the
    first piece has been, has been tried again."""

    def stream(self, model: str, messages: Sequence[BaseMessage]) -> AsyncIterator[Piece]: ...

    def count_tokens(self, text: str) -> int: ...


class StopSignals(Protocol):
    """Explicit requests to end a running turn."""

    async def wait(self, conversation_id: UUID) -> None:
        """Returns when somebody asks for the running turn of this conversation to end."""
        ...


async def invoke_model(
    state: ChatState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    conversations: ConversationStore,
    blobs: BlobStore,
    models: ChatModel,
    stops: StopSignals,
) -> ChatState:
    """Loads bytes and history, builds the messages, and streams the answer with its citations made sound."""
    deliveries = state["deliveries"]
    if not has_content(state["message"], deliveries):
        return _answered_without_call(state, runtime)
    capabilities = await models.capabilities(state["turn"]["model"])
    loaded, history = await asyncio.gather(
        load_files([each["file"] for each in deliveries if not each["reason"]], blobs),
        _history(state, runtime, caller, conversations),
    )
    deliveries = _with_missing(deliveries, loaded)
    system = system_text(state["turn"]["prompt"], state["context"])
    parts = human_parts(state["message"], deliveries, loaded)
    budget = _history_budget(system, parts, state["files"], capabilities, models)
    past = await _past(
        trim_history(history, budget=budget, count_tokens=models.count_tokens), deliveries, capabilities, blobs
    )
    messages = build_messages(system, past, parts)
    answer = await _stream(state, runtime, messages, models, stops)
    return {**answer, "notSent": not_sent(deliveries)}


def _answered_without_call(state: ChatState, runtime: Runtime[Context]) -> ChatState:
    parts = human_parts("", state["deliveries"], {})
    answer = "\n".join(part["text"] for part in parts)
    runtime.stream_writer({"type": "token", "text": answer})
    return {
        "answer": answer,
        "status": MessageStatus.COMPLETE.value,
        "usage": Usage(inputTokens=0, outputTokens=0, totalTokens=0),
    }


async def load_files(files: Sequence[AttachedFile], blobs: BlobStore) -> Mapping[str, bytes | str | None]:
    """The files' contents by id: decoded text, bytes of others, None for what is gone."""

    async def load(file: AttachedFile) -> bytes | str | None:
        try:
            content = await blobs.get(file["storageKey"])
        except NotFound:
            return None
        return await asyncio.to_thread(decode_text, content) if file["modality"] == Modality.TEXT else content

    contents = await asyncio.gather(*(load(file) for file in files))
    return {file["id"]: content for file, content in zip(files, contents, strict=True)}


def _with_missing(deliveries: Sequence[Delivery], loaded: Mapping[str, bytes | str | None]) -> list[Delivery]:
    return [
        Delivery(file=each["file"], reason=MISSING)
        if not each["reason"] and loaded[each["file"]["id"]] is None
        else each
        for each in deliveries
    ]


async def _history(
    state: ChatState, runtime: Runtime[Context], caller: CallerOf, conversations: ConversationStore
) -> Sequence[Message]:
    turn = state["turn"]
    return await conversations.recent(
        caller(runtime),
        UUID(turn["conversationId"]),
        limit=HISTORY_MESSAGES,
        before=UUID(turn["questionId"]),
    )


def _history_budget(
    system: str, parts: Sequence[Block], files: Sequence[AttachedFile], capabilities: Capabilities, models: ChatModel
) -> int:
    """Tokens left for the past once the system message, the question and room for an answer are kept.

    Raises:
        MessageTooLarge: the question alone, with its inlined texts and the context, does not fit.
    """
    texts = [system, *(part["text"] for part in parts if part["type"] == "text")]
    needed = sum(models.count_tokens(text) for text in texts)
    answer = min(capabilities.max_output_tokens or ANSWER_TOKENS, ANSWER_TOKENS, capabilities.context_tokens // 4)
    left = capabilities.context_tokens - answer - needed
    if left < 0:
        names = ", ".join(file["filename"] for file in files if file["modality"] == Modality.TEXT)
        raise MessageTooLarge(
            f"The message needs about {needed} tokens and the model takes {capabilities.context_tokens - answer}"
            + (f"; leave out or shorten: {names}" if names else "")
        )
    return left


async def _past(
    history: Sequence[Message], deliveries: Sequence[Delivery], capabilities: Capabilities, blobs: BlobStore
) -> list[BaseMessage]:
    """History with the files of earlier questions: sent again within the budget, else a note in their place."""
    spent = sum(each["file"]["size"] for each in deliveries if not each["reason"])
    replay = files_to_replay(history, spent=spent, capabilities=capabilities)
    contents = await load_files(list(replay.values()), blobs) if replay else {}
    return history_messages(
        [(message, [_replayed(file, replay, contents) for file in message.attachments]) for message in history]
    )


def _replayed(
    file: dict[str, str], replay: Mapping[str, AttachedFile], contents: Mapping[str, bytes | str | None]
) -> Block:
    content = contents.get(file["id"])
    if content is None:
        return dict(text_block(earlier_file_note(file["filename"])))
    if isinstance(content, str):
        return text_file_block(replay[file["id"]], content)
    return binary_block(replay[file["id"]], content)


async def _stream(
    state: ChatState,
    runtime: Runtime[Context],
    messages: Sequence[BaseMessage],
    models: ChatModel,
    stops: StopSignals,
) -> ChatState:
    turn = state["turn"]
    reader = CitationFilter(len(state["sources"]))
    written: list[str] = []
    usage = Usage(inputTokens=0, outputTokens=0, totalTokens=0)

    def write(text: str) -> None:
        if text:
            written.append(text)
            runtime.stream_writer({"type": "token", "text": text})

    stopped = False
    async for piece in until_stopped(models.stream(turn["model"], messages), stops.wait(UUID(turn["conversationId"]))):
        if piece is None:
            stopped = True
            break
        if isinstance(piece, Finish):
            usage = piece.usage
        else:
            write(reader.feed(piece.text))
    write(reader.finish())
    runtime.stream_writer({"type": "usage", "usage": usage})
    status = MessageStatus.STOPPED if stopped else MessageStatus.COMPLETE
    return {"answer": "".join(written), "status": status.value, "usage": usage}
