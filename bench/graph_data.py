"""A synthetic knowledge graph with hubs: sizes by a power law, loaded in bulk into both engines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import numpy.typing as npt
import psycopg

from stores.neo4j import cypher
from stores.neo4j.database import Neo4jDatabase, rows
from stores.neo4j.graph_writing import entity_id

Numbers = npt.NDArray[np.int64]

_DOCUMENT = "id knowledge_base_id filename title content_type size sha256 storage_key status stage importance"
#: Chunks of a document, and statements of a chunk.
CHUNKS = 10
STATEMENTS = 10
_PART = 5000


@dataclass(frozen=True)
class Synthetic:
    """Entities and chunks by number. Statement n says relation n in chunk n // STATEMENTS; a chunk mentions what it
    states something of, and some of what it says of it."""

    organisation: UUID
    base: UUID
    entities: int
    sources: Numbers
    targets: Numbers
    weights: npt.NDArray[np.float64]
    chunk_ids: list[UUID]
    document_ids: list[UUID]
    #: Pairs of chunk and entity.
    mentions: Numbers

    def name(self, entity: int) -> str:
        return f"Thing{entity} Corp{entity % 89}"

    def key(self, entity: int) -> str:
        return f"thing{entity} corp{entity % 89}"

    @cached_property
    def ids(self) -> list[str]:
        return [entity_id(self.base, self.key(n)) for n in range(self.entities)]

    def id(self, entity: int) -> str:
        return self.ids[entity]

    def relation_id(self, relation: int) -> str:
        return str(uuid5(self.base, f"relation {relation}"))

    @cached_property
    def said(self) -> Numbers:
        """Pairs of document and entity, with the number of mentions."""
        pairs, counts = np.unique(self.mentions // [CHUNKS, 1], axis=0, return_counts=True)
        return np.column_stack([pairs, counts])

    @property
    def degrees(self) -> Numbers:
        ends = np.bincount(self.sources, minlength=self.entities) + np.bincount(self.targets, minlength=self.entities)
        ends[self.sources[self.sources == self.targets]] -= 1
        return ends.astype(np.int64)


def synthesise(organisation: UUID, base: UUID, *, entities: int, relations: int, seed: int = 7) -> Synthetic:
    random = np.random.default_rng(seed)
    odds = 1.0 / (np.arange(entities) + 10.0)
    odds /= odds.sum()
    drawn = random.choice(entities, size=(relations + relations // 4, 2), p=odds)
    # Every entity takes part in something.
    drawn[:entities, 0] = np.arange(entities)
    pairs = np.unique(drawn, axis=0)
    pairs = random.permutation(pairs)[:relations]
    chunks = -(-len(pairs) // STATEMENTS)
    where = np.arange(len(pairs)) // STATEMENTS
    also = random.random(len(pairs)) < 0.2
    mentions = np.unique(
        np.concatenate([np.column_stack([where, pairs[:, 0]]), np.column_stack([where[also], pairs[also, 1]])]), axis=0
    )
    return Synthetic(
        organisation,
        base,
        entities,
        pairs[:, 0],
        pairs[:, 1],
        np.minimum(random.zipf(2.2, len(pairs)), 40).astype(np.float64),
        [uuid5(base, f"chunk {n}") for n in range(chunks)],
        [uuid5(base, f"document {n}") for n in range(-(-chunks // CHUNKS))],
        mentions,
    )


def load_postgres(dsn: str, graph: Synthetic) -> None:
    """Past the policies and the foreign keys, as the superuser that `dsn` is."""
    with psycopg.connect(dsn) as connection:
        connection.execute("SET session_replication_role = replica")
        for table, records in _tables(graph):
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for record in records:
                    copy.write_row(record)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def _columns(table: str, columns: str) -> str:
    return f"{table} ({', '.join(['organisation_id', *columns.split()])})"


def _tables(graph: Synthetic) -> Iterator[tuple[str, Iterator[tuple[Any, ...]]]]:
    org, kb = graph.organisation, graph.base
    counts = np.bincount(graph.mentions[:, 1], minlength=graph.entities)
    degrees = graph.degrees
    yield (
        _columns(
            "documents",
            "id knowledge_base_id filename title content_type size sha256 storage_key status stage importance",
        ),
        (
            (org, each, kb, "f.txt", "f", "text/plain", 1, "0", "k", "ready", "ready", 0.5)
            for each in graph.document_ids
        ),
    )
    yield (
        _columns(
            "chunks", "id knowledge_base_id document_id ordinal content start_offset end_offset term_count embedding"
        ),
        (
            (org, each, kb, graph.document_ids[n // CHUNKS], n % CHUNKS, "text", 0, 4, 1, "[1,0,0,0]")
            for n, each in enumerate(graph.chunk_ids)
        ),
    )
    yield (
        "kg_entities (organisation_id, id, knowledge_base_id, key, name, type, documents, mentions, degree)",
        (
            (org, graph.id(n), kb, graph.key(n), graph.name(n), "name", 1, int(counts[n]), int(degrees[n]))
            for n in range(graph.entities)
        ),
    )
    yield (
        "kg_entity_sources (organisation_id, knowledge_base_id, document_id, entity_id, name, type, mentions)",
        (
            (org, kb, graph.document_ids[document], graph.id(entity), graph.name(entity), "name", int(count))
            for document, entity, count in graph.said
        ),
    )
    yield (
        "kg_names (organisation_id, knowledge_base_id, name_key, entity_id, document_id)",
        (
            (org, kb, graph.key(entity), graph.id(entity), graph.document_ids[document])
            for document, entity, _ in graph.said
        ),
    )
    yield (
        "kg_mentions (organisation_id, chunk_id, entity_id, start_offset, end_offset, document_id)",
        (
            (org, graph.chunk_ids[chunk], graph.id(entity), 0, 5, graph.document_ids[chunk // CHUNKS])
            for chunk, entity in graph.mentions
        ),
    )
    ends = list(zip(graph.sources, graph.targets, graph.weights, strict=True))
    yield (
        "kg_relations (organisation_id, id, knowledge_base_id, source_id, relation, target_id, weight)",
        (
            (org, graph.relation_id(n), kb, graph.id(source), "relates to", graph.id(target), weight)
            for n, (source, target, weight) in enumerate(ends)
        ),
    )
    yield (
        "kg_relation_sources (organisation_id, chunk_id, relation_id, document_id, weight)",
        (
            (
                org,
                graph.chunk_ids[n // STATEMENTS],
                graph.relation_id(n),
                graph.document_ids[n // STATEMENTS // CHUNKS],
                weight,
            )
            for n, (_, _, weight) in enumerate(ends)
        ),
    )


_LOAD = {
    "base": "UNWIND $rows AS row CREATE (:KgBase {kb: $kb, org: $org, writes: 1})",
    "documents": "UNWIND $rows AS row CREATE (:KgDocument {id: row.id, org: $org, kb: $kb, chunk: row.chunk})",
    "chunks": "UNWIND $rows AS row CREATE (:KgChunk {id: row.id, org: $org, kb: $kb, document: row.document})",
    "entities": """
        UNWIND $rows AS row
        CREATE (e:KgEntity {id: row.id, org: $org, kb: $kb, key: row.key, name: row.name, type: 'name',
                            description: '', documents: 1, mentions: row.mentions, degree: row.degree})
        CREATE (:KgName {kb: $kb, org: $org, key: row.key})
    """,
    "said": """
        UNWIND $rows AS row
        MATCH (d:KgDocument {id: row.document}), (e:KgEntity {id: row.id}), (n:KgName {kb: $kb, key: row.key})
        CREATE (d)-[:KG_SAYS {name: e.name, type: 'name', description: '', mentions: row.mentions}]->(e)
        CREATE (n)-[:KG_NAMES {document: row.document}]->(e)
    """,
    "mentions": """
        UNWIND $rows AS row
        MATCH (c:KgChunk {id: row.chunk}), (e:KgEntity {id: row.id})
        CREATE (c)-[:KG_MENTIONS {entity: row.id, rank: '1' + row.chunk, starts: [0], ends: [5],
                                  subjects: [false]}]->(e)
    """,
    "relations": """
        UNWIND $rows AS row
        MATCH (s:KgEntity {id: row.source}), (t:KgEntity {id: row.target}), (c:KgChunk {id: row.chunk})
        CREATE (s)-[:KG_RELATION {id: row.id, org: $org, kb: $kb, source: row.source, target: row.target,
                                  relation: 'relates to', weight: row.weight, description: '',
                                  rank: toString(9000000000000000 - toInteger(row.weight * 1000000)) + ' ' + row.id
                                 }]->(t)
        CREATE (c)-[:KG_STATES {relation: row.id, weight: row.weight, description: ''}]->(s)
    """,
}


async def load_neo4j(database: Neo4jDatabase, graph: Synthetic) -> None:
    place = {"org": str(graph.organisation), "kb": str(graph.base)}
    for name, records in _nodes(graph):
        for part in _parts(records):

            async def write(transaction: Any, statement: str = _LOAD[name], part: Sequence[Any] = part) -> None:
                await rows(transaction, statement, **place, rows=part)

            await database.write(write)
    for first in range(0, graph.entities, _PART):
        ids = graph.ids[first : first + _PART]

        async def write_out(transaction: Any, ids: Sequence[str] = ids) -> None:
            await rows(transaction, cypher.WRITE_OUT, **place, **cypher.WIDTHS, ids=ids)

        await database.write(write_out)


def _parts(records: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    part: list[dict[str, Any]] = []
    for record in records:
        part.append(record)
        if len(part) == _PART:
            yield part
            part = []
    yield part


def _nodes(graph: Synthetic) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    counts = np.bincount(graph.mentions[:, 1], minlength=graph.entities)
    degrees = graph.degrees
    documents, chunks = [str(each) for each in graph.document_ids], [str(each) for each in graph.chunk_ids]
    yield "base", iter([{}])
    yield "documents", ({"id": each, "chunk": chunks[n * CHUNKS]} for n, each in enumerate(documents))
    yield "chunks", ({"id": each, "document": documents[n // CHUNKS]} for n, each in enumerate(chunks))
    yield (
        "entities",
        (
            {
                "id": graph.id(n),
                "key": graph.key(n),
                "name": graph.name(n),
                "mentions": int(counts[n]),
                "degree": int(degrees[n]),
            }
            for n in range(graph.entities)
        ),
    )
    yield (
        "said",
        (
            {"document": documents[document], "id": graph.id(entity), "key": graph.key(entity), "mentions": int(count)}
            for document, entity, count in graph.said
        ),
    )
    yield "mentions", ({"chunk": chunks[chunk], "id": graph.id(entity)} for chunk, entity in graph.mentions)
    yield (
        "relations",
        (
            {
                "id": graph.relation_id(n),
                "source": graph.id(source),
                "target": graph.id(target),
                "chunk": chunks[n // STATEMENTS],
                "weight": float(weight),
            }
            for n, (source, target, weight) in enumerate(zip(graph.sources, graph.targets, graph.weights, strict=True))
        ),
    )
