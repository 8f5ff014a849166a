"""What ingestion leaves in the database and on the disk."""

import asyncio
from pathlib import Path

from stores.postgres.database import Database
from tributary.domain.knowledge import Document, KnowledgeBase

#: Of a document, the tables that hold something only it supports.
TABLES = {
    "documents": "id",
    "document_texts": "document_id",
    "chunks": "document_id",
    "chunk_postings": "document_id",
    "kg_entity_sources": "document_id",
    "kg_mentions": "document_id",
}


async def rows_of(database: Database, document: Document) -> dict[str, int]:
    """How many rows of each table belong to the document; none is left out."""
    found = {}
    async with database.organisation(document.organisation_id) as connection:
        for table, column in TABLES.items():
            cursor = await connection.execute(f"SELECT count(*) FROM {table} WHERE {column} = %s", (document.id,))
            row = await cursor.fetchone()
            assert row is not None
            found[table] = row["count"]
    return {table: count for table, count in found.items() if count}


async def texts_of(database: Database, document: Document) -> list[str]:
    async with database.organisation(document.organisation_id) as connection:
        cursor = await connection.execute(
            "SELECT content FROM chunks WHERE document_id = %s ORDER BY ordinal", (document.id,)
        )
        return [row["content"] for row in await cursor.fetchall()]


async def entities_of(database: Database, base: KnowledgeBase) -> set[str]:
    async with database.organisation(base.organisation_id) as connection:
        cursor = await connection.execute("SELECT key FROM kg_entities WHERE knowledge_base_id = %s", (base.id,))
        return {row["key"] for row in await cursor.fetchall()}


async def queue_is_empty(database: Database) -> bool:
    async with database.upkeep() as connection:
        row = await (await connection.execute("SELECT count(*) FROM procrastinate_jobs")).fetchone()
    assert row is not None
    return bool(row["count"] == 0)


async def until_queue_is_empty(database: Database) -> None:
    async with asyncio.timeout(30):
        while not await queue_is_empty(database):
            await asyncio.sleep(0.02)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.name != "received"]
