"""Following a document to its end, in whichever process it is ingested."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from uuid import UUID

from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.signals import Signals
from tributary.domain.knowledge import Document, DocumentStatus
from tributary.ingestion.progress import PREFIX

#: Seconds after which a row is looked at although nobody told of a change: signals can get lost.
LOOK_ANYWAY = 2.0

_ENDS = frozenset({DocumentStatus.READY, DocumentStatus.FAILED})


class Following:
    """Those who follow documents in this process; one subscription serves them all."""

    def __init__(self, *, knowledge: KnowledgeReader, signals: Signals, look_anyway: float = LOOK_ANYWAY) -> None:
        self._knowledge = knowledge
        self._signals = signals
        self._look_anyway = look_anyway
        self._waiting: dict[str, set[asyncio.Event]] = {}
        signals.subscribe(self._heard)

    async def follow(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID
    ) -> AsyncIterator[Document]:
        """The document at once and after each change, up to and with its end. Raises `NotFound` where it is gone."""
        changed = asyncio.Event()
        waiting = self._waiting.setdefault(str(document_id), set())
        waiting.add(changed)
        last: Document | None = None
        try:
            while True:
                changed.clear()
                document = await self._knowledge.document(organisation_id, knowledge_base_id, document_id)
                if document != last:
                    last = document
                    yield document
                if document.status in _ENDS:
                    return
                await self._wait(changed)
        finally:
            waiting.discard(changed)
            if not waiting:
                self._waiting.pop(str(document_id), None)

    async def tell(self, document_id: UUID) -> None:
        """Wakes those who follow the document, in every process."""
        await self._signals.publish(f"{PREFIX}{document_id}")

    async def _wait(self, changed: asyncio.Event) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._look_anyway):
                await changed.wait()

    def _heard(self, payload: str) -> None:
        if payload.startswith(PREFIX):
            for changed in self._waiting.get(payload.removeprefix(PREFIX), ()):
                changed.set()
