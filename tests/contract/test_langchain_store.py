"""A knowledge base as a LangChain vector store: LangChain's own standard tests, and what our search sees of it."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from uuid import UUID

import numpy as np
import psycopg
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_postgres import PGVectorStore
from langchain_tests.integration_tests.vectorstores import EMBEDDING_SIZE, VectorStoreIntegrationTests

from stores.postgres.database import Database
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.search import PostgresSearch
from tests.support.worlds import PlainEmbedder, draft, new_document
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.identity import Organisation
from tributary.domain.ids import new_id
from tributary.domain.knowledge import KnowledgeBase, ParsedDocument
from tributary.domain.retrieval import Hit
from tributary.langchain_store import langchain_store
from tributary.settings import E5, Settings

EMBEDDINGS = DeterministicFakeEmbedding(size=EMBEDDING_SIZE)
_NEW_BASE = """
INSERT INTO knowledge_bases (organisation_id, id, name, embedding, dimension) VALUES (%s, %s, %s, %s, %s)
"""
_NEW_ORGANISATION = "INSERT INTO organisations (id, name) VALUES (%s, %s)"


def new_base(dsn: str, name: str) -> tuple[UUID, UUID]:
    """A knowledge base in an organisation, both of this name; their ids."""
    organisation_id, base_id = new_id(), new_id()
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        connection.execute(_NEW_ORGANISATION, (organisation_id, name))
        connection.execute(_NEW_BASE, (organisation_id, base_id, name, PlainEmbedder.name, EMBEDDING_SIZE))
    return organisation_id, base_id


def settings(dsn: str) -> Settings:
    return Settings.load(database_url=dsn)


class TestStandard(VectorStoreIntegrationTests):
    """All of LangChain's tests, blocking and awaiting."""

    @pytest.fixture
    def vectorstore(self, shared_dsn: str) -> Iterator[PGVectorStore]:
        name = str(new_id())
        new_base(shared_dsn, name)
        with langchain_store(name, organisation=name, embeddings=EMBEDDINGS, settings=settings(shared_dsn)) as store:
            yield store


@pytest.fixture
async def notes(database: Database, organisation: Organisation) -> KnowledgeBase:
    return await PostgresKnowledge(database).create_knowledge_base(
        organisation.id, name="notes", description="", embedding="test/plain", dimension=EMBEDDING_SIZE
    )


@pytest.fixture
async def store(dsn: str, notes: KnowledgeBase, organisation: Organisation) -> AsyncIterator[PGVectorStore]:
    opened = langchain_store("notes", organisation=organisation.name, embeddings=EMBEDDINGS, settings=settings(dsn))
    yield await asyncio.to_thread(opened.__enter__)
    await asyncio.to_thread(opened.__exit__, None, None, None)


async def find(database: Database, base: KnowledgeBase, query: str) -> Sequence[Hit]:
    return await PostgresSearch(database).search(
        base.organisation_id,
        base.id,
        query=query,
        recent="",
        vector=np.asarray(EMBEDDINGS.embed_query(query), np.float32),
        embedder=PlainEmbedder(),
        limit=10,
    )


async def ingest(database: Database, base: KnowledgeBase, *texts: str) -> list[UUID]:
    """A document of these chunks, as ingestion writes one."""
    knowledge = PostgresKnowledge(database)
    document = new_document(base)
    await knowledge.add_document(document)
    ids = await knowledge.write_document(
        base.organisation_id,
        document.id,
        document.revision,
        parsed=ParsedDocument("\n".join(texts)),
        summary="",
        topics=[],
        document_type="",
        summary_vector=None,
        chunks=draft(texts),
        vectors=np.asarray(EMBEDDINGS.embed_documents(list(texts)), np.float32),
    )
    assert ids is not None
    return [ids[ordinal] for ordinal in range(len(texts))]


async def test_what_was_ingested_is_read_with_where_it_stands(
    database: Database, notes: KnowledgeBase, store: PGVectorStore
) -> None:
    ids = await ingest(database, notes, "the pump", "the valve")
    (found,) = await store.asimilarity_search("the valve", k=1)
    assert (found.id, found.page_content) == (str(ids[1]), "the valve")
    assert (found.metadata["filename"], found.metadata["page"]) == ("guide.md", 2)


async def test_what_langchain_adds_is_found_by_its_words(
    database: Database, notes: KnowledgeBase, store: PGVectorStore
) -> None:
    await store.aadd_texts(["resetting the frobnicator", "gardening"])
    hits = await find(database, notes, "frobnicator")
    assert max(hit["text"] for hit in hits) == pytest.approx(1.0)


