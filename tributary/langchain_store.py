"""A knowledge base as a LangChain `PGVectorStore`, for notebooks and scripts.

with langchain_store("manuals", organisation="demo") as store:
    store.similarity_search("How is the pump primed?", k=3)
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from langchain_core.embeddings import Embeddings

from stores.postgres.database import Database
from stores.postgres.identity import PostgresIdentity
from stores.postgres.knowledge import PostgresKnowledge
from tributary.domain.errors import NotFound
from tributary.domain.knowledge import KnowledgeBase
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder
from tributary.services import open_database
from tributary.settings import Settings

if TYPE_CHECKING:
    from langchain_postgres import PGVectorStore

T = TypeVar("T")


class EmbedderEmbeddings(Embeddings):
    """An embedder of ours as LangChain's `Embeddings`, on the loop that it belongs to."""

    def __init__(self, embedder: TextEmbedder, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._embedder = embedder
        self._run = run

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._run(self.aembed_documents(texts))
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._run(self.aembed_query(text))
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = (await self._embedder.embed_documents(texts)).tolist()
        return vectors

    async def aembed_query(self, text: str) -> list[float]:
        vector: list[float] = (await self._embedder.embed_query(text)).tolist()
        return vector


class _Loop:
    """An event loop in a thread of its own: LangChain's store answers blocking and awaiting callers from it."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="langchain store", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def close(self) -> None:
        self.run(self.loop.shutdown_default_executor())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@contextmanager
def langchain_store(
    knowledge_base: str | UUID,
    *,
    organisation: str | None = None,
    embeddings: Embeddings | None = None,
    settings: Settings | None = None,
) -> "Iterator[PGVectorStore]":
    """The store over a knowledge base, by name or id, open as long as the block; blocking and awaiting calls both work.

    It reads what is searchable in this knowledge base and nothing else. What is added becomes a document of one chunk,
    found by every search of Tributary; what is deleted by id must have come in this way. `embeddings` stands in for the
    knowledge base's own model and must be of its space; `organisation` is `TRIBUTARY_ORG` where it is not given.

    Raises:
        NotFound: no such organisation or knowledge base.
        DependencyUnavailable: the database can't be reached.
    """
    loop, stack = _Loop(), AsyncExitStack()
    try:
        yield loop.run(_open(loop, stack, settings or Settings.load(), knowledge_base, organisation, embeddings))
    finally:
        try:
            loop.run(stack.aclose())
        finally:
            loop.close()


async def _open(
    loop: _Loop,
    stack: AsyncExitStack,
    settings: Settings,
    knowledge_base: str | UUID,
    organisation: str | None,
    embeddings: Embeddings | None,
) -> "PGVectorStore":
    database = await stack.enter_async_context(open_database(settings))
    base = await _find(database, knowledge_base, organisation or settings.organisation)
    if embeddings is None:
        embedders = TextEmbedders(settings)
        stack.push_async_callback(embedders.aclose)
        embeddings = EmbedderEmbeddings(await embedders.prepare(base.embedding), loop.run)
    return await _store(loop, stack, database, base, embeddings)


async def _store(
    loop: _Loop, stack: AsyncExitStack, database: Database, base: KnowledgeBase, embeddings: Embeddings
) -> "PGVectorStore":
    # At the first use: LangChain's PostgreSQL package takes 0.4 s and its memory.
    from langchain_postgres import PGEngine, PGVectorStore

    from stores.postgres.langchain_chunks import VIEW, ChunkVectorStore, reading_engine

    engine = reading_engine(database.dsn, role=database.role, base=base)
    stack.push_async_callback(engine.dispose)
    async with database.organisation(base.organisation_id) as connection:
        row = await (await connection.execute("SELECT current_schema() AS name")).fetchone()
    assert row is not None
    shared = PGEngine.from_engine(engine, loop.loop)
    chunks = await ChunkVectorStore.create(PGEngine.from_engine(engine), embeddings, VIEW, schema_name=row["name"])
    assert isinstance(chunks, ChunkVectorStore)
    chunks.write_to(database, base)
    # The key is what keeps others from making one past `create`, which would bring LangChain's own writes.
    return PGVectorStore(PGVectorStore._PGVectorStore__create_key, shared, chunks)  # type: ignore[attr-defined]


async def _find(database: Database, knowledge_base: str | UUID, organisation: str) -> KnowledgeBase:
    known = [each for each in await PostgresIdentity(database).list_organisations() if each.name == organisation]
    if not known:
        raise NotFound("Organisation", organisation)
    knowledge = PostgresKnowledge(database)
    if isinstance(knowledge_base, UUID):
        return (await knowledge.knowledge_bases(known[0].id, [knowledge_base]))[0]
    base = await knowledge.knowledge_base_named(known[0].id, knowledge_base)
    if base is None:
        raise NotFound("Knowledge base", knowledge_base)
    return base
