"""Ingestion put together as the application does it, over any stores, with models that tests can hold and break."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from langgraph.checkpoint.memory import InMemorySaver

from graphs.ingest import IngestPorts, build_ingest_graph
from nodes.chat.state import Context
from nodes.ingest.split import Embedders
from nodes.ingest.state import Place
from nodes.ingest.summarise import Summariser
from stores.blobs.disk import DiskBlobs
from stores.memory.graph_engine import MemoryGraphEngine
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.queue import MemoryIngestQueue
from stores.memory.signals import MemorySignals
from stores.memory.staging import MemoryStaging
from stores.postgres.database import Database
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.queue import PostgresIngestQueue
from stores.postgres.queue_consumer import PostgresIngestConsumer
from stores.postgres.signals import PostgresSignals
from stores.protocols.queue import IngestConsumer, IngestQueue
from stores.protocols.signals import Signals
from stores.protocols.staging import Staging
from stores.staging import DiskStaging
from tests.support.ingestion_models import (
    DIMENSION,
    EMBEDDING,
    ByteEmbedder,
    CapitalisedWords,
    FirstSentence,
    WordEmbedder,
    nothing,
)
from tributary.domain.knowledge import Document, KnowledgeBase, Stage
from tributary.files.sandbox import Sandbox
from tributary.ingestion.batching import BatchedEmbedders
from tributary.ingestion.claims import WorkerClaims
from tributary.ingestion.departures import Departures
from tributary.ingestion.following import Following
from tributary.ingestion.local import SandboxParser
from tributary.ingestion.progress import ProgressReports
from tributary.ingestion.service import Documents
from tributary.ingestion.worker import IngestGraph, Worker


class Watched:
    """The graph's `Progress`, where a test may look and hold: `at` runs ahead of each report."""

    def __init__(self, reports: ProgressReports) -> None:
        self._reports = reports
        self.at: Callable[[Stage], Awaitable[None]] = nothing
        self.seen: list[Stage] = []

    async def __call__(self, place: Place, stage: Stage, *, within: float = 0.0) -> bool:
        self.seen.append(stage)
        await self.at(stage)
        return await self._reports(place, stage, within=within)


