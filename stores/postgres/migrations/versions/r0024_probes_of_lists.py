"""A search reads fewer of the long lists of a huge knowledge base, and more of those that hold heads of vectors.

Of 1,000,000 vectors in 3,000 lists 15 hold the nearest as 24 do. Lists of heads are less sharp than those of whole
vectors, and cheap to read. docs/search-at-scale.md has the figures.
"""

from stores.postgres.migrations.sql import run

revision = "r0024"
down_revision = "r0023"
branch_labels = None
depends_on = None

# As in r0023 but for how many lists are read: 40, or as many as hold about 5,000 vectors, at least 10; of heads half as
# many again.
INDEX = """
CREATE OR REPLACE FUNCTION index_of(
    organisation uuid, knowledge_base uuid, searched text, by_model text, wanted integer
)
    RETURNS own_indexes
    LANGUAGE plpgsql STABLE
AS $$
DECLARE
    indexed own_indexes;
    probes bigint;
BEGIN
    SELECT * INTO indexed FROM own_indexes i
    WHERE i.organisation_id = organisation AND i.knowledge_base_id = knowledge_base
      AND i.of_table = searched AND i.model = by_model;
    -- Both kinds, since the planner may see an index that the row does not know yet, or no longer.
    IF indexed.dimension IS NOT NULL THEN
        probes := coalesce(least(40, greatest(10, 5000 * indexed.lists / indexed.vectors)), 40);
        IF indexed.head IS NOT NULL THEN
            probes := probes * 3 / 2;
        END IF;
        PERFORM set_config('ivfflat.iterative_scan', 'relaxed_order', true),
                set_config('ivfflat.max_probes', '32768', true),
                set_config('ivfflat.probes', least(indexed.lists, probes)::text, true),
                set_config('hnsw.iterative_scan', 'relaxed_order', true),
                set_config('hnsw.ef_search',
                           least(1000, greatest(200, least(800, 307200 / indexed.dimension), wanted * 3 / 2))::text,
                           true);
    END IF;
    RETURN indexed;
END $$;
"""


def upgrade() -> None:
    run(INDEX)
