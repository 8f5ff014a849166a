"""Databases as earlier versions left them."""

from uuid import UUID, uuid4

import psycopg
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from stores.postgres.migrate import VERSIONS

_R0003 = """
INSERT INTO organisations (id, name) VALUES (%(acme)s, 'acme');
INSERT INTO bots (organisation_id, id, name, model, weight_vector, weight_text, weight_importance)
    VALUES (%(acme)s, %(id)s, 'bot', 'local/extractive', 0.6, 0.25, 0.15);
INSERT INTO conversations (organisation_id, id, bot_id, title, head_message_id)
    VALUES (%(acme)s, %(id)s, %(id)s, 'Why?', %(id)s);
INSERT INTO messages (organisation_id, id, conversation_id, depth, role, content, status)
    VALUES (%(acme)s, %(id)s, %(id)s, 0, 'user', 'Why?', 'complete');
INSERT INTO knowledge_bases (organisation_id, id, name, embedding, dimension)
    VALUES (%(acme)s, %(id)s, 'kb', 'test/plain', 4);
INSERT INTO documents (organisation_id, id, knowledge_base_id, filename, title, content_type, size, sha256, storage_key,
                       status, stage, importance, revision, indexed_revision, chunk_count, term_count)
    VALUES (%(acme)s, %(id)s, %(id)s, 'a.md', 'a', 'text/markdown', 8, '', 'documents/a/1', 'ready', 'ready', 0.5, 1, 1,
            1, 2);
INSERT INTO document_texts (organisation_id, document_id, content) VALUES (%(acme)s, %(id)s, 'The file.');
INSERT INTO chunks (organisation_id, id, knowledge_base_id, document_id, ordinal, content, start_offset, end_offset,
                    term_count, embedding)
    VALUES (%(acme)s, %(id)s, %(id)s, %(id)s, 0, 'The file.', 0, 9, 2, '[1,0,0,0]');
"""


def bring_to(dsn: str, revision: str) -> None:
    """Makes an empty database into one of that revision."""
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=NullPool)
    config = Config()
    config.set_main_option("script_location", str(VERSIONS.parent))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def fill_r0003(dsn: str, organisation_id: UUID) -> None:
    """One row of each kind that a conversation about a document needs."""
    with psycopg.ClientCursor(psycopg.connect(dsn)) as cursor, cursor.connection:
        cursor.execute(_R0003, {"acme": organisation_id, "id": uuid4()})
