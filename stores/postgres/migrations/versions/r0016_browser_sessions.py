"""Sign-ins of browsers, each standing for an API key. They end with it."""

from stores.postgres.migrations.sql import isolate, run

revision = "r0016"
down_revision = "r0015"
branch_labels = None
depends_on = None

SESSIONS = """
CREATE TABLE browser_sessions (
    organisation_id uuid NOT NULL,
    id              uuid NOT NULL,
    hash            bytea NOT NULL,
    key_id          uuid NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, hash),
    FOREIGN KEY (organisation_id, key_id) REFERENCES api_keys ON DELETE CASCADE
);
CREATE INDEX browser_sessions_by_key ON browser_sessions (organisation_id, key_id);
CREATE INDEX browser_sessions_by_end ON browser_sessions (organisation_id, expires_at);
"""


def upgrade() -> None:
    run(SESSIONS)
    isolate("browser_sessions")
