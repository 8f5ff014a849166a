"""Runs of the whole retrieval graph outside a chat: all branches of several knowledge bases, met by the rerank."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from graphs.ports import RetrievalPorts
from graphs.retrieval import build_retrieval_graph
from nodes.chat.state import Context
from nodes.retrieval.state import KnowledgeBaseRef, RetrievalInput, SearchPlan, WeightsDict
from stores.protocols.attachments import AttachmentStore
from tributary.domain.attachments import MAX_FILES, AttachmentClaim, Modality
from tributary.domain.bots import Weights
from tributary.domain.errors import InvalidRequest, TooManyFiles
from tributary.domain.knowledge import Chunk, KnowledgeBase
from tributary.domain.retrieval import RankedHit
from tributary.models.metering import is_local
from tributary.spending import Spending
from tributary.turns.trace import TraceRecorder


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """What to look for, and where. `recent` are the messages before the query, oldest first."""

    organisation_id: UUID
    query: str
    knowledge_base_ids: Sequence[UUID]
    recent: Sequence[str] = ()
    attachments: Sequence[AttachmentClaim] = ()
    weights: Weights = field(default_factory=Weights)


class RetrievalRuns:
    """`ports` take the caller from a run's context."""

    def __init__(self, *, ports: RetrievalPorts, attachments: AttachmentStore, spending: Spending) -> None:
        self._knowledge = ports.knowledge
        self._attachments = attachments
        self._spending = spending
        self._graph = build_retrieval_graph(ports).compile()

    async def run(self, request: RetrievalRequest, tell: Callable[[str, Any], None]) -> Mapping[str, Any]:
        """Results as search routes give them, with maps, facts and what was left out. Tells `status` of each branch.

        Raises:
            NotFound, WrongToken: a knowledge base or a file that the caller has not.
            InvalidRequest, TooManyFiles: nothing to search for, or more files than a message takes.
            BudgetExceeded: something would be embedded by a remote model.
        """
        organisation_id = request.organisation_id
        bases, images = await asyncio.gather(
            self._knowledge.knowledge_bases(organisation_id, request.knowledge_base_ids), self._images(request)
        )
        if not request.query.strip() and not images:
            raise InvalidRequest("A search needs a query or a picture")
        paid = next((base for base in bases if not is_local(base.embedding)), bases[0])
        async with self._spending.searching(organisation_id, paid.id, paid.embedding):
            found = await self._search(organisation_id, _plan(request, bases, images), tell)
        ranked: list[RankedHit] = found.get("ranked") or []
        chunks = await self._knowledge.chunks(organisation_id, [UUID(hit["chunkId"]) for hit in ranked])
        return {
            "results": _results(ranked, chunks),
            "maps": found.get("maps") or [],
            "facts": found.get("facts") or [],
            "degraded": found.get("degraded") or [],
        }

    async def _images(self, request: RetrievalRequest) -> list[str]:
        """Storage keys of the pictures that the claims open."""
        if len(request.attachments) > MAX_FILES:
            raise TooManyFiles(f"A search takes at most {MAX_FILES} files; {len(request.attachments)} were given")
        if not request.attachments:
            return []
        found = await self._attachments.resolve(request.organisation_id, request.attachments, conversation_id=None)
        return [each.storage_key for each in found if each.file_type.modality is Modality.IMAGE]

    async def _search(
        self, organisation_id: UUID, plan: SearchPlan, tell: Callable[[str, Any], None]
    ) -> Mapping[str, Any]:
        found: Mapping[str, Any] = {}
        recorder = TraceRecorder()
        stream = self._graph.astream(
            RetrievalInput(plan=plan),
            context=Context(organisation_id=str(organisation_id)),
            stream_mode=["tasks", "values"],
            output_keys=["ranked", "maps", "facts", "degraded"],
        )
        mode: str
        chunk: Any
        async for mode, chunk in stream:
            if mode == "values":
                found = chunk
            elif (told := recorder.record(chunk)) is not None:
                tell("status", {"node": told[0], "state": told[1]})
        return found


def _plan(request: RetrievalRequest, bases: Sequence[KnowledgeBase], images: list[str]) -> SearchPlan:
    weights = request.weights
    return SearchPlan(
        query=request.query,
        recent=list(request.recent),
        knowledgeBases=[KnowledgeBaseRef(id=str(kb.id), name=kb.name, embedding=kb.embedding) for kb in bases],
        images=images,
        weights=WeightsDict(vector=weights.vector, text=weights.text, importance=weights.importance),
    )


def _results(ranked: Sequence[RankedHit], chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    by_id = {str(chunk.id): chunk for chunk in chunks}
    return [_result(hit, by_id[hit["chunkId"]]) for hit in ranked if hit["chunkId"] in by_id]


def _result(hit: RankedHit, chunk: Chunk) -> dict[str, Any]:
    return {
        "chunkId": str(chunk.id),
        "documentId": str(chunk.document_id),
        "knowledgeBaseId": hit["knowledgeBaseId"],
        "filename": chunk.filename,
        "page": chunk.page,
        "text": chunk.text,
        "score": hit["score"],
        "vectorScore": hit["vector"],
        "textScore": hit["text"],
        "importance": hit["importance"],
        "branches": hit["branches"],
        "metadata": {**chunk.metadata, "start": chunk.start, "end": chunk.end},
    }
