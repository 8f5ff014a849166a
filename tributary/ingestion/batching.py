"""Texts of several documents in one call of their embedder.

A document of one chunk fills no batch by itself: embedded alone it costs a local model more than its share, and a
provider a call. What waits while a call is under way goes with the next one.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np

from nodes.ingest.split import Embedders
from tributary.domain.errors import DependencyError
from tributary.models.background import in_background
from tributary.models.metering import owner_of
from tributary.models.protocols import TextEmbedder, Vectors

logger = logging.getLogger(__name__)

#: Texts of one call, unless one document alone brings more.
TEXTS = 32
#: Calls at a time: while one is under way, the next one waits at the model already.
CALLS = 2


@dataclass(frozen=True, slots=True)
class _Waiting:
    texts: Sequence[str]
    vectors: asyncio.Future[Vectors]


class BatchedEmbedder:
    """A `TextEmbedder` that puts the texts of callers of one event loop together. Each gets its own rows, and its own
    error: where a shared call fails for good, its callers are tried one by one. A caller that is cancelled while it
    waits costs nothing."""

    def __init__(self, embedder: TextEmbedder, *, texts: int = TEXTS, calls: int = CALLS) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens
        self._embedder = embedder
        self._texts = texts
        self._calls = calls
        self._waiting: deque[_Waiting] = deque()
        self._running: set[asyncio.Task[None]] = set()

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        waiting = _Waiting(texts, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if len(self._running) < self._calls:
            with in_background():
                task = asyncio.create_task(self._work(), name="embed documents")
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return await waiting.vectors

    async def embed_query(self, text: str) -> Vectors:
        return await self._embedder.embed_query(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def similarity(self, cosine: Vectors) -> Vectors:
        return self._embedder.similarity(cosine)

    async def _work(self) -> None:
        while batch := self._take():
            # As a task, so that whatever a model raises reaches its callers and nobody else.
            outcome = asyncio.ensure_future(
                self._embedder.embed_documents([text for one in batch for text in one.texts])
            )
            leaving = [one.vectors for one in batch]
            await _until_done_or_left(outcome, leaving)
            error = None if outcome.cancelled() else outcome.exception()
            if isinstance(error, DependencyError) and not error.transient and len(batch) > 1:
                logger.info("a call with texts of %d documents failed; they are tried one by one", len(batch))
                for one in batch:
                    await self._alone(one)
            elif error is not None:
                _fail(batch, error)
            elif not outcome.cancelled():
                _deliver(batch, outcome.result())

    def _take(self) -> list[_Waiting]:
        """Whole callers in their order, as many as fit."""
        taken: list[_Waiting] = []
        size = 0
        while self._waiting and (not taken or size + len(self._waiting[0].texts) <= self._texts):
            waiting = self._waiting.popleft()
            if not waiting.vectors.done():
                taken.append(waiting)
                size += len(waiting.texts)
        return taken

    async def _alone(self, one: _Waiting) -> None:
        outcome = asyncio.ensure_future(self._embedder.embed_documents(one.texts))
        await _until_done_or_left(outcome, [one.vectors])
        if not outcome.cancelled():
            error = outcome.exception()
            _fail([one], error) if error is not None else _deliver([one], outcome.result())


class BatchedEmbedders:
    """The embedders of a registry, batched; `Embedders` for the ingestion graph."""

    def __init__(self, embedders: Embedders) -> None:
        self._embedders = embedders
        self._batched: WeakValueDictionary[tuple[str, Hashable], BatchedEmbedder] = WeakValueDictionary()

    def embedder(self, name: str) -> TextEmbedder:
        made = self._embedders.embedder(name)
        # Two threads that ask at the same time must get one and the same. Who pays for a call pays for no other's.
        return self._batched.setdefault((name, owner_of(name)), BatchedEmbedder(made))


async def _until_done_or_left(outcome: asyncio.Future[Vectors], callers: Sequence[asyncio.Future[Vectors]]) -> None:
    """Waits for the call, and gives it up when all of its callers have gone."""
    watched: set[asyncio.Future[Vectors]] = set(callers)
    while not outcome.done():
        await asyncio.wait({outcome, *watched}, return_when=asyncio.FIRST_COMPLETED)
        watched = {caller for caller in watched if not caller.done()}
        if not watched and not outcome.done():
            outcome.cancel()
            await asyncio.wait({outcome})


def _fail(batch: Sequence[_Waiting], error: BaseException) -> None:
    for one in batch:
        if not one.vectors.done():
            one.vectors.set_exception(error)


def _deliver(batch: Sequence[_Waiting], vectors: Vectors) -> None:
    ends = np.cumsum([len(one.texts) for one in batch])
    for one, rows in zip(batch, np.split(vectors, ends[:-1]), strict=True):
        if not one.vectors.done():
            one.vectors.set_result(rows)
