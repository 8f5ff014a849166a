"""The product's searches in one knowledge base, with its graph and without."""

import time
from collections.abc import Sequence
from uuid import UUID

from bench import ablation
from nodes.retrieval.branches import CANDIDATES
from nodes.retrieval.evidence import find_evidence
from nodes.retrieval.ranking import merge, needs_terms, rerank
from nodes.retrieval.sharing import POOL
from stores.postgres.database import Database
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.search import PostgresSearch
from stores.protocols.graph import GraphFindings, GraphReader
from stores.protocols.search import Judgement
from tributary.domain.bots import Weights
from tributary.domain.retrieval import Hit, RelationFact
from tributary.models.protocols import TextEmbedder, Vectors


class Searching:
    """The product's searches in one knowledge base, without and with the graph."""

    def __init__(self, database: Database, organisation_id: UUID, base_id: UUID, embedder: TextEmbedder) -> None:
        self._search = PostgresSearch(database)
        self._graph = PostgresGraphEngine(database)
        self._knowledge = PostgresKnowledge(database)
        self._place = organisation_id, base_id
        self._embedder = embedder

    async def ask(self, query: str, vector: Vectors) -> tuple[dict[str, list[str]], float, float]:
        """The chunks of both orders, best first, and the seconds that the text search and the graph's part took."""
        started = time.perf_counter()
        judgement = await self._judge(query, vector)
        found = time.perf_counter()
        _, evidence = await self._evidence(query, judgement.hits, self._graph)
        led = time.perf_counter()
        orders = {"without": _chunks(judgement.hits), "with": await self._ordered(judgement, evidence)}
        return orders, found - started, led - found

    async def ablate(
        self, query: str, vector: Vectors
    ) -> tuple[dict[str, list[str]], dict[str, Sequence[RelationFact]]]:
        """The chunks of the orders that lack a kind of link, and the connections that are given in both orders."""
        judgement = await self._judge(query, vector)
        orders: dict[str, list[str]] = {}
        connections: dict[str, Sequence[RelationFact]] = {}
        for name, starts in ablation.ORDERS.items():
            _, evidence = await self._evidence(query, judgement.hits, ablation.StartedOtherwise(self._graph, starts))
            orders[name] = await self._ordered(judgement, evidence)
        for name in ablation.CONNECTIONS:
            with ablation.ordered_by(name):
                findings, _ = await self._evidence(query, judgement.hits, self._graph)
            connections[name] = findings.relations
        return orders, connections

    async def _judge(self, query: str, vector: Vectors) -> Judgement:
        return await self._search.judge(
            *self._place, query=query, recent="", vector=vector, embedder=self._embedder, limit=POOL
        )

    async def _evidence(self, query: str, hits: Sequence[Hit], graph: GraphReader) -> tuple[GraphFindings, list[Hit]]:
        findings, evidence, _ = await find_evidence(
            *self._place,
            query=query,
            hits=hits,
            weights=Weights(),
            graph=graph,
            knowledge=self._knowledge,
            hops=2,
            limit=CANDIDATES,
        )
        return findings, evidence

    async def _ordered(self, judgement: Judgement, evidence: Sequence[Hit]) -> list[str]:
        merged = merge([*judgement.hits, *evidence])
        unjudged = [UUID(hit["chunkId"]) for hit in merged if needs_terms(hit)]
        return _chunks(merge([*merged, *await judgement.score(unjudged)]))


def _chunks(hits: Sequence[Hit]) -> list[str]:
    return [hit["chunkId"] for hit in rerank(hits, Weights(), top=POOL)]