async def test_what_langchain_replaces_or_deletes_leaves_no_word_behind(
    database: Database, notes: KnowledgeBase, store: PGVectorStore
) -> None:
    await store.aadd_texts(["former words", "others"], ids=["1", "2"])
    await store.aadd_texts(["current words"], ids=["1"])
    await store.adelete(["2"])
    assert len(await find(database, notes, "former others")) == 1
    async with database.organisation(notes.organisation_id) as connection:
        rows = await (await connection.execute("SELECT DISTINCT term FROM chunk_postings ORDER BY term")).fetchall()
    assert {row["term"] for row in rows} >= {"current", "words"}
    assert not {row["term"] for row in rows} & {"former", "others"}


async def test_a_passage_of_an_ingested_document_is_not_deleted_alone(
    database: Database, notes: KnowledgeBase, store: PGVectorStore
) -> None:
    ids = await ingest(database, notes, "the pump", "the valve")
    with pytest.raises(Conflict, match="ingested document"):
        await store.adelete([str(ids[0])])
    assert len(await store.asimilarity_search("pump", k=5)) == 2


async def test_other_knowledge_bases_and_organisations_are_not_read(
    dsn: str, database: Database, notes: KnowledgeBase, store: PGVectorStore
) -> None:
    await asyncio.to_thread(new_base, dsn, "globex")
    other = langchain_store("globex", organisation="globex", embeddings=EMBEDDINGS, settings=settings(dsn))
    foreign = await asyncio.to_thread(other.__enter__)
    try:
        await foreign.aadd_texts(["secret"], ids=["1"])
        await store.aadd_texts(["public"], ids=["1"])
        assert [each.page_content for each in await store.asimilarity_search("secret", k=5)] == ["public"]
        assert [each.page_content for each in await foreign.aget_by_ids(["1"])] == ["secret"]
    finally:
        await asyncio.to_thread(other.__exit__, None, None, None)


async def test_many_texts_come_in_at_once_and_the_last_of_one_id_stays(store: PGVectorStore) -> None:
    texts = [f"text {n}" for n in range(40)]
    await store.aadd_texts([*texts, "last"], ids=[*map(str, range(40)), "7"])
    found = await store.aget_by_ids(["7", "8"])
    assert {each.page_content for each in found} == {"last", "text 8"}


async def test_diverse_texts_can_be_asked_for(store: PGVectorStore) -> None:
    await store.aadd_texts(["a", "b", "c"])
    assert len(await store.amax_marginal_relevance_search("a", k=2, fetch_k=3)) == 2


async def test_a_retriever_is_made_of_it(store: PGVectorStore) -> None:
    await store.aadd_documents([Document(page_content="foo", metadata={"n": 1})])
    assert [each.metadata for each in await store.as_retriever().ainvoke("foo")] == [{"n": 1}]


async def test_vectors_of_another_dimension_are_refused_and_nothing_is_written(
    dsn: str, database: Database, organisation: Organisation, notes: KnowledgeBase
) -> None:
    def add() -> None:
        wrong = DeterministicFakeEmbedding(size=EMBEDDING_SIZE + 1)
        with langchain_store(
            notes.id, organisation=organisation.name, embeddings=wrong, settings=settings(dsn)
        ) as store:
            store.add_texts(["text"])

    with pytest.raises(Conflict):
        await asyncio.to_thread(add)
    assert await PostgresKnowledge(database).list_documents(organisation.id, notes.id, after=None, limit=5) == []


@pytest.mark.parametrize(("name", "owner"), [("unknown", "acme"), ("notes", "unknown")])
async def test_an_unknown_name_is_said(dsn: str, organisation: Organisation, name: str, owner: str) -> None:
    def enter() -> None:
        with langchain_store(name, organisation=owner, embeddings=EMBEDDINGS, settings=settings(dsn)):
            pass

    with pytest.raises(NotFound):
        await asyncio.to_thread(enter)


def test_the_example_of_the_documentation_runs(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (Path(__file__).parents[2] / "docs" / "langchain.md").read_text("utf8")
    example = text.split("```python\n")[1].split("```")[0]
    with closing(psycopg.connect(dsn, autocommit=True)) as connection:
        organisation_id = new_id()
        connection.execute(_NEW_ORGANISATION, (organisation_id, "demo"))
        connection.execute(_NEW_BASE, (organisation_id, new_id(), "handbook", E5, 384))
    monkeypatch.setenv("DATABASE_URL", dsn)
    names: dict[str, list[Document]] = {}
    exec(example, names)
    assert [each.metadata for each in names["found"]] == [{"chapter": 3}]
    assert [each.metadata for each in names["passages"]] == [{"chapter": 9}]
