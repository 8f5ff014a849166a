"""What a bot's owner says of its model, and whether pictures that are too large are made smaller for it."""

from stores.postgres.migrations.sql import run

revision = "r0004"
down_revision = "r0003"
branch_labels = None
depends_on = None

MODELS = """
ALTER TABLE bots
    ADD COLUMN capabilities  jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(capabilities) = 'object'),
    ADD COLUMN shrink_images boolean NOT NULL DEFAULT false;
"""


def upgrade() -> None:
    run(MODELS)
