"""Streaming an answer: its citations made sound on the way, and what became of it in the end."""

import logging
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import dataclass, field

from langchain_core.messages import BaseMessage
from langgraph.runtime import Runtime

from nodes.chat.citations import CitationFilter
from nodes.chat.state import ChatState, Context
from nodes.chat.stopping import until_stopped
from tributary.domain.conversations import MessageStatus, Usage
from tributary.domain.errors import TributaryError
from tributary.models.invoke import Delta, Piece
from tributary.models.metering import answer_usage
from tributary.models.tokens import estimate_message_tokens, estimate_tokens

logger = logging.getLogger(__name__)

#: Of an answer that nobody was asked for.
NO_USAGE = Usage(inputTokens=0, outputTokens=0, totalTokens=0)


@dataclass(slots=True)
class AnswerWriter:
    """Tells the stream what is certain of an answer, and keeps it."""

    runtime: Runtime[Context]
    reader: CitationFilter
    written: list[str] = field(default_factory=list)

    def take(self, text: str) -> None:
        self._tell(self.reader.feed(text))

    def finish(self) -> str:
        """The whole answer: joined, the tokens that the stream was told."""
        self._tell(self.reader.finish())
        return "".join(self.written)

    def _tell(self, text: str) -> None:
        if text:
            self.written.append(text)
            self.runtime.stream_writer({"type": "token", "text": text})


async def write_answer(
    pieces: AsyncIterator[Piece],
    stop: Awaitable[object],
    writer: AnswerWriter,
    *,
    model: str,
    messages: Sequence[BaseMessage],
) -> ChatState:
    """What the model says, to its end, to a stop, or to a failure, which is a value: the turn keeps what was said."""
    usage: Usage | None = None
    status, reason, ended = MessageStatus.STOPPED, "stopped", ChatState()
    try:
        async for piece in until_stopped(pieces, stop):
            if piece is None:
                break
            if isinstance(piece, Delta):
                writer.take(piece.text)
            else:
                usage, status, reason = piece.usage, MessageStatus.COMPLETE, piece.reason
    except TributaryError as error:
        logger.warning("the call of %s failed: %s", model, error.code)
        status, reason, ended = MessageStatus.FAILED, "error", ChatState(error=error.problem())
    answer = writer.finish()
    # Of all calls that were made for it: also those that were tried in vain are paid for.
    usage = answer_usage() or usage
    if usage is None:
        usage = _partial_usage(messages, answer) if answer else NO_USAGE
    writer.runtime.stream_writer({"type": "usage", "usage": usage})
    return {**ended, "answer": answer, "status": status.value, "usage": usage, "finishReason": reason}


def _partial_usage(messages: Sequence[BaseMessage], answer: str) -> Usage:
    """An estimate: providers count at the end of an answer, and this one was not heard to its end."""
    asked, said = estimate_message_tokens(messages), estimate_tokens(answer)
    return Usage(inputTokens=asked, outputTokens=said, totalTokens=asked + said)
