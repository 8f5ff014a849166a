"""Keys of entities backwards: a name that a question spells wrong is found by its first or by its last half."""

from stores.postgres.migrations.sql import run

revision = "r0020"
down_revision = "r0019"
branch_labels = None
depends_on = None

# A column, since an expression may not use its index under a policy.
BACKWARDS = """
ALTER TABLE kg_entities ADD COLUMN backwards text COLLATE "C" GENERATED ALWAYS AS (reverse(key)) STORED;
CREATE INDEX kg_entities_backwards ON kg_entities (organisation_id, knowledge_base_id, backwards);
"""


def upgrade() -> None:
    run(BACKWARDS)
