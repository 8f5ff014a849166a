"""Organisations, keys, bots, knowledge bases, documents, chunks, conversations, attachments.

Every key leads with the organisation: a row can't refer to another organisation's, and each table can be
distributed by `organisation_id` (Citus) as it is.
"""

from stores.postgres.migrations.sql import grant, isolate, run

revision = "r0001"
down_revision = None
branch_labels = None
depends_on = None

ROLE = """
DO $$ BEGIN
    CREATE ROLE tributary_app NOLOGIN;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
    WHEN insufficient_privilege THEN
        RAISE NOTICE 'this role may not create roles: the owner of the tables serves, under the forced policies';
END $$;
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'tributary_app') THEN
        EXECUTE format('GRANT tributary_app TO %I', current_user);
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO tributary_app', current_schema());
    END IF;
EXCEPTION
    WHEN insufficient_privilege THEN NULL;
END $$;
CREATE EXTENSION IF NOT EXISTS vector;
"""

IDENTITY = """
CREATE TABLE organisations (
    id             uuid PRIMARY KEY,
    name           text NOT NULL UNIQUE CHECK (name <> ''),
    quota_bytes    bigint CHECK (quota_bytes >= 0),
    files_per_day  integer CHECK (files_per_day >= 0),
    monthly_budget numeric(14, 4) CHECK (monthly_budget >= 0),
    created_at     timestamptz NOT NULL DEFAULT now()
);
-- Upkeep and the operator's commands name organisations before they enter one; a caller's transaction never
-- sets app.upkeep, so it sees its own row alone.
ALTER TABLE organisations ENABLE ROW LEVEL SECURITY;
ALTER TABLE organisations FORCE ROW LEVEL SECURITY;
CREATE POLICY of_organisation ON organisations
    USING (id = NULLIF(current_setting('app.organisation', true), '')::uuid
           OR current_setting('app.upkeep', true) = 'on');

CREATE TABLE api_keys (
    organisation_id uuid NOT NULL REFERENCES organisations,
    id              uuid NOT NULL,
    hash            bytea NOT NULL,
    scope           text NOT NULL CHECK (scope IN ('full', 'chat')),
    created_at      timestamptz NOT NULL DEFAULT now(),
    revoked_at      timestamptz,
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, hash)
);
"""

