"""Knowledge bases on their way to another embedding: where they are moved to, and the vectors that wait for it."""

from stores.postgres.migrations.sql import isolate, run

revision = "r0010"
down_revision = "r0009"
branch_labels = None
depends_on = None

REINDEXING = """
CREATE TABLE reindexings (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    embedding         text NOT NULL,
    dimension         integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
    image_model       text NOT NULL,
    started_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, knowledge_base_id),
    FOREIGN KEY (organisation_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE
);

CREATE TABLE next_chunk_vectors (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    chunk_id          uuid NOT NULL,
    embedding         halfvec NOT NULL,
    PRIMARY KEY (organisation_id, chunk_id),
    FOREIGN KEY (organisation_id, chunk_id) REFERENCES chunks ON DELETE CASCADE
);
CREATE INDEX next_chunk_vectors_of_knowledge_base ON next_chunk_vectors (organisation_id, knowledge_base_id);

-- Documents whose summary and pictures are embedded, as they were in this indexed revision.
CREATE TABLE next_documents (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    document_id       uuid NOT NULL,
    revision          integer NOT NULL,
    summary_embedding halfvec,
    PRIMARY KEY (organisation_id, document_id),
    FOREIGN KEY (organisation_id, document_id) REFERENCES documents ON DELETE CASCADE
);
CREATE INDEX next_documents_of_knowledge_base ON next_documents (organisation_id, knowledge_base_id);
"""


def upgrade() -> None:
    run(REINDEXING)
    isolate("reindexings", "next_chunk_vectors", "next_documents")
