"""Sign-ins that are offered by a link: each is used once, and is none before."""

from stores.postgres.migrations.sql import run

revision = "r0019"
down_revision = "r0018"
branch_labels = None
depends_on = None

OFFERED = "ALTER TABLE browser_sessions ADD COLUMN offered boolean NOT NULL DEFAULT false"


def upgrade() -> None:
    run(OFFERED)
