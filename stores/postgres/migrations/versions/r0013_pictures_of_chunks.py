"""Several pictures of one chunk: documents hold pictures that stand beside the same passage."""

from stores.postgres.migrations.sql import run

revision = "r0013"
down_revision = "r0012"
branch_labels = None
depends_on = None

# `number` is the picture's place among those of its document and model.
PICTURES = """
ALTER TABLE chunk_images ADD COLUMN number integer NOT NULL DEFAULT 1;
ALTER TABLE chunk_images DROP CONSTRAINT chunk_images_pkey;
ALTER TABLE chunk_images ADD PRIMARY KEY (organisation_id, chunk_id, model, number);
"""


def upgrade() -> None:
    run(PICTURES)
