"""The chunks of one knowledge base in the columns of a LangChain `PGVectorStore`."""

from stores.postgres.migrations.sql import run
from stores.postgres.roles import SERVING_ROLE

revision = "r0012"
down_revision = "r0011"
branch_labels = None
depends_on = None

# Read by connections that name a knowledge base, with the rights and the policies of who reads: without one, or in
# another organisation, it is empty. A text that came in by LangChain is a document of one chunk, and keeps the id (as
# its file name) and the metadata that it was given.
VIEW = """
ALTER TABLE documents ADD COLUMN langchain_metadata jsonb;

CREATE VIEW langchain_chunks WITH (security_invoker = true) AS
SELECT CASE WHEN d.langchain_metadata IS NULL THEN c.id::text ELSE d.filename END AS langchain_id,
       c.content, c.embedding,
       coalesce(d.langchain_metadata, jsonb_strip_nulls(jsonb_build_object(
           'document_id', c.document_id, 'filename', d.filename, 'title', d.title, 'heading', nullif(c.heading, ''),
           'page', c.page, 'start', c.start_offset, 'end', c.end_offset))) AS langchain_metadata
FROM chunks c
JOIN documents d ON d.organisation_id = c.organisation_id AND d.id = c.document_id
WHERE c.organisation_id = NULLIF(current_setting('app.organisation', true), '')::uuid
  AND c.knowledge_base_id = NULLIF(current_setting('app.knowledge_base', true), '')::uuid;
"""


def upgrade() -> None:
    run(VIEW)
    run(
        f"""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVING_ROLE}') THEN
                GRANT SELECT ON langchain_chunks TO {SERVING_ROLE};
            END IF;
        END $$;
        """
    )
