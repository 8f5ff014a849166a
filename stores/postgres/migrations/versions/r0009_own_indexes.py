"""Own vector indexes of large knowledge bases, and the searches that know them.

A row of `own_indexes` says that an index is complete. The searches run as their caller, under its policies, and plan
for the one knowledge base they are asked for: its id stands in the statement, so that its partial index is considered.
Without a row they compare all vectors, and never by reading the whole table: without statistics, as right after an
upload, that looks cheap for each knowledge base in it.
"""

from stores.postgres.migrations.sql import isolate, run
from stores.postgres.roles import SERVING_ROLE

revision = "r0009"
down_revision = "r0008"
branch_labels = None
depends_on = None

OWN_INDEXES = """
CREATE TABLE own_indexes (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    -- The table whose vectors it holds; of pictures, those of one model.
    of_table          text NOT NULL CHECK (of_table IN ('chunks', 'chunk_images')),
    model             text NOT NULL DEFAULT '',
    dimension         integer NOT NULL,
    name              text NOT NULL,
    built_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, knowledge_base_id, of_table, model),
    FOREIGN KEY (organisation_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE
);

-- The vectors that are searched together, with how many there are, where they hold so many components or have an index.
-- It enters one organisation after the other, as the policies want it, in one round trip.
CREATE FUNCTION vector_sets(smallest bigint)
    RETURNS TABLE (organisation_id uuid, knowledge_base_id uuid, of_table text, model text, dimension integer,
                   vectors bigint, registered text)
    LANGUAGE plpgsql
AS $$
DECLARE
    entered uuid;
BEGIN
    FOR entered IN SELECT o.id FROM organisations o LOOP
        PERFORM set_config('app.organisation', entered::text, true);
        RETURN QUERY
            SELECT entered, s.knowledge_base_id, s.of_table, s.model, s.dimension, s.vectors, i.name
            FROM (
                SELECT k.id AS knowledge_base_id, 'chunks' AS of_table, '' AS model, k.dimension, d.vectors
                FROM knowledge_bases k
                CROSS JOIN LATERAL (
                    SELECT coalesce(sum(d.chunk_count), 0) AS vectors FROM documents d
                    WHERE d.organisation_id = entered AND d.knowledge_base_id = k.id
                ) d
                WHERE k.organisation_id = entered
                UNION ALL
                SELECT c.knowledge_base_id, 'chunk_images', c.model, (
                    SELECT vector_dims(e.embedding) FROM chunk_images e
                    WHERE e.organisation_id = entered AND e.knowledge_base_id = c.knowledge_base_id
                      AND e.model = c.model LIMIT 1
                ), count(*)
                FROM chunk_images c WHERE c.organisation_id = entered
                GROUP BY c.knowledge_base_id, c.model
            ) s
            LEFT JOIN own_indexes i ON i.organisation_id = entered AND i.knowledge_base_id = s.knowledge_base_id
                                   AND i.of_table = s.of_table AND i.model = s.model
            WHERE s.vectors * s.dimension >= smallest OR i.name IS NOT NULL;
    END LOOP;
END;
$$;
"""

# An index is walked further than the rows that are asked for, since neighbours are found by what was seen. The walk
# goes on where too few rows are left, because some are deleted and not vacuumed yet. Where it ends short all the same,
# all vectors are compared: hundreds of texts that are all but equal can be an island in the index, with no way out to
# the others. What both found comes twice then.
SEARCHES = """
CREATE FUNCTION index_of(organisation uuid, knowledge_base uuid, searched text, by_model text, wanted integer)
    RETURNS integer
    LANGUAGE plpgsql STABLE
AS $$
DECLARE
    indexed integer := (
        SELECT i.dimension FROM own_indexes i
        WHERE i.organisation_id = organisation AND i.knowledge_base_id = knowledge_base
          AND i.of_table = searched AND i.model = by_model
    );
BEGIN
    IF indexed IS NOT NULL THEN
        PERFORM set_config('hnsw.iterative_scan', 'relaxed_order', true),
                set_config('hnsw.ef_search', least(1000, greatest(150, wanted * 3 / 2))::text, true);
    END IF;
    RETURN indexed;
END $$;

CREATE FUNCTION nearest_chunks(organisation uuid, knowledge_base uuid, question halfvec, wanted integer)
    RETURNS TABLE (id uuid, document_id uuid, ordinal integer)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan = off
AS $$
DECLARE
    indexed integer := index_of(organisation, knowledge_base, 'chunks', '', wanted);
    found bigint := 0;
BEGIN
    IF indexed IS NOT NULL THEN
        RETURN QUERY EXECUTE format(
            'SELECT c.id, c.document_id, c.ordinal FROM chunks c
             WHERE c.organisation_id = %L AND c.knowledge_base_id = %L
             ORDER BY c.embedding::halfvec(%s) <=> $1 LIMIT $2', organisation, knowledge_base, indexed)
            USING question, wanted;
        GET DIAGNOSTICS found = ROW_COUNT;
    END IF;
    IF found < wanted THEN
        RETURN QUERY
            SELECT c.id, c.document_id, c.ordinal FROM chunks c
            WHERE c.organisation_id = organisation AND c.knowledge_base_id = knowledge_base
            ORDER BY c.embedding <=> question LIMIT wanted;
    END IF;
END $$;

CREATE FUNCTION nearest_images(organisation uuid, knowledge_base uuid, by_model text, probes halfvec[], wanted integer)
    RETURNS TABLE (chunk_id uuid, cosine double precision)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan = off
AS $$
DECLARE
    indexed integer := index_of(organisation, knowledge_base, 'chunk_images', by_model, wanted);
    found bigint := 0;
BEGIN
    IF indexed IS NOT NULL THEN
        -- The best by any probe are among the best of each.
        RETURN QUERY EXECUTE format(
            'SELECT found.chunk_id, max(found.cosine)
             FROM unnest($1) AS probe (embedding)
             CROSS JOIN LATERAL (
                 SELECT i.chunk_id, 1 - (i.embedding <=> probe.embedding) AS cosine FROM chunk_images i
                 WHERE i.organisation_id = %L AND i.knowledge_base_id = %L AND i.model = %L
                 ORDER BY i.embedding::halfvec(%s) <=> probe.embedding LIMIT $2
             ) found
             GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $2', organisation, knowledge_base, by_model, indexed)
            USING probes, wanted;
        GET DIAGNOSTICS found = ROW_COUNT;
    END IF;
    IF found < wanted THEN
        RETURN QUERY
            SELECT i.chunk_id, max(1 - (i.embedding <=> probe.embedding))
            FROM chunk_images i
            CROSS JOIN unnest(probes) AS probe (embedding)
            WHERE i.organisation_id = organisation AND i.knowledge_base_id = knowledge_base AND i.model = by_model
            GROUP BY i.chunk_id
            ORDER BY 2 DESC, 1
            LIMIT wanted;
    END IF;
END $$;
"""

FUNCTIONS = (
    "vector_sets(bigint)",
    "index_of(uuid, uuid, text, text, integer)",
    "nearest_chunks(uuid, uuid, halfvec, integer)",
    "nearest_images(uuid, uuid, text, halfvec[], integer)",
)


def upgrade() -> None:
    run(OWN_INDEXES)
    isolate("own_indexes")
    run(SEARCHES)
    run(
        f"""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVING_ROLE}') THEN
                GRANT EXECUTE ON FUNCTION {", ".join(FUNCTIONS)} TO {SERVING_ROLE};
            END IF;
        END $$;
        """
    )
