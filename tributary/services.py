"""The composition root: opens pools, stores and models in their order, and closes them in reverse."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from langgraph.runtime import Runtime

from graphs.chat import build_chat_graph
from graphs.ingest import IngestPorts
from graphs.ports import ChatPorts, RetrievalPorts
from nodes.chat.state import CallerOf, Context
from stores.graph_engines import GraphEngines
from stores.postgres.attachments import PostgresAttachments
from stores.postgres.bots import PostgresBots
from stores.postgres.checkpoints import Checkpoints
from stores.postgres.conversations import PostgresConversations
from stores.postgres.database import Database, sizes_of
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.health import PostgresHealth
from stores.postgres.idempotency import PostgresIdempotency
from stores.postgres.identity import PostgresIdentity
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.migrate import migrate
from stores.postgres.own_indexes import PostgresOwnIndexes
from stores.postgres.search import PostgresSearch
from stores.postgres.sessions import PostgresSessions
from stores.postgres.signals import PostgresSignals
from stores.postgres.turns import PostgresTurnQueue
from stores.postgres.usage import PostgresUsage
from stores.postgres.word_counts import PostgresWordCounts
from stores.protocols.blobs import BlobStore
from stores.protocols.bots import BotStore
from stores.protocols.conversations import ConversationStore, TurnQueue
from stores.protocols.idempotency import IdempotencyStore
from stores.protocols.identity import IdentityStore
from stores.protocols.usage import UsageLedger
from tributary import __version__
from tributary.assembly import caller_of_context, local_chat_model, open_blobs, open_ingestion, open_reindexing
from tributary.backup.marks import require_whole
from tributary.changes import Changes
from tributary.completion_assembly import open_completions
from tributary.completions import Completions
from tributary.files.pictures import PreparedPictures
from tributary.files.sandbox import Sandbox
from tributary.graph_assembly import Graphs, open_graphs
from tributary.indexing import IndexTending
from tributary.ingestion.departures import Departures
from tributary.ingestion.pages import PageImages
from tributary.ingestion.service import Documents
from tributary.ingestion.worker import Worker
from tributary.knowledge import KnowledgeBases
from tributary.knowledge_graphs import KnowledgeGraphs
from tributary.models.capabilities import ModelCapabilities
from tributary.models.chat import ChatModels
from tributary.models.embedding_check import check_embedding
from tributary.models.embeddings import ImageEmbedders, QueryCache, TextEmbedders
from tributary.models.gateway import ModelGateway
from tributary.models.local.onnx_runtime import return_free_memory
from tributary.models.pricing import Prices
from tributary.readiness import Check, Dependencies
from tributary.reindexing import Reindexing
from tributary.retrieval import Retrieval
from tributary.retrieval_runs import RetrievalRuns
from tributary.settings import Settings
from tributary.sign_in import SignIn
from tributary.spending import Spending
from tributary.telemetry.gauges import Gauges
from tributary.telemetry.tracing import tracing
from tributary.turns.relaying import Relays
from tributary.turns.runner import CheckpointedGraph, Turns
from tributary.turns.stops import Stops
from tributary.upkeep import ConversationRemoval, Upkeep
from tributary.uploads import Uploads

#: Seconds without a document after which readers end and the server gives back what ingestion took: 75 MB together.
WORKSHOP_REST = 10.0


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that routes, commands and notebooks call. Made by `open_services`."""

    settings: Settings
    #: The connection string of the database that is served from, the embedded one included.
    database_url: str
    identity: IdentityStore
    sign_in: SignIn
    bots: BotStore
    conversations: ConversationStore
    queue: TurnQueue
    idempotency: IdempotencyStore
    usage: UsageLedger
    knowledge: PostgresKnowledge
    knowledge_bases: KnowledgeBases
    graph: GraphEngines
    graphs: KnowledgeGraphs
    documents: Documents
    pages: PageImages
    uploads: Uploads
    models: ChatModels
    retrieval: Retrieval
    retrieval_runs: RetrievalRuns
    turns: Turns
    relays: Relays
    changes: Changes
    completions: Completions
    removal: ConversationRemoval
    upkeep: Upkeep
    worker: Worker
    reindexing: Reindexing
    indexing: IndexTending
    chat_ports: ChatPorts
    #: For runs that no worker makes: each claims its document first.
    ingest_ports: IngestPorts
    #: What `/readyz` asks, and what `/metrics` tells.
    dependencies: Dependencies
    gauges: Gauges