class Gate:
    """Holds whoever passes until it is opened."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()

    async def hold(self, _: object = None) -> None:
        self.reached.set()
        await self.opened.wait()

    async def hold_at(self, stage: Stage, wanted: Stage) -> None:
        if stage is wanted:
            await self.hold()


class InlineSandbox(Sandbox):
    """Runs in this process, for tests that have no time for children."""

    async def run(self, function: Callable[..., Any], *args: Any, timeout: float) -> Any:  # type: ignore[override]
        return function(*args)


@dataclass
class Workshop:
    """Documents, a worker, and everything between them."""

    knowledge: PostgresKnowledge | MemoryKnowledge
    graph: PostgresGraphEngine | MemoryGraphEngine
    queue: IngestQueue
    consumer: IngestConsumer
    staging: Staging
    signals: Signals
    blobs: DiskBlobs
    sandbox: Sandbox
    folder: Path
    embedder: WordEmbedder = field(default_factory=WordEmbedder)
    parser: Any = None
    images: Any = field(default_factory=ByteEmbedder)
    concurrency: int = 1
    #: In place of `embedder`, where a test wants real ones.
    embedders: Embedders | None = None
    summariser: Summariser = field(default_factory=FirstSentence)

    def __post_init__(self) -> None:
        reports = ProgressReports(writer=self.knowledge, signals=self.signals, pause=0.0)
        self.progress = Watched(reports)
        self.parser = self.parser or SandboxParser(blobs=self.blobs, sandbox=self.sandbox, folder=self.folder / "work")
        departures = Departures(self.signals)
        self.graph_of_ingestion = build_ingest_graph(self._ports()).compile()
        self.worker = Worker(
            graph=self.graph_of_ingestion,
            consumer=self.consumer,
            knowledge=self.knowledge,
            facts=self.graph,
            progress=reports,
            departures=departures,
            staging=self.staging,
            concurrency=self.concurrency,
        )
        self.documents = Documents(
            knowledge=self.knowledge,
            writer=self.knowledge,
            graph=self.graph,
            blobs=self.blobs,
            staging=self.staging,
            queue=self.queue,
            sandbox=self.sandbox,
            following=Following(knowledge=self.knowledge, signals=self.signals),
            departures=departures,
        )

    def _ports(self) -> IngestPorts:
        return IngestPorts(
            caller=lambda runtime: UUID(runtime.context.organisation_id),
            knowledge=self.knowledge,
            writer=self.knowledge,
            graph=self.graph,
            blobs=self.blobs,
            staging=self.staging,
            parser=self.parser,
            embedders=BatchedEmbedders(self.embedders or self.embedder),
            images=self.images,
            summariser=self.summariser,
            extractor=CapitalisedWords(),
            progress=self.progress,
        )

    def stepped(self, *, lease: float = 3600.0) -> IngestGraph:
        """The graph as people run it, beside the worker."""
        claims = WorkerClaims(
            knowledge=self.knowledge,
            writer=self.knowledge,
            queue=self.queue,
            staging=self.staging,
            departures=Departures(self.signals),
            progress=ProgressReports(writer=self.knowledge, signals=self.signals, pause=0.0),
            metered=lambda *_: nullcontext(),
            lease=lease,
        )
        ports = replace(self._ports(), progress=claims, claims=claims)
        return build_ingest_graph(ports).compile(checkpointer=InMemorySaver())

    async def base(self, organisation_id: UUID) -> KnowledgeBase:
        return await self.knowledge.create_knowledge_base(
            organisation_id, name="Library", description="", embedding=EMBEDDING, dimension=DIMENSION
        )

    async def add(self, base: KnowledgeBase, filename: str, content: str | bytes, **options: Any) -> Document:
        return await self.documents.add(base.organisation_id, base.id, filename, self.file(content), **options)

    async def replace(self, document: Document, filename: str, content: str | bytes) -> Document:
        return await self.documents.replace(
            document.organisation_id, document.knowledge_base_id, document.id, filename, self.file(content)
        )

    async def delete(self, document: Document) -> None:
        await self.documents.delete(document.organisation_id, document.knowledge_base_id, document.id)

    def file(self, content: str | bytes) -> Path:
        path = self.folder / "received"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    async def state(self, document: Document) -> Document:
        return await self.knowledge.document(document.organisation_id, document.knowledge_base_id, document.id)

    async def followed(self, document: Document) -> list[Document]:
        """Every state that is told, up to the one in which the document is ready or has failed."""
        names = document.organisation_id, document.knowledge_base_id, document.id
        async with asyncio.timeout(60):
            return [state async for state in self.documents.progress(*names)]

    async def settled(self, document: Document) -> Document:
        """The document when it is ready or has failed."""
        return (await self.followed(document))[-1]

    async def ingest(self, document: Document) -> dict[str, Any]:
        """Runs the graph by itself, without queue or worker."""
        names: Any = {"knowledgeBaseId": str(document.knowledge_base_id), "documentId": str(document.id)}
        return await self.graph_of_ingestion.ainvoke(
            names, context=Context(organisation_id=str(document.organisation_id))
        )

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        async with self.worker.working():
            yield


@asynccontextmanager
async def open_workshop(
    database: Database, folder: Path, *, grace: float = 0.2, **parts: Any
) -> AsyncIterator[Workshop]:
    """On PostgreSQL and a disk, with real children for parsing."""
    async with AsyncExitStack() as stack:
        sandbox = Sandbox(workers=1)
        stack.push_async_callback(asyncio.to_thread, sandbox.close)
        signals = PostgresSignals(database)
        stack.push_async_callback(signals.close)
        await signals.open()
        yield Workshop(
            knowledge=PostgresKnowledge(database),
            graph=PostgresGraphEngine(database),
            queue=PostgresIngestQueue(database),
            consumer=PostgresIngestConsumer(database, grace=grace, poll=0.1),
            staging=DiskStaging(folder / "work"),
            signals=signals,
            blobs=DiskBlobs(folder / "files"),
            sandbox=sandbox,
            folder=folder,
            **parts,
        )


def memory_workshop(folder: Path, **parts: Any) -> Workshop:
    """In memory, but for the files."""
    queue = MemoryIngestQueue()
    knowledge = MemoryKnowledge()
    return Workshop(
        knowledge=knowledge,
        graph=MemoryGraphEngine(knowledge),
        queue=queue,
        consumer=queue,
        staging=MemoryStaging(),
        signals=MemorySignals(),
        blobs=DiskBlobs(folder / "files"),
        sandbox=InlineSandbox(workers=1),
        folder=folder,
        **parts,
    )
