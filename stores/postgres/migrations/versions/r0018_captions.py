"""What chat models saw in the pictures of documents, beside what they read in passages."""

from stores.postgres.migrations.sql import run

revision = "r0018"
down_revision = "r0017"
branch_labels = None
depends_on = None

# Each kind is kept, and forgotten, without regard to the others.
CAPTIONS = """
ALTER TABLE kg_extractions ADD COLUMN kind text NOT NULL DEFAULT 'passage';
ALTER TABLE kg_extractions DROP CONSTRAINT kg_extractions_pkey;
ALTER TABLE kg_extractions ADD PRIMARY KEY (organisation_id, document_id, kind, passage_hash);
"""


def upgrade() -> None:
    run(CAPTIONS)
