"""The queue of documents to ingest: procrastinate's tables, and how unfinished documents without a task are found."""

from alembic import op

from stores.postgres.migrations import queue_schema
from stores.postgres.migrations.sql import run
from stores.postgres.roles import SERVING_ROLE

revision = "r0003"
down_revision = "r0002"
branch_labels = None
depends_on = None

UNFINISHED = """
CREATE INDEX documents_unfinished ON documents (organisation_id, id) WHERE status IN ('queued', 'processing');

-- Documents that count as queued or at work while no job would ever finish them: a process died between the row and
-- its job, or a backup brought back the rows alone. It enters one organisation after the other, as the policies want
-- it, in one round trip; the names of locks are those of stores.postgres.queue.
CREATE FUNCTION unattended_documents()
    RETURNS TABLE (organisation_id uuid, knowledge_base_id uuid, document_id uuid, revision integer)
    LANGUAGE plpgsql
AS $$
DECLARE
    entered uuid;
BEGIN
    FOR entered IN SELECT o.id FROM organisations o LOOP
        PERFORM set_config('app.organisation', entered::text, true);
        RETURN QUERY
            SELECT d.organisation_id, d.knowledge_base_id, d.id, d.revision
            FROM documents d
            WHERE d.organisation_id = entered AND d.status IN ('queued', 'processing')
              AND NOT EXISTS (
                  SELECT FROM procrastinate_jobs j
                  WHERE j.lock = 'document ' || entered || ' ' || d.id AND j.status = 'doing'
              )
              AND NOT EXISTS (
                  SELECT FROM procrastinate_jobs j
                  WHERE j.queueing_lock = 'document ' || entered || ' ' || d.id || ' ' || d.revision
                    AND j.status = 'todo'
              );
    END LOOP;
END;
$$;
"""

GRANT = f"""
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVING_ROLE}') THEN
        GRANT EXECUTE ON FUNCTION unattended_documents() TO {SERVING_ROLE};
    END IF;
END $$;
"""


def upgrade() -> None:
    queue_schema.create(op.get_bind().connection.driver_connection)
    run(UNFINISHED)
    run(GRANT)
