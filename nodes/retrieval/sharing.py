"""Work that the branches of one turn need alike, done once: the vectors of the question and of its pictures, and what
the texts say to it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, TypeVar
from uuid import UUID

from nodes.retrieval.query import recent_text
from nodes.retrieval.question_vectors import QueryEmbedding, question_vector
from nodes.retrieval.state import KnowledgeBaseRef, SearchPlan
from stores.protocols.blobs import BlobStore
from stores.protocols.search import ChunkSearch, Judgement
from tributary.domain.retrieval import Hit
from tributary.models.protocols import ImageEmbedder, Vectors

T = TypeVar("T")

#: Candidates of the text search that the graph branch knows the terms of.
POOL = 100
#: Seconds after which a plan that never came to its merge is forgotten.
KEPT = 60.0


class SharedWork:
    """Results by plan, which is one object for all branches of a run: no other run, and no later one, is ever answered
    from them. Where a run is stepped through, its plan is read back from a checkpoint, and the work is done again."""

    def __init__(self, kept: float = KEPT) -> None:
        self._kept = kept
        # A plan is held beside its id, so that nothing else can get that id meanwhile.
        self._plans: dict[int, tuple[SearchPlan, float, dict[tuple[object, ...], asyncio.Task[Any]]]] = {}

    def once(
        self, plan: SearchPlan, key: tuple[object, ...], work: Callable[[], Coroutine[Any, Any, T]]
    ) -> Awaitable[T]:
        """What `work` gives, begun by the first who asks. A failure reaches all who wait, and is not kept."""
        # Shielded: a branch that runs out of time must not take the answer from the other.
        return asyncio.shield(self.begin(plan, key, work))

    def begin(
        self, plan: SearchPlan, key: tuple[object, ...], work: Callable[[], Coroutine[Any, Any, T]]
    ) -> asyncio.Task[T]:
        """The same for whoever does not wait for it."""
        self._drop_old()
        # A task belongs to its event loop.
        key = (asyncio.get_running_loop(), *key)
        _, _, tasks = self._plans.setdefault(id(plan), (plan, time.monotonic(), {}))
        task = tasks.get(key)
        if task is None:
            task = tasks[key] = asyncio.create_task(work(), name=f"shared by branches: {key[1]}")
            task.add_done_callback(lambda done: _keep_success(tasks, key, done))
        return task

    def forget(self, plan: SearchPlan) -> None:
        self._plans.pop(id(plan), None)

    def _drop_old(self) -> None:
        """Runs that were called off leave their plan behind; the oldest stand first."""
        limit = time.monotonic() - self._kept
        for key, (_, begun, _) in list(self._plans.items()):
            if begun > limit:
                return
            del self._plans[key]


def _keep_success(
    tasks: dict[tuple[object, ...], asyncio.Task[Any]], key: tuple[object, ...], done: asyncio.Task[Any]
) -> None:
    # Asking for the exception marks it as seen, where everybody who waited has gone.
    if done.cancelled() or done.exception() is not None:
        del tasks[key]


class QuestionSearch:
    """What a turn asks the texts of its knowledge bases. The text branch ranks the hits, and the graph branch goes on
    from the same ones, side by side."""

    def __init__(self, search: ChunkSearch, queries: QueryEmbedding) -> None:
        self._search = search
        self._queries = queries
        self._shared = SharedWork()

    def prepare(self, plan: SearchPlan) -> None:
        """Begins what a search of this plan waits for first: the question's vectors. Whoever asks for them later finds
        them under way. A failure is told to nobody who did not wait: they are asked for once more then."""
        if plan["query"].strip():
            for embedding in {base["embedding"] for base in plan["knowledgeBases"]}:
                self._shared.begin(plan, *self._embedding(plan, embedding))

    async def vector(self, plan: SearchPlan, embedding: str) -> Vectors:
        """The question's vector in the space of `embedding`."""
        return await self._shared.once(plan, *self._embedding(plan, embedding))

    def _embedding(
        self, plan: SearchPlan, embedding: str
    ) -> tuple[tuple[object, ...], Callable[[], Coroutine[Any, Any, Vectors]]]:
        return ("question vector", embedding), lambda: question_vector(plan, embedding, self._queries)

    async def picture_vectors(self, plan: SearchPlan, embedder: ImageEmbedder, blobs: BlobStore) -> Vectors:
        """The vectors of the attached pictures, a row each: one call for all knowledge bases of the same space."""
        return await self._shared.once(
            plan, ("picture vectors", embedder.name), lambda: _embedded(plan["images"], embedder, blobs)
        )

    async def hits(self, organisation_id: UUID, plan: SearchPlan, base: KnowledgeBaseRef) -> Sequence[Hit]:
        """The best `POOL` chunks of one knowledge base, by vector and words."""
        return (await self._judgement(organisation_id, plan, base)).hits

    async def score(
        self, organisation_id: UUID, plan: SearchPlan, base: KnowledgeBaseRef, chunk_ids: Sequence[UUID]
    ) -> Sequence[Hit]:
        """Chunks that another branch found, with their vector and text terms."""
        return await (await self._judgement(organisation_id, plan, base)).score(chunk_ids)

    def _judgement(self, organisation_id: UUID, plan: SearchPlan, base: KnowledgeBaseRef) -> Awaitable[Judgement]:
        return self._shared.once(
            plan, ("judgement", organisation_id, base["id"]), lambda: self._judge(organisation_id, plan, base)
        )

    async def _judge(self, organisation_id: UUID, plan: SearchPlan, base: KnowledgeBaseRef) -> Judgement:
        return await self._search.judge(
            organisation_id,
            UUID(base["id"]),
            query=plan["query"],
            recent=recent_text(plan["recent"]),
            vector=await self.vector(plan, base["embedding"]),
            embedder=self._queries.embedder(base["embedding"]),
            limit=POOL,
        )

    def forget(self, plan: SearchPlan) -> None:
        """The run has what it needs."""
        self._shared.forget(plan)


async def _embedded(keys: Sequence[str], embedder: ImageEmbedder, blobs: BlobStore) -> Vectors:
    return await embedder.embed_images(await asyncio.gather(*map(blobs.get, keys)))
