"""The names of an entity, for finding others that share one."""

from stores.postgres.migrations.sql import run

revision = "r0007"
down_revision = "r0006"
branch_labels = None
depends_on = None

NAMES = "CREATE INDEX kg_names_of_entity ON kg_names (organisation_id, entity_id, name_key);"


def upgrade() -> None:
    run(NAMES)
