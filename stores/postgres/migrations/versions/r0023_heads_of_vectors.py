"""Long vectors are searched by their first components, and the nearest of them compared as they are.

Lists of 3,072 dimensions are 6 kB a vector, of which a search has to read thousands; 768 of them are a quarter of that.
docs/search-at-scale.md has the figures. Indexes of whole vectors serve on until upkeep has built what follows them.
"""

from stores.postgres.migrations.sql import run
from stores.postgres.roles import SERVING_ROLE

revision = "r0023"
down_revision = "r0022"
branch_labels = None
depends_on = None

HEADS = """
-- How many components of each vector the index holds, its first ones; none: all of them.
ALTER TABLE own_indexes ADD COLUMN head integer CHECK (head > 0 AND head < dimension);

-- By what an index orders the vectors of this column; their whole length where there is no head.
CREATE FUNCTION headed(vectors text, dimension integer, head integer)
    RETURNS text
    LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN head IS NULL THEN format('%s::halfvec(%s)', vectors, dimension)
    ELSE format('subvector(%s::halfvec(%s), 1, %s)::halfvec(%s)', vectors, dimension, head, head)
END;
"""

# The index that a search goes by, set up for it as before (r0022).
INDEX = """
DROP FUNCTION index_of(uuid, uuid, text, text, integer);

CREATE FUNCTION index_of(organisation uuid, knowledge_base uuid, searched text, by_model text, wanted integer)
    RETURNS own_indexes
    LANGUAGE plpgsql STABLE
AS $$
DECLARE
    indexed own_indexes;
BEGIN
    SELECT * INTO indexed FROM own_indexes i
    WHERE i.organisation_id = organisation AND i.knowledge_base_id = knowledge_base
      AND i.of_table = searched AND i.model = by_model;
    -- Both kinds, since the planner may see an index that the row does not know yet, or no longer.
    IF indexed.dimension IS NOT NULL THEN
        PERFORM set_config('ivfflat.iterative_scan', 'relaxed_order', true),
                set_config('ivfflat.max_probes', '32768', true),
                set_config('ivfflat.probes',
                           coalesce(least(indexed.lists, 40, greatest(10, 8000 * indexed.lists / indexed.vectors)),
                                    40)::text, true),
                set_config('hnsw.iterative_scan', 'relaxed_order', true),
                set_config('hnsw.ef_search',
                           least(1000, greatest(200, least(800, 307200 / indexed.dimension), wanted * 3 / 2))::text,
                           true);
    END IF;
    RETURN indexed;
END $$;
"""

# As in r0009 and r0014. Of heads three times as many are found as are wanted, and the whole vectors compared.
SEARCHES = """
CREATE OR REPLACE FUNCTION nearest_chunks(organisation uuid, knowledge_base uuid, question halfvec, wanted integer)
    RETURNS TABLE (id uuid, document_id uuid, ordinal integer)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan = off
AS $$
DECLARE
    indexed own_indexes := index_of(organisation, knowledge_base, 'chunks', '', wanted);
    found bigint := 0;
BEGIN
    IF indexed.dimension IS NOT NULL THEN
        RETURN QUERY EXECUTE format(
            'SELECT c.id, c.document_id, c.ordinal FROM (
                 SELECT c.id, c.document_id, c.ordinal, c.embedding FROM chunks c
                 WHERE c.organisation_id = %L AND c.knowledge_base_id = %L
                 ORDER BY %s <=> %s LIMIT $2
             ) c
             ORDER BY c.embedding <=> $1 LIMIT $3', organisation, knowledge_base,
            headed('c.embedding', indexed.dimension, indexed.head), headed('$1', indexed.dimension, indexed.head))
            USING question, CASE WHEN indexed.head IS NULL THEN wanted ELSE 3 * wanted END, wanted;
        GET DIAGNOSTICS found = ROW_COUNT;
    END IF;
    IF found < wanted THEN
        RETURN QUERY
            SELECT c.id, c.document_id, c.ordinal FROM chunks c
            WHERE c.organisation_id = organisation AND c.knowledge_base_id = knowledge_base
            ORDER BY c.embedding <=> question LIMIT wanted;
    END IF;
END $$;

CREATE OR REPLACE FUNCTION nearest_images(
    organisation uuid, knowledge_base uuid, by_model text, probes halfvec[], wanted integer
)
    RETURNS TABLE (chunk_id uuid, cosine double precision)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan = off
AS $$
DECLARE
    indexed own_indexes := index_of(organisation, knowledge_base, 'chunk_images', by_model, 4 * wanted);
    found bigint := 0;
BEGIN
    IF indexed.dimension IS NOT NULL THEN
        -- The best by any probe are among the best of each.
        RETURN QUERY EXECUTE format(
            'SELECT found.chunk_id, max(found.cosine)
             FROM unnest($1) AS probe (embedding)
             CROSS JOIN LATERAL (
                 SELECT i.chunk_id, 1 - (i.embedding <=> probe.embedding) AS cosine FROM chunk_images i
                 WHERE i.organisation_id = %L AND i.knowledge_base_id = %L AND i.model = %L
                 ORDER BY %s <=> %s LIMIT $2
             ) found
             GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $3', organisation, knowledge_base, by_model,
            headed('i.embedding', indexed.dimension, indexed.head),
            headed('probe.embedding', indexed.dimension, indexed.head))
            USING probes, CASE WHEN indexed.head IS NULL THEN 4 ELSE 12 END * wanted, wanted;
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

FUNCTIONS = ("headed(text, integer, integer)", "index_of(uuid, uuid, text, text, integer)")


def upgrade() -> None:
    run(HEADS)
    run(INDEX)
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
