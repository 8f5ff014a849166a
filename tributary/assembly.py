"""Parts of the composition root: files, the built-in model, and ingestion, each on its backends."""

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from langchain_core.language_models import BaseChatModel
from langgraph.runtime import Runtime

from graphs.ingest import IngestPorts, build_ingest_graph
from nodes.chat.state import Context
from nodes.ingest.extract import GraphExtractor
from nodes.ingest.parse import DocumentParser
from nodes.ingest.summarise import Summariser
from stores.blobs.disk import DiskBlobs
from stores.blobs.s3 import S3Blobs
from stores.postgres.database import Database
from stores.postgres.extractions import PICTURE, PostgresExtractions
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.queue import PostgresIngestQueue
from stores.postgres.queue_consumer import PostgresIngestConsumer
from stores.postgres.reindexing import PostgresReindexing
from stores.postgres.signals import PostgresSignals
from stores.protocols.blobs import BlobStore
from stores.protocols.graph import GraphWriter
from stores.recent_staging import RecentStaging
from stores.staging import DiskStaging
from tributary.files.sandbox import Sandbox
from tributary.ingestion.batching import BatchedEmbedders
from tributary.ingestion.claims import WorkerClaims
from tributary.ingestion.departures import Departures
from tributary.ingestion.described import DescribingParser
from tributary.ingestion.following import Following
from tributary.ingestion.local import LocalExtractor, LocalSummariser, SandboxParser
from tributary.ingestion.model_captions import CaptionModel
from tributary.ingestion.model_extraction import ModelExtractor
from tributary.ingestion.model_summaries import ModelSummariser
from tributary.ingestion.pictures import StoredPictures
from tributary.ingestion.progress import ProgressReports
from tributary.ingestion.service import Documents
from tributary.ingestion.worker import Worker
from tributary.models.embeddings import TextEmbedders
from tributary.models.gateway import ModelGateway
from tributary.models.protocols import ImageSpaces
from tributary.reindexing import Reindexing
from tributary.settings import E5, EXTRACTIVE, Settings
from tributary.spending import Spending


def caller_of_context(runtime: Runtime[Context]) -> UUID:
    """The organisation that the server put into the run's context, from the authenticated request."""
    return UUID(runtime.context.organisation_id)


def local_chat_model(embedders: TextEmbedders) -> Callable[[], BaseChatModel]:
    """The built-in model. It compares meanings with the local embedder, whatever the knowledge bases use."""

    def build() -> BaseChatModel:
        from tributary.models.local.extractive.model import ExtractiveChatModel

        return ExtractiveChatModel(embedder=embedders.embedder(E5))

    return build


def open_reindexing(
    settings: Settings,
    database: Database,
    workshop: Sandbox,
    embedders: TextEmbedders,
    blobs: BlobStore,
    knowledge: PostgresKnowledge,
    images: ImageSpaces,
    spending: Spending,
) -> Reindexing:
    """What moves knowledge bases to another embedding."""
    parser = _parser(settings, database, workshop, blobs, None)
    return Reindexing(
        knowledge=knowledge,
        store=PostgresReindexing(database),
        embedders=embedders,
        images=images,
        pictures=StoredPictures(blobs=blobs, parser=parser),
        metered=spending.ingesting,
    )


def open_blobs(settings: Settings) -> BlobStore:
    """Files on the disk, with a copy on S3 where that is configured."""
    local = DiskBlobs(settings.files)
    if not settings.s3_bucket:
        return local
    secret = settings.s3_secret_access_key
    return S3Blobs(
        local,
        bucket=settings.s3_bucket,
        endpoint=settings.s3_endpoint_url,
        region=settings.s3_region,
        access_key_id=settings.s3_access_key_id,
        secret_access_key=secret.get_secret_value() if secret else None,
    )


def _parser(
    settings: Settings,
    database: Database,
    workshop: Sandbox,
    blobs: BlobStore,
    model: CaptionModel | None,
) -> DocumentParser:
    """Without a model pictures have the captions that they were given once."""
    parser = SandboxParser(blobs=blobs, sandbox=workshop, folder=settings.data / "work")
    if settings.ingest_model == EXTRACTIVE:
        return parser
    return DescribingParser(
        parser,
        name=settings.ingest_model,
        model=model,
        cache=PostgresExtractions(database, PICTURE),
        blobs=blobs,
        sandbox=workshop,
    )


def _summariser(settings: Settings, workshop: Sandbox, models: ModelGateway) -> Summariser:
    local = LocalSummariser(workshop)
    if settings.ingest_model == EXTRACTIVE:
        return local
    return ModelSummariser(models=models, model=settings.ingest_model, local=local)


def _extractor(
    settings: Settings, database: Database, workshop: Sandbox, models: ModelGateway, spending: Spending
) -> GraphExtractor:
    local = LocalExtractor(workshop)
    if settings.ingest_model == EXTRACTIVE:
        return local
    return ModelExtractor(
        models=models,
        model=settings.ingest_model,
        local=local,
        cache=PostgresExtractions(database),
        cost=spending.estimate,
    )


def open_ingestion(
    settings: Settings,
    database: Database,
    sandbox: Sandbox,
    workshop: Sandbox,
    embedders: TextEmbedders,
    blobs: BlobStore,
    knowledge: PostgresKnowledge,
    graph: GraphWriter,
    signals: PostgresSignals,
    departures: Departures,
    images: ImageSpaces,
    spending: Spending,
    models: ModelGateway,
) -> tuple[Documents, Worker, IngestPorts]:
    """What takes documents in, what works on them, and the ports of runs that people make beside the workers."""
    queue = PostgresIngestQueue(database)
    staging = RecentStaging(DiskStaging(settings.data / "work"))
    progress = ProgressReports(writer=knowledge, signals=signals)
    captions = CaptionModel(models=models, model=settings.ingest_model, cost=spending.estimate)
    ports = IngestPorts(
        caller=caller_of_context,
        knowledge=knowledge,
        writer=knowledge,
        graph=graph,
        blobs=blobs,
        staging=staging,
        parser=_parser(settings, database, workshop, blobs, captions),
        embedders=BatchedEmbedders(embedders),
        images=images,
        summariser=_summariser(settings, workshop, models),
        extractor=_extractor(settings, database, workshop, models, spending),
        progress=progress,
    )
    documents = Documents(
        knowledge=knowledge,
        writer=knowledge,
        graph=graph,
        blobs=blobs,
        staging=staging,
        queue=queue,
        sandbox=sandbox,
        following=Following(knowledge=knowledge, signals=signals),
        departures=departures,
    )
    worker = Worker(
        graph=build_ingest_graph(ports).compile(),
        consumer=PostgresIngestConsumer(database),
        knowledge=knowledge,
        facts=graph,
        progress=progress,
        departures=departures,
        staging=staging,
        concurrency=max(1, settings.workers),
        metered=spending.ingesting,
    )
    claims = WorkerClaims(
        knowledge=knowledge,
        writer=knowledge,
        queue=queue,
        staging=staging,
        departures=departures,
        progress=progress,
        metered=spending.ingesting,
    )
    return documents, worker, replace(ports, progress=claims, claims=claims)
