"""Which passages are about an entity: those whose document's title or heading names it. They come first where the
passages of an entity are looked up."""

from stores.postgres.migrations.sql import run

revision = "r0006"
down_revision = "r0005"
branch_labels = None
depends_on = None

SUBJECTS = """
ALTER TABLE kg_mentions ADD COLUMN subject boolean NOT NULL DEFAULT false;
DROP INDEX kg_mentions_of_entity;
CREATE INDEX kg_mentions_of_entity ON kg_mentions (organisation_id, entity_id, subject DESC, chunk_id);
"""


def upgrade() -> None:
    run(SUBJECTS)