def acting_as(organisation_id: UUID) -> CallerOf:
    """A caller for graphs that no request stands behind: always this organisation, whatever a run is told."""

    def caller(_: Runtime[Context]) -> UUID:
        return organisation_id

    return caller


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database, migrated and open: the one of `DATABASE_URL`, else the embedded one of the data folder.

    Raises:
        DependencyUnavailable: it can't be reached, or is too old.
        Conflict: a newer version wrote it, or a restore into the data folder is not done.
    """
    async with AsyncExitStack() as stack:
        serving = settings.database_url.get_secret_value() if settings.database_url else ""
        if not serving:
            require_whole(settings.data)
            embedded = EmbeddedPostgres(settings.data / "postgres")
            serving = await asyncio.to_thread(embedded.start)
            stack.push_async_callback(asyncio.to_thread, embedded.stop)
        admin = settings.database_admin_url.get_secret_value() if settings.database_admin_url else serving
        access = await migrate(admin, serving)
        database = Database(serving, role=access.role, pool_size=settings.database_pool_size, admin_dsn=admin)
        stack.push_async_callback(database.close)
        await database.open()
        yield database


@asynccontextmanager
async def open_identity(settings: Settings) -> AsyncIterator[IdentityStore]:
    """Organisations and keys alone, for commands that need nothing else."""
    async with open_database(settings) as database:
        yield PostgresIdentity(database)


@asynccontextmanager
async def open_sign_in(settings: Settings) -> AsyncIterator[tuple[IdentityStore, SignIn]]:
    """The same, with sign-ins of browsers."""
    async with open_database(settings) as database:
        identity = PostgresIdentity(database)
        yield identity, _sign_in(settings, identity, database)


@asynccontextmanager
async def open_accounts(settings: Settings) -> AsyncIterator[tuple[IdentityStore, UsageLedger]]:
    """The same, with what organisations spend."""
    async with open_database(settings) as database:
        yield PostgresIdentity(database), PostgresUsage(database)


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Everything. Models are loaded at their first use.

    Raises:
        DependencyUnavailable: the database can't be reached, or is too old.
        Conflict: a newer version wrote the database.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(tracing(settings.traces_endpoint, version=__version__))
        database = await stack.enter_async_context(open_database(settings))
        yield await _assemble(settings, database, stack)


async def _assemble(settings: Settings, database: Database, stack: AsyncExitStack) -> Services:
    await asyncio.to_thread(_make_folders, settings)
    # Two of them: a document that takes minutes to read must not keep uploads waiting.
    sandbox, workshop = Sandbox(), Sandbox(niceness=10, rest=WORKSHOP_REST, at_rest=return_free_memory)
    stack.push_async_callback(asyncio.to_thread, sandbox.close)
    stack.push_async_callback(asyncio.to_thread, workshop.close)
    embedders = TextEmbedders(settings)
    stack.push_async_callback(embedders.aclose)
    models = ChatModels(settings, local_chat_model(embedders))
    stack.push_async_callback(models.aclose)
    capabilities = ModelCapabilities(settings, models.profile)
    stack.push_async_callback(capabilities.aclose)
    signals = PostgresSignals(database)
    stack.push_async_callback(signals.close)
    await signals.open()
    queue = PostgresTurnQueue(database.dsn, database.role)
    stack.push_async_callback(queue.close)
    await queue.open()
    checkpoints = Checkpoints(database.dsn, role=database.role)
    stack.push_async_callback(checkpoints.close)
    await checkpoints.open()
    graphs = open_graphs(settings, database)
    if graphs.remote is not None:
        stack.push_async_callback(graphs.remote.close)
    services = _wire(
        settings, database, sandbox, workshop, embedders, models, capabilities, signals, queue, checkpoints, graphs
    )
    stack.push_async_callback(services.relays.close)
    return services


def _dependencies(settings: Settings, health: PostgresHealth, blobs: BlobStore, graphs: Graphs) -> Dependencies:
    needed: dict[str, Check] = {"postgresql": health.reachable, "migrations": health.migrated}
    needed["s3" if settings.s3_bucket else "files"] = blobs.check
    # Without these, answers say what they lack, and documents wait.
    useful: dict[str, Check] = {"embedder": lambda: check_embedding(settings), "worker": health.worked}
    if graphs.remote is not None:
        useful["neo4j"] = graphs.remote.check
    return Dependencies(needed, useful)


def _sign_in(settings: Settings, identity: IdentityStore, database: Database) -> SignIn:
    lifetime = timedelta(hours=settings.session_hours)
    return SignIn(identity=identity, sessions=PostgresSessions(database), lifetime=lifetime)


def _make_folders(settings: Settings) -> None:
    for folder in (settings.files, settings.files / "incoming", settings.data / "work"):
        folder.mkdir(parents=True, exist_ok=True)


def _wire(
    settings: Settings,
    database: Database,
    sandbox: Sandbox,
    workshop: Sandbox,
    embedders: TextEmbedders,
    models: ChatModels,
    capabilities: ModelCapabilities,
    signals: PostgresSignals,
    queue: PostgresTurnQueue,
    checkpoints: Checkpoints,
    graphs: Graphs,
) -> Services:
    blobs = open_blobs(settings)
    images = ImageEmbedders(embedders)
    queries = QueryCache(embedders)
    identity, bots = PostgresIdentity(database), PostgresBots(database)
    attachments, conversations = PostgresAttachments(database), PostgresConversations(database, queue)
    knowledge, search, graph = PostgresKnowledge(database), PostgresSearch(database), graphs.graph
    idempotency = PostgresIdempotency(database, owner=queue.process_id)
    uploads = Uploads(attachments=attachments, blobs=blobs, sandbox=sandbox, incoming=settings.files / "incoming")
    stops = Stops(signals)
    gateway = ModelGateway(models=models, capabilities=capabilities, timeout=settings.provider_timeout)
    usage = PostgresUsage(database, owner=queue.process_id)
    spending = Spending(ledger=usage, prices=Prices(settings.prices, capabilities.price), learn=capabilities.of)
    ports = ChatPorts(
        retrieval=RetrievalPorts(
            caller=caller_of_context,
            knowledge=knowledge,
            search=search,
            graph=graph,
            blobs=blobs,
            queries=queries,
            images=images,
            branch_timeout=settings.branch_timeout,
        ),
        bots=bots,
        conversations=conversations,
        attachments=attachments,
        pictures=PreparedPictures(sandbox),
        models=gateway,
        stops=stops,
        budget=spending,
        meter=spending.turn_meter,
    )
    turns = Turns(
        graph=CheckpointedGraph(build_chat_graph(ports).compile(), checkpoints.saver),
        conversations=conversations,
        queue=queue,
        stops=stops,
        queue_timeout=settings.queue_timeout,
        meter=spending.turn_meter,
    )
    health = PostgresHealth(database)
    departures = Departures(signals)
    documents, worker, ingest_ports = open_ingestion(
        settings,
        database,
        sandbox,
        workshop,
        embedders,
        blobs,
        knowledge,
        graph,
        signals,
        departures,
        images,
        spending,
        gateway,
    )
    return Services(
        settings=settings,
        database_url=database.dsn,
        identity=identity,
        sign_in=_sign_in(settings, identity, database),
        bots=bots,
        conversations=conversations,
        queue=queue,
        idempotency=idempotency,
        usage=usage,
        knowledge=knowledge,
        knowledge_bases=KnowledgeBases(
            writer=knowledge,
            graph=graph,
            blobs=blobs,
            embedders=embedders,
            default_embedding=settings.embedding,
            departures=departures,
        ),
        graph=graph,
        graphs=graphs.whole,
        documents=documents,
        pages=PageImages(knowledge=knowledge, blobs=blobs, sandbox=sandbox, folder=settings.data / "work" / "pages"),
        uploads=uploads,
        models=models,
        retrieval=Retrieval(
            knowledge=knowledge, search=search, graph=graph, queries=queries, images=images, spending=spending
        ),
        retrieval_runs=RetrievalRuns(ports=ports.retrieval, attachments=attachments, spending=spending),
        turns=turns,
        relays=Relays(signals=signals, queue=queue, conversations=conversations, running=turns.running),
        changes=Changes(signals),
        completions=open_completions(settings, ports, usage, sandbox, stops, spending),
        removal=ConversationRemoval(
            conversations=conversations,
            uploads=uploads,
            keep_files=settings.keep_files_of_deleted_conversations,
        ),
        upkeep=Upkeep(
            identity=identity,
            conversations=conversations,
            idempotency=idempotency,
            uploads=uploads,
            graphs=graphs.whole,
            unused_hours=settings.unused_attachment_hours,
        ),
        worker=worker,
        reindexing=open_reindexing(settings, database, workshop, embedders, blobs, knowledge, images, spending),
        indexing=IndexTending(PostgresOwnIndexes(database, database.admin_dsn), PostgresWordCounts(database)),
        chat_ports=ports,
        ingest_ports=ingest_ports,
        dependencies=_dependencies(settings, health, blobs, graphs),
        gauges=Gauges(
            lambda: {"stores": sizes_of(database.pool), "checkpoints": checkpoints.sizes()}, health.queue_depth
        ),
    )
