"""Ports of the graphs for one organisation, where whoever runs them may edit their state between two steps.

Names in a state count for nothing there: stores are asked as the organisation of the run, and bytes are read only under
its keys.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from graphs.ingest import IngestPorts
from graphs.ports import ChatPorts
from nodes.chat.loading import Pictures
from stores.protocols.blobs import BlobStore
from stores.protocols.conversations import Answer, TurnQueue, TurnStore
from tributary.domain.conversations import Conversation, Message, MessageStatus
from tributary.domain.errors import NotFound
from tributary.domain.usage import NOTHING_SPENT, Bill
from tributary.files.images import PreparedImage
from tributary.services import Services, acting_as


def chat_ports(services: Services, organisation_id: UUID) -> ChatPorts:
    """Ports of the chat graph, and in them those of the retrieval graph."""
    ports = services.chat_ports
    blobs = OwnBlobs(ports.retrieval.blobs, organisation_id)
    return replace(
        ports,
        retrieval=replace(ports.retrieval, caller=acting_as(organisation_id), blobs=blobs),
        conversations=SteppedTurns(ports.conversations, services.queue, services.settings.queue_timeout),
        pictures=OwnPictures(ports.pictures, organisation_id),
    )


def ingest_ports(services: Services, organisation_id: UUID) -> IngestPorts:
    ports = services.ingest_ports
    return replace(ports, caller=acting_as(organisation_id), blobs=OwnBlobs(ports.blobs, organisation_id))


class SteppedTurns:
    """`TurnStore` for turns that nobody holds a conversation for from their beginning to their end, since they may
    stand still for hours. Each end of a turn waits for turns that are held, so that it cuts none of them off."""

    def __init__(self, turns: TurnStore, queue: TurnQueue, timeout: float) -> None:
        self._turns = turns
        self._queue = queue
        self._timeout = timeout

    async def get(self, organisation_id: UUID, conversation_id: UUID) -> Conversation:
        return await self._turns.get(organisation_id, conversation_id)

    async def recent(
        self, organisation_id: UUID, conversation_id: UUID, *, limit: int, before: UUID | None = None
    ) -> Sequence[Message]:
        return await self._turns.recent(organisation_id, conversation_id, limit=limit, before=before)

    async def begin_turn(
        self,
        organisation_id: UUID,
        *,
        conversation_id: UUID,
        bot_id: UUID,
        question_id: UUID,
        content: str,
        attachments: Sequence[dict[str, Any]],
        replace_message_id: UUID | None = None,
    ) -> Message:
        async with self._held(organisation_id, conversation_id):
            return await self._turns.begin_turn(
                organisation_id,
                conversation_id=conversation_id,
                bot_id=bot_id,
                question_id=question_id,
                content=content,
                attachments=attachments,
                replace_message_id=replace_message_id,
            )

    async def finish_turn(
        self, organisation_id: UUID, *, conversation_id: UUID, question_id: UUID, answer: Answer
    ) -> bool:
        async with self._held(organisation_id, conversation_id):
            return await self._turns.finish_turn(
                organisation_id, conversation_id=conversation_id, question_id=question_id, answer=answer
            )

    async def save_trace(self, organisation_id: UUID, message_id: UUID, trace: dict[str, Any]) -> None:
        await self._turns.save_trace(organisation_id, message_id, trace)

    async def fail_turn(
        self,
        organisation_id: UUID,
        *,
        question_id: UUID,
        problem: dict[str, Any],
        status: MessageStatus,
        bill: Bill = NOTHING_SPENT,
    ) -> None:
        await self._turns.fail_turn(organisation_id, question_id=question_id, problem=problem, status=status, bill=bill)

    @asynccontextmanager
    async def _held(self, organisation_id: UUID, conversation_id: UUID) -> AsyncIterator[None]:
        async with self._queue.turn(organisation_id, conversation_id, timeout=self._timeout):
            yield


class OwnBlobs:
    """`BlobStore` in which other organisations' blobs are missing."""

    def __init__(self, blobs: BlobStore, organisation_id: UUID) -> None:
        self._blobs = blobs
        self._organisation_id = organisation_id
        self.remote = blobs.remote

    async def put_file(self, key: str, path: Path) -> None:
        await self._blobs.put_file(require_own(key, self._organisation_id), path)

    async def get(self, key: str) -> bytes:
        return await self._blobs.get(require_own(key, self._organisation_id))

    def stream(self, key: str) -> AsyncIterator[bytes]:
        return self._blobs.stream(require_own(key, self._organisation_id))

    async def delete(self, keys: Sequence[str]) -> None:
        await self._blobs.delete([require_own(key, self._organisation_id) for key in keys])

    async def check(self) -> None:
        await self._blobs.check()


class OwnPictures:
    """`Pictures` that keeps to the same: what is kept of other organisations' pictures is not given out either."""

    def __init__(self, pictures: Pictures, organisation_id: UUID) -> None:
        self._pictures = pictures
        self._organisation_id = organisation_id

    async def prepared(self, key: str, load: Callable[[], Awaitable[bytes]], *, max_bytes: int) -> PreparedImage:
        return await self._pictures.prepared(require_own(key, self._organisation_id), load, max_bytes=max_bytes)


def require_own(key: str, organisation_id: UUID) -> str:
    """The key `<kind>/<organisation>/<id>`, if it is the organisation's. Raises `NotFound` for any other."""
    parts = key.split("/")
    if len(parts) != 3 or parts[1] != str(organisation_id):
        raise NotFound("file", key)
    return key