KNOWLEDGE = """
CREATE TABLE knowledge_bases (
    organisation_id uuid NOT NULL REFERENCES organisations,
    id              uuid NOT NULL,
    name            text NOT NULL,
    description     text NOT NULL DEFAULT '',
    embedding       text NOT NULL,
    dimension       integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, id)
);

CREATE TABLE documents (
    organisation_id   uuid NOT NULL,
    id                uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    filename          text NOT NULL,
    title             text NOT NULL,
    content_type      text NOT NULL,
    size              bigint NOT NULL,
    sha256            text NOT NULL,
    storage_key       text NOT NULL,
    status            text NOT NULL CHECK (status IN ('queued', 'processing', 'ready', 'failed')),
    stage             text NOT NULL,
    progress          real NOT NULL DEFAULT 0,
    importance        real NOT NULL CHECK (importance BETWEEN 0 AND 1),
    revision          integer NOT NULL DEFAULT 1,
    -- The revision that the stored chunks were made from; 0 before the first is written.
    indexed_revision  integer NOT NULL DEFAULT 0,
    error             jsonb,
    summary           text NOT NULL DEFAULT '',
    summary_embedding halfvec,
    topics            text[] NOT NULL DEFAULT '{}',
    type              text NOT NULL DEFAULT '',
    -- Sums over the document's chunks, in analysed terms: what BM25 needs of a collection's size.
    chunk_count       integer NOT NULL DEFAULT 0,
    term_count        bigint NOT NULL DEFAULT 0,
    created_at        timestamptz NOT NULL DEFAULT now(),
    updated_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, knowledge_base_id, id),
    FOREIGN KEY (organisation_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE
);

-- The size of a collection, read for every question, and the bytes that count against a quota: index-only scans
-- instead of rows with their summaries.
CREATE INDEX documents_sizes ON documents (organisation_id, knowledge_base_id)
    INCLUDE (id, chunk_count, term_count, size);

CREATE TABLE document_texts (
    organisation_id uuid NOT NULL,
    document_id     uuid NOT NULL,
    content         text NOT NULL,
    pages           jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (organisation_id, document_id),
    FOREIGN KEY (organisation_id, document_id) REFERENCES documents ON DELETE CASCADE
);

CREATE TABLE chunks (
    organisation_id   uuid NOT NULL,
    id                uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    document_id       uuid NOT NULL,
    ordinal           integer NOT NULL,
    content           text NOT NULL,
    heading           text NOT NULL DEFAULT '',
    start_offset      integer NOT NULL,
    end_offset        integer NOT NULL,
    page              integer,
    term_count        integer NOT NULL,
    embedding         halfvec NOT NULL,
    metadata          jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (organisation_id, id),
    UNIQUE (organisation_id, document_id, ordinal),
    FOREIGN KEY (organisation_id, knowledge_base_id, document_id)
        REFERENCES documents (organisation_id, knowledge_base_id, id) ON DELETE CASCADE
);
-- Vectors stay in the row and texts leave it, so that an exact scan of a knowledge base reads a narrow heap:
-- a TOASTed vector makes the scan ten times slower and hides its cost from the planner.
ALTER TABLE chunks ALTER COLUMN embedding SET STORAGE PLAIN;
ALTER TABLE chunks ALTER COLUMN content SET STORAGE EXTENDED;
ALTER TABLE chunks SET (toast_tuple_target = 128);
CREATE INDEX chunks_of_knowledge_base ON chunks (organisation_id, knowledge_base_id);

-- The inverted index: one row for each term of a document. Rows of a document, not of a chunk, keep it small, and
-- give the document's own BM25 from the same rows. Scoring needs no other table: a posting is one number, the
-- chunk's ordinal << 32, the term's frequency in it << 16, the chunk's length in terms; beside the postings stand
-- the sum of the frequencies and the document's length.
--
-- By far the most rows of all tables, so they cost as little as can be: no unique key, so that an index holds equal
-- keys once (a fifth of the size), and no foreign key, whose check a row is half of the time of writing. Rows are
-- written under the lock of their document's row, and go with it by the trigger.
CREATE TABLE chunk_postings (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    document_id       uuid NOT NULL,
    frequency         integer NOT NULL,
    document_terms    integer NOT NULL,
    term              text COLLATE "C" NOT NULL,
    postings          bigint[] NOT NULL
);
CREATE INDEX chunk_postings_of_term ON chunk_postings (organisation_id, knowledge_base_id, term);
CREATE INDEX chunk_postings_of_document ON chunk_postings (organisation_id, document_id);

CREATE FUNCTION delete_postings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM chunk_postings p USING gone
    WHERE p.organisation_id = gone.organisation_id AND p.document_id = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER delete_postings AFTER DELETE ON documents
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_postings();

CREATE TABLE chunk_images (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    chunk_id          uuid NOT NULL,
    model             text NOT NULL,
    embedding         halfvec NOT NULL,
    PRIMARY KEY (organisation_id, chunk_id, model),
    FOREIGN KEY (organisation_id, chunk_id) REFERENCES chunks ON DELETE CASCADE
);
ALTER TABLE chunk_images ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE INDEX chunk_images_of_knowledge_base ON chunk_images (organisation_id, knowledge_base_id, model);
"""

