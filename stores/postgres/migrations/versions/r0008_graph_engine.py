"""Which engine holds the graph of a knowledge base; and the order in which a person looks at one. Those that exist have
their graph in PostgreSQL; a new one's engine is settled when the first document is written to it."""

from stores.postgres.migrations.sql import run

revision = "r0008"
down_revision = "r0007"
branch_labels = None
depends_on = None

# A default that is dropped again marks the rows that are there, past their policy.
GRAPH_ENGINE = """
ALTER TABLE knowledge_bases ADD COLUMN graph_engine text DEFAULT 'postgres'
    CHECK (graph_engine IN ('postgres', 'neo4j'));
ALTER TABLE knowledge_bases ALTER COLUMN graph_engine DROP DEFAULT;
"""
LOOKING = "CREATE INDEX kg_entities_by_mentions ON kg_entities (organisation_id, knowledge_base_id, mentions DESC, id)"


def upgrade() -> None:
    run(GRAPH_ENGINE)
    run(LOOKING)
