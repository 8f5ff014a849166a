"""Indexes of large knowledge bases hold their vectors in lists of near ones, of which a search reads the nearest.

Graphs of 100,000 and 1,000,000 vectors took a search five to ten times as long, the larger one found less, and they
took longer to build; docs/search-at-scale.md has the figures. Those that are there serve on until upkeep has built what
follows them.
"""

from stores.postgres.migrations.sql import run

revision = "r0022"
down_revision = "r0021"
branch_labels = None
depends_on = None

LISTS = """
-- How many lists the index has, and how many vectors lay in them when it was built; none is a graph, from before this
-- revision.
ALTER TABLE own_indexes ADD COLUMN lists integer CHECK (lists > 0), ADD COLUMN vectors bigint CHECK (vectors > 0),
    ADD CHECK ((lists IS NULL) = (vectors IS NULL));
"""

# A search compares the centres of all lists and the vectors of those that it reads: 40 lists, or as many as hold about
# 8,000 vectors where the lists of a huge knowledge base are long. It reads on where too few are left in them, because
# some are deleted and not vacuumed yet.
WALK = """
CREATE OR REPLACE FUNCTION index_of(
    organisation uuid, knowledge_base uuid, searched text, by_model text, wanted integer
)
    RETURNS integer
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
    RETURN indexed.dimension;
END $$;
"""


def upgrade() -> None:
    run(LISTS)
    run(WALK)
