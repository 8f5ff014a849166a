"""The part of the composition root that opens knowledge graphs on their engines."""

from dataclasses import dataclass

from stores.graph_engines import GraphEngines
from stores.neo4j.database import Neo4jDatabase
from stores.neo4j.graph_browsing import Neo4jGraphEngine
from stores.postgres.database import Database
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.graph_ground import PostgresGraphGround
from stores.protocols.graph_engines import Engine, GraphEngine
from tributary.knowledge_graphs import KnowledgeGraphs
from tributary.settings import Settings


@dataclass(frozen=True, slots=True)
class Graphs:
    """Knowledge graphs, wherever each is kept. `remote` is the Neo4j, where one is configured."""

    graph: GraphEngines
    whole: KnowledgeGraphs
    remote: Neo4jDatabase | None


def open_graphs(settings: Settings, database: Database) -> Graphs:
    """In PostgreSQL, and in Neo4j where that is configured. Connects to neither."""
    ground = PostgresGraphGround(database)
    engines: dict[Engine, GraphEngine] = {Engine.POSTGRES: PostgresGraphEngine(database)}
    remote = None
    if settings.neo4j_uri:
        password = settings.neo4j_password
        remote = Neo4jDatabase(
            settings.neo4j_uri,
            username=settings.neo4j_username,
            password=password.get_secret_value() if password else "",
            database=settings.neo4j_database,
            patience=settings.neo4j_patience,
        )
        engines[Engine.NEO4J] = Neo4jGraphEngine(remote, ground)
    default = Engine.NEO4J if remote else Engine.POSTGRES
    return Graphs(
        graph=GraphEngines(engines, ground, default=default),
        whole=KnowledgeGraphs(engines, placement=ground, ground=ground),
        remote=remote,
    )
