"""Telling who listens what changed: triggers send the signals that `tributary.changes` hears.

A signal names an organisation, a kind and ids; nothing of what stands in the rows. It leaves with the transaction that
changed them, whoever made it, and PostgreSQL sends equal ones of a transaction once. Tables of lists tell once a
statement. Conversations and messages are written one at a time, at both ends of a turn: there a trigger of the row is
cheaper, whose condition passes over the writes that change nothing that people see.
"""

from stores.postgres.migrations.sql import run

revision = "r0021"
down_revision = "r0020"
branch_labels = None
depends_on = None

# A signal takes 8,000 bytes; of more rows it says that there were many, with null in the place of their ids.
TELLING = """
CREATE FUNCTION tell_changed(organisation uuid, kind text, ids uuid[], knowledge_base uuid DEFAULT NULL)
    RETURNS void LANGUAGE sql
AS $$
    SELECT pg_notify('tributary_signals', 'changed:' || json_build_object(
        'organisation', organisation, 'kind', kind, 'knowledgeBase', knowledge_base,
        'ids', CASE WHEN cardinality(ids) <= 150 THEN ids END
    ))
$$;

CREATE FUNCTION tell_changed_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_changed(t.organisation_id, TG_ARGV[0], array_agg(t.id)) FROM touched t GROUP BY t.organisation_id;
    RETURN NULL;
END $$;

-- With their number changes what is said of their knowledge base.
CREATE FUNCTION tell_changed_documents() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_changed(t.organisation_id, 'document', array_agg(t.id), t.knowledge_base_id)
    FROM touched t GROUP BY t.organisation_id, t.knowledge_base_id;
    IF TG_OP <> 'UPDATE' THEN
        PERFORM tell_changed(t.organisation_id, 'knowledgeBase', array_agg(DISTINCT t.knowledge_base_id))
        FROM touched t GROUP BY t.organisation_id;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION tell_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_changed(NEW.organisation_id, 'conversation', ARRAY[NEW.conversation_id]);
    RETURN NULL;
END $$;
CREATE FUNCTION tell_named_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_changed(NEW.organisation_id, 'conversation', ARRAY[NEW.id]);
    RETURN NULL;
END $$;
CREATE FUNCTION tell_gone_conversation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM tell_changed(OLD.organisation_id, 'conversation', ARRAY[OLD.id]);
    RETURN NULL;
END $$;
"""

# A conversation is made with its first question, and changes with the beginning and the end of a turn.
CONVERSATIONS = """
CREATE TRIGGER tell_begun AFTER INSERT ON messages
    FOR EACH ROW WHEN (NEW.status = 'running') EXECUTE FUNCTION tell_turn();
CREATE TRIGGER tell_ended AFTER UPDATE ON messages
    FOR EACH ROW WHEN (OLD.status = 'running' AND NEW.status <> 'running') EXECUTE FUNCTION tell_turn();
CREATE TRIGGER tell_named AFTER UPDATE ON conversations
    FOR EACH ROW WHEN (OLD.title <> NEW.title) EXECUTE FUNCTION tell_named_conversation();
CREATE TRIGGER tell_gone AFTER DELETE ON conversations
    FOR EACH ROW EXECUTE FUNCTION tell_gone_conversation();
"""


def tell_of(table: str, function: str) -> None:
    """Once for each statement that makes, changes or deletes rows of the table."""
    for operation, rows in (("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")):
        run(
            f"""
            CREATE TRIGGER tell_{operation.lower()} AFTER {operation} ON {table}
                REFERENCING {rows} TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION {function};
            """
        )


# Streams of a key or a sign-in that has ended end with it.
ACCESS = """
CREATE TRIGGER tell_ended AFTER DELETE ON browser_sessions
    REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION tell_changed_rows('access');
CREATE TRIGGER tell_revoked AFTER UPDATE ON api_keys
    REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION tell_changed_rows('access');
"""


def upgrade() -> None:
    run(TELLING)
    run(CONVERSATIONS)
    tell_of("bots", "tell_changed_rows('bot')")
    tell_of("knowledge_bases", "tell_changed_rows('knowledgeBase')")
    tell_of("documents", "tell_changed_documents()")
    run(ACCESS)
