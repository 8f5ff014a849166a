"""A database in which many organisations have worked for a while, and what PostgreSQL scanned in it."""

from collections import Counter
from uuid import UUID

import psycopg

#: Each with as many bots, keys, attachments, and conversations of four messages.
ORGANISATIONS = 60
ROWS = 60
#: Organisations without any.
IDLE = 5000

_FILL = f"""
INSERT INTO organisations (id, name) SELECT gen_random_uuid(), 'crowd ' || n FROM generate_series(1, {ORGANISATIONS}) n;
CREATE TEMP TABLE spot ON COMMIT DROP AS
    SELECT o.id AS organisation_id, gen_random_uuid() AS id, n FROM organisations o, generate_series(1, {ROWS}) n;
INSERT INTO organisations (id, name) SELECT gen_random_uuid(), 'idle ' || n FROM generate_series(1, {IDLE}) n;
INSERT INTO api_keys (organisation_id, id, hash, scope)
    SELECT organisation_id, id, decode(md5(id::text), 'hex'), 'full' FROM spot;
INSERT INTO knowledge_bases (organisation_id, id, name, embedding, dimension)
    SELECT organisation_id, id, 'kb', 'test/plain', 4 FROM spot;
INSERT INTO documents (organisation_id, id, knowledge_base_id, filename, title, content_type, size, sha256,
                       storage_key, status, stage, importance)
    SELECT organisation_id, id, id, 'a.md', 'a', 'text/markdown', 1, '', '', 'ready', 'ready', 0.5 FROM spot;
INSERT INTO bots (organisation_id, id, name, model, weight_vector, weight_text, weight_importance)
    SELECT organisation_id, id, 'bot', 'local/extractive', 1, 1, 1 FROM spot;
INSERT INTO bot_knowledge_bases (organisation_id, bot_id, knowledge_base_id, position)
    SELECT organisation_id, id, id, 1 FROM spot;
INSERT INTO conversations (organisation_id, id, bot_id, title, head_message_id)
    SELECT organisation_id, id, id, 'title', md5(id::text || 4)::uuid FROM spot;
INSERT INTO messages (organisation_id, id, conversation_id, parent_id, depth, leap_id, role, content, status)
    SELECT organisation_id, md5(id::text || k)::uuid, id, CASE WHEN k > 1 THEN md5(id::text || k - 1)::uuid END,
           k - 1, CASE WHEN k > 1 THEN md5(id::text || 1)::uuid END,
           CASE WHEN k % 2 = 1 THEN 'user' ELSE 'assistant' END, 'words', 'complete'
    FROM spot, generate_series(1, 4) k ORDER BY k;
INSERT INTO message_traces (organisation_id, message_id, trace)
    SELECT organisation_id, md5(id::text || 2)::uuid, '{{}}' FROM spot;
INSERT INTO message_attachments (organisation_id, id, filename, content_type, size, sha256, storage_key, on_s3,
                                 token_hash, used_at)
    SELECT organisation_id, id, 'a.txt', 'text/plain', 1, '', '', true, '',
           CASE WHEN n % 2 = 0 THEN now() END FROM spot;
INSERT INTO attachment_uses (organisation_id, conversation_id, attachment_id)
    SELECT organisation_id, id, id FROM spot WHERE n % 2 = 0;
INSERT INTO upload_days (organisation_id, day, files) SELECT organisation_id, current_date - n, 1 FROM spot;
INSERT INTO billing_events (organisation_id, id, kind, bytes) SELECT organisation_id, id, 's3_upload', 1 FROM spot;
INSERT INTO budget_reservations (organisation_id, id, amount) SELECT organisation_id, id, 0.01 FROM spot;
INSERT INTO idempotent_requests (organisation_id, key, fingerprint, owner, status, body, created_at)
    SELECT organisation_id, id::text, '', id, 200, '{{}}', now() - n * interval '1 hour' FROM spot;
INSERT INTO checkpoints (thread_id, checkpoint_id, checkpoint)
    SELECT organisation_id || ':' || id, '1', '{{}}' FROM spot;
INSERT INTO checkpoint_blobs (thread_id, channel, version, type)
    SELECT organisation_id || ':' || id, 'c', '1', 'null' FROM spot;
INSERT INTO checkpoint_writes (thread_id, checkpoint_id, task_id, idx, channel, blob)
    SELECT organisation_id || ':' || id, '1', '1', 0, 'c', '' FROM spot;
"""


def fill(dsn: str) -> None:
    """Makes the crowd. Unlike a test's own rows, these are written past the stores."""
    with psycopg.connect(dsn) as connection:
        connection.execute(_FILL)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def somebody(dsn: str) -> tuple[UUID, UUID]:
    """An organisation, and the id that its bot, conversation, knowledge base and used attachment share."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute("SELECT organisation_id, attachment_id FROM attachment_uses LIMIT 1").fetchone()
        # Counted now: a server process that ends tells what it has read when it gets round to it.
        connection.execute("SELECT pg_stat_force_next_flush()")
    assert row is not None
    return row[0], row[1]


def scans(dsn: str) -> Counter[str]:
    """How often each table was read from its beginning to its end, for whatever reason."""
    with psycopg.connect(dsn) as connection:
        return Counter(dict(connection.execute("SELECT relname, seq_scan FROM pg_stat_user_tables").fetchall()))


def rows_read(dsn: str, table: str) -> int:
    """How many rows of the table were fetched, by scans and through indexes."""
    statement = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = %s"
    with psycopg.connect(dsn) as connection:
        row = connection.execute(statement, (table,)).fetchone()
    assert row is not None
    return int(row[0])
