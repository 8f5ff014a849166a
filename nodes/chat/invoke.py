"""The one model call of a turn."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Protocol
from uuid import UUID

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from nodes.chat.answering import NO_USAGE, AnswerWriter, write_answer
from nodes.chat.budget import answer_tokens, tokens_for_past, too_large
from nodes.chat.capability import CapabilityLookup, capabilities_of
from nodes.chat.citations import CitationFilter
from nodes.chat.delivery import not_sent, taken_bytes
from nodes.chat.history import HISTORY_MESSAGES, Budget, Past, earlier_file_note, plan_past
from nodes.chat.loading import Pictures, load_files
from nodes.chat.messages import Block, build_messages, file_block, has_content, history_messages, human_parts
from nodes.chat.prompt import system_text
from nodes.chat.state import CallerOf, ChatState, Context, Delivery
from stores.protocols.blobs import BlobStore
from stores.protocols.conversations import TurnStore
from tributary.domain.conversations import Message, MessageStatus
from tributary.domain.errors import MessageTooLarge
from tributary.models.catalogue import Capabilities
from tributary.models.content import text_block
from tributary.models.invoke import Piece


class ChatModel(CapabilityLookup, Protocol):
    """Chat models by name. Failures are `ProviderError` and `ProviderTimeout`; what can be tried again before the
    first piece has been, has been tried again."""

    def stream(
        self, model: str, messages: Sequence[BaseMessage], *, max_output: int | None = None
    ) -> AsyncGenerator[Piece, None]:
        """One call, its answer limited to `max_output` tokens. Leave it by exhausting it or through `aclosing`."""
        ...

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
    conversations: TurnStore,
    blobs: BlobStore,
    pictures: Pictures,
    models: ChatModel,
    stops: StopSignals,
) -> ChatState:
    """Loads bytes and history, builds the messages, and streams the answer with its citations made sound. A message
    that does not fit and a provider that fails are values: `error`, beside what was said until then."""
    turn = state["turn"]
    if not has_content(state["message"], state["deliveries"]):
        return _answered_without_call(runtime, state["deliveries"])
    capabilities, loaded, history = await asyncio.gather(
        capabilities_of(turn, models),
        load_files(state["deliveries"], blobs=blobs, pictures=pictures),
        _history(state, runtime, caller, conversations),
    )
    deliveries = loaded.judged(state["deliveries"])
    if not has_content(state["message"], deliveries):
        return _answered_without_call(runtime, deliveries)
    system = system_text(turn["prompt"], state["context"])
    parts = human_parts(state["message"], deliveries, loaded.contents)
    try:
        past = _plan(state, system, parts, deliveries, history, capabilities, models)
    except MessageTooLarge as error:
        return {**_refused(error), "notSent": not_sent(deliveries)}
    messages = build_messages(system, await _past_messages(past, blobs, pictures), parts)
    return {**await _answer(state, runtime, messages, deliveries, models, stops), "notSent": not_sent(deliveries)}


async def _answer(
    state: ChatState,
    runtime: Runtime[Context],
    messages: Sequence[BaseMessage],
    deliveries: Sequence[Delivery],
    models: ChatModel,
    stops: StopSignals,
) -> ChatState:
    turn = state["turn"]
    pieces = models.stream(turn["model"], messages, max_output=turn["saidOfModel"]["maxOutput"])
    return await write_answer(
        _naming_files(pieces, deliveries),
        stops.wait(UUID(turn["conversationId"])),
        AnswerWriter(runtime, CitationFilter(len(state["sources"]))),
        model=turn["model"],
        messages=messages,
    )


def _answered_without_call(runtime: Runtime[Context], deliveries: Sequence[Delivery]) -> ChatState:
    answer = "\n".join(part["text"] for part in human_parts("", deliveries, {}))
    runtime.stream_writer({"type": "token", "text": answer})
    return {
        "answer": answer,
        "status": MessageStatus.COMPLETE.value,
        "usage": NO_USAGE,
        "finishReason": "stop",
        "notSent": not_sent(deliveries),
    }


def _refused(error: MessageTooLarge) -> ChatState:
    return {
        "answer": "",
        "status": MessageStatus.FAILED.value,
        "usage": NO_USAGE,
        "finishReason": "error",
        "error": error.problem(),
    }


async def _history(
    state: ChatState, runtime: Runtime[Context], caller: CallerOf, conversations: TurnStore
) -> Sequence[Message]:
    turn = state["turn"]
    if turn["opening"]:
        return ()
    return await conversations.recent(
        caller(runtime),
        UUID(turn["conversationId"]),
        limit=HISTORY_MESSAGES,
        before=UUID(turn["questionId"]),
    )


def _plan(
    state: ChatState,
    system: str,
    parts: Sequence[Block],
    deliveries: Sequence[Delivery],
    history: Sequence[Message],
    capabilities: Capabilities,
    models: ChatModel,
) -> Past:
    """What of the past goes along. Raises `MessageTooLarge`."""
    turn = state["turn"]
    window = capabilities.context_tokens - answer_tokens(capabilities, turn["saidOfModel"]["maxOutput"])
    tokens = tokens_for_past(system, parts, deliveries, window=window, count_tokens=models.count_tokens)
    return plan_past(
        history,
        Budget(tokens, taken_bytes(deliveries)),
        capabilities=capabilities,
        count_tokens=models.count_tokens,
        shrink=turn["shrinkImages"],
        present={file["id"] for file in state["files"]},
    )


async def _past_messages(past: Past, blobs: BlobStore, pictures: Pictures) -> list[BaseMessage]:
    """History with the files of earlier questions, or a note in their place."""
    loaded = await load_files(list(past.replayed.values()), blobs=blobs, pictures=pictures)

    def part(message: Message, attached: dict[str, str]) -> Block:
        delivery = past.replayed.get((str(message.id), attached["id"]))
        content = loaded.contents.get(attached["id"]) if delivery else None
        if delivery is None or content is None:
            return dict(text_block(earlier_file_note(attached["filename"])))
        return file_block(delivery["file"], content)

    return history_messages(
        [(message, [part(message, attached) for attached in message.attachments]) for message in past.messages]
    )


async def _naming_files(
    pieces: AsyncGenerator[Piece, None], deliveries: Sequence[Delivery]
) -> AsyncGenerator[Piece, None]:
    """The pieces; a message that the provider finds too large is refused with the names of its files."""
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except MessageTooLarge as error:
        raise too_large(error.detail, deliveries) from error