CHAT = """
CREATE TABLE bots (
    organisation_id   uuid NOT NULL REFERENCES organisations,
    id                uuid NOT NULL,
    name              text NOT NULL,
    prompt            text NOT NULL DEFAULT '',
    model             text NOT NULL,
    weight_vector     double precision NOT NULL CHECK (weight_vector >= 0),
    weight_text       double precision NOT NULL CHECK (weight_text >= 0),
    weight_importance double precision NOT NULL CHECK (weight_importance >= 0),
    created_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, id)
);

CREATE TABLE bot_knowledge_bases (
    organisation_id   uuid NOT NULL,
    bot_id            uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    position          integer NOT NULL,
    PRIMARY KEY (organisation_id, bot_id, knowledge_base_id),
    FOREIGN KEY (organisation_id, bot_id) REFERENCES bots ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE
);

CREATE TABLE conversations (
    organisation_id uuid NOT NULL,
    id              uuid NOT NULL,
    bot_id          uuid NOT NULL,
    title           text NOT NULL,
    -- The last message of the active branch.
    head_message_id uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, id),
    FOREIGN KEY (organisation_id, bot_id) REFERENCES bots
);
CREATE INDEX conversations_of_bot ON conversations (organisation_id, bot_id, id);

CREATE TABLE messages (
    organisation_id uuid NOT NULL,
    id              uuid NOT NULL,
    conversation_id uuid NOT NULL,
    parent_id       uuid,
    -- Messages before this one on its branch, and the nearest of them whose depth is a multiple of 64: with these
    -- a page of a long branch is found in a few steps, whatever was edited since.
    depth           integer NOT NULL,
    leap_id         uuid,
    role            text NOT NULL CHECK (role IN ('user', 'assistant')),
    content         text NOT NULL,
    status          text NOT NULL CHECK (status IN ('complete', 'running', 'stopped', 'interrupted', 'failed')),
    attachments     jsonb NOT NULL DEFAULT '[]',
    sources         jsonb NOT NULL DEFAULT '[]',
    usage           jsonb,
    model           text,
    details         jsonb NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- No foreign key for parent_id, which is only ever taken from the same conversation: deleting a conversation would
    -- look for the children of each of its messages, and with a plan from when the table was small, among all of them.
    PRIMARY KEY (organisation_id, id),
    -- With the id, so that it also is the right index, in the eyes of a planner without statistics, for one message.
    UNIQUE (organisation_id, conversation_id, id),
    FOREIGN KEY (organisation_id, conversation_id) REFERENCES conversations ON DELETE CASCADE
);
-- The fence behind the queue of turns: however a turn was started, a conversation has one at a time.
CREATE UNIQUE INDEX one_running_turn ON messages (organisation_id, conversation_id) WHERE status = 'running';

CREATE TABLE message_traces (
    organisation_id uuid NOT NULL,
    message_id      uuid NOT NULL,
    trace           jsonb NOT NULL,
    PRIMARY KEY (organisation_id, message_id),
    FOREIGN KEY (organisation_id, message_id) REFERENCES messages ON DELETE CASCADE
);

CREATE TABLE message_attachments (
    organisation_id uuid NOT NULL REFERENCES organisations,
    id              uuid NOT NULL,
    filename        text NOT NULL,
    content_type    text NOT NULL,
    size            bigint NOT NULL,
    sha256          text NOT NULL,
    storage_key     text NOT NULL,
    on_s3           boolean NOT NULL,
    token_hash      bytea NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    -- When a message first used it.
    used_at         timestamptz,
    PRIMARY KEY (organisation_id, id)
);
CREATE INDEX message_attachments_unused ON message_attachments (organisation_id, created_at) WHERE used_at IS NULL;
-- What the quota in bytes sums, as an index-only scan; of documents, documents_sizes.
CREATE INDEX message_attachments_bytes ON message_attachments (organisation_id) INCLUDE (size);

-- Which conversations used an attachment: its token opens it in any number of them, and it lives until the last one
-- is deleted.
CREATE TABLE attachment_uses (
    organisation_id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    attachment_id   uuid NOT NULL,
    PRIMARY KEY (organisation_id, conversation_id, attachment_id),
    FOREIGN KEY (organisation_id, conversation_id) REFERENCES conversations ON DELETE CASCADE,
    FOREIGN KEY (organisation_id, attachment_id) REFERENCES message_attachments
);
CREATE INDEX attachment_uses_of_attachment ON attachment_uses (organisation_id, attachment_id);

-- Files uploaded on a UTC day. Counted up and never down: deleting a file makes no room for another one that day.
CREATE TABLE upload_days (
    organisation_id uuid NOT NULL REFERENCES organisations,
    day             date NOT NULL,
    files           integer NOT NULL,
    PRIMARY KEY (organisation_id, day)
);

CREATE TABLE billing_events (
    organisation_id uuid NOT NULL REFERENCES organisations,
    id              uuid NOT NULL,
    kind            text NOT NULL,
    bytes           bigint NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, id)
);

CREATE TABLE idempotent_requests (
    organisation_id uuid NOT NULL REFERENCES organisations,
    -- The route with the caller's key: the same key on another route is another request.
    key             text NOT NULL,
    fingerprint     bytea NOT NULL,
    -- The process at work on it: one that was taken for dead and comes back must not touch its successor's entry.
    owner           uuid NOT NULL,
    -- Null while the first request is at work.
    status          integer,
    body            jsonb,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, key)
);
CREATE INDEX idempotent_requests_by_time ON idempotent_requests (organisation_id, created_at);
"""


def upgrade() -> None:
    run(ROLE)
    run(IDENTITY)
    run(KNOWLEDGE)
    run(CHAT)
    grant("organisations")
    isolate(
        "api_keys",
        "knowledge_bases",
        "documents",
        "document_texts",
        "chunks",
        "chunk_postings",
        "chunk_images",
        "bots",
        "bot_knowledge_bases",
        "conversations",
        "messages",
        "message_traces",
        "message_attachments",
        "attachment_uses",
        "upload_days",
        "billing_events",
        "idempotent_requests",
    )
