"""What chat models read in the passages of documents: who ingests a document again pays for changed ones only."""

from stores.postgres.migrations.sql import isolate, run

revision = "r0011"
down_revision = "r0010"
branch_labels = None
depends_on = None

EXTRACTIONS = """
CREATE TABLE kg_extractions (
    organisation_id uuid NOT NULL,
    document_id     uuid NOT NULL,
    -- Of the passage, the model, and the version of what it is asked.
    passage_hash    bytea NOT NULL,
    made            text NOT NULL,
    PRIMARY KEY (organisation_id, document_id, passage_hash),
    FOREIGN KEY (organisation_id, document_id) REFERENCES documents ON DELETE CASCADE
);
"""


def upgrade() -> None:
    run(EXTRACTIONS)
    isolate("kg_extractions")
