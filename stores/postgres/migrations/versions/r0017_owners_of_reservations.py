"""Which process has reserved of a budget: with it goes what it reserved and never spent."""

from stores.postgres.migrations.sql import run

revision = "r0017"
down_revision = "r0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run("ALTER TABLE budget_reservations ADD COLUMN owner uuid;")
