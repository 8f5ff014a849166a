"""What organisations spend on models: figures that outlive what they tell of, and the months' sums that budgets see."""

from stores.postgres.migrations.sql import grant, isolate, run

revision = "r0005"
down_revision = "r0004"
branch_labels = None
depends_on = None

USAGE = """
-- Calls of one model for one purpose of one turn, search or ingestion. No foreign keys to what they were made for:
-- usage stays when that is deleted.
CREATE TABLE usage_entries (
    organisation_id   uuid NOT NULL REFERENCES organisations,
    id                uuid NOT NULL,
    made_at           timestamptz NOT NULL DEFAULT now(),
    kind              text NOT NULL CHECK (kind IN ('chat', 'embedding', 'ingest')),
    model             text NOT NULL,
    bot_id            uuid,
    conversation_id   uuid,
    message_id        uuid,
    knowledge_base_id uuid,
    calls             integer NOT NULL CHECK (calls > 0),
    input_tokens      bigint NOT NULL,
    output_tokens     bigint NOT NULL,
    total_tokens      bigint NOT NULL,
    -- US dollars, of the calls whose cost is known.
    cost              numeric NOT NULL CHECK (cost >= 0),
    unpriced_calls    integer NOT NULL,
    estimated_calls   integer NOT NULL,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX usage_entries_by_time ON usage_entries (organisation_id, made_at);
CREATE INDEX usage_entries_of_conversation ON usage_entries (organisation_id, conversation_id)
    WHERE conversation_id IS NOT NULL;

-- The sums that a turn's check of the budget reads, by the first day of the month in UTC.
CREATE TABLE usage_months (
    organisation_id uuid NOT NULL REFERENCES organisations,
    month           date NOT NULL,
    cost            numeric NOT NULL,
    unpriced_calls  bigint NOT NULL,
    PRIMARY KEY (organisation_id, month)
);

-- What running turns are expected to cost.
CREATE TABLE budget_reservations (
    organisation_id uuid NOT NULL REFERENCES organisations,
    id              uuid NOT NULL,
    amount          numeric NOT NULL CHECK (amount >= 0),
    made_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, id)
);
"""

# As those of organisations: the operator's list of organisations tells what each has spent.
_OPEN_TO_UPKEEP = """
ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
CREATE POLICY of_organisation ON {table}
    USING (organisation_id = NULLIF(current_setting('app.organisation', true), '')::uuid
           OR current_setting('app.upkeep', true) = 'on')
    WITH CHECK (organisation_id = NULLIF(current_setting('app.organisation', true), '')::uuid);
"""


def upgrade() -> None:
    run(USAGE)
    isolate("usage_entries")
    for table in ("usage_months", "budget_reservations"):
        run(_OPEN_TO_UPKEEP.format(table=table))
        grant(table)
