"""Postings in the order of their terms, and counts of the words that large knowledge bases are full of.

A question reads the postings of each of its words. They lie in an index with everything that scoring needs, so that
those of a word are neighbours: in the table they lie with their document. Words that stand in thousands of documents
are counted ahead, by upkeep, and only read for the passages that rarer words and vectors found.
"""

from stores.postgres.migrations.sql import isolate, run
from stores.postgres.roles import SERVING_ROLE

revision = "r0014"
down_revision = "r0013"
branch_labels = None
depends_on = None

# An entry of an index holds 2,700 bytes at most: a term's postings in a long document are cut into rows of 128, the
# first of which says how often the term stands in the document, the others nought.
POSTINGS = """
DROP INDEX chunk_postings_of_term;

INSERT INTO chunk_postings (organisation_id, knowledge_base_id, document_id, document_terms, term, frequency, postings)
SELECT p.organisation_id, p.knowledge_base_id, p.document_id, p.document_terms, p.term, 0,
       p.postings[part * 128 + 1 : part * 128 + 128]
FROM chunk_postings p CROSS JOIN LATERAL generate_series(1, (cardinality(p.postings) - 1) / 128) AS part
WHERE cardinality(p.postings) > 128;
UPDATE chunk_postings SET postings = postings[1:128] WHERE cardinality(postings) > 128;

CREATE INDEX chunk_postings_of_term ON chunk_postings (organisation_id, knowledge_base_id, term, document_id)
    INCLUDE (frequency, document_terms, postings);
"""

COUNTS = """
CREATE TABLE word_totals (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    documents         bigint NOT NULL,
    chunks            bigint NOT NULL,
    terms             bigint NOT NULL,
    counted_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organisation_id, knowledge_base_id),
    FOREIGN KEY (organisation_id, knowledge_base_id) REFERENCES knowledge_bases ON DELETE CASCADE
);
CREATE TABLE frequent_terms (
    organisation_id   uuid NOT NULL,
    knowledge_base_id uuid NOT NULL,
    term              text COLLATE "C" NOT NULL,
    documents         bigint NOT NULL,
    chunks            bigint NOT NULL,
    PRIMARY KEY (organisation_id, knowledge_base_id, term),
    FOREIGN KEY (organisation_id, knowledge_base_id) REFERENCES word_totals ON DELETE CASCADE
);

-- Knowledge bases of so many chunks, or with counts, and how many chunks they had when they were counted.
CREATE FUNCTION worded_bases(smallest bigint)
    RETURNS TABLE (organisation_id uuid, knowledge_base_id uuid, chunks bigint, counted bigint)
    LANGUAGE plpgsql
AS $$
DECLARE
    entered uuid;
BEGIN
    FOR entered IN SELECT o.id FROM organisations o LOOP
        PERFORM set_config('app.organisation', entered::text, true);
        RETURN QUERY
            SELECT entered, s.id, s.chunks, w.chunks
            FROM (
                SELECT d.knowledge_base_id AS id, sum(d.chunk_count)::bigint AS chunks FROM documents d
                WHERE d.organisation_id = entered GROUP BY d.knowledge_base_id
            ) s
            LEFT JOIN word_totals w ON w.organisation_id = entered AND w.knowledge_base_id = s.id
            WHERE s.chunks >= smallest OR w.chunks IS NOT NULL;
    END LOOP;
END;
$$;
"""

# As in r0009, for chunks that have several pictures each.
IMAGES = """
CREATE OR REPLACE FUNCTION nearest_images(
    organisation uuid, knowledge_base uuid, by_model text, probes halfvec[], wanted integer
)
    RETURNS TABLE (chunk_id uuid, cosine double precision)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan = off
AS $$
DECLARE
    indexed integer := index_of(organisation, knowledge_base, 'chunk_images', by_model, 4 * wanted);
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
                 ORDER BY i.embedding::halfvec(%s) <=> probe.embedding LIMIT 4 * $2
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


def upgrade() -> None:
    run(POSTINGS)
    run(IMAGES)
    run(COUNTS)
    isolate("word_totals", "frequent_terms")
    run(
        f"""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVING_ROLE}') THEN
                GRANT EXECUTE ON FUNCTION worded_bases(bigint) TO {SERVING_ROLE};
            END IF;
        END $$;
        """
    )
