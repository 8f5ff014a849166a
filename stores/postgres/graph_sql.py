"""The statements of the knowledge graph. Names reach them as parameters only."""

NAMED = """
SELECT n.name_key, e.id, e.mentions
FROM (
    SELECT DISTINCT name_key, entity_id FROM kg_names
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND name_key = ANY(%(keys)s)
) n
JOIN kg_entities e ON e.organisation_id = %(organisation)s AND e.id = n.entity_id
"""
MENTIONED_BY = """
SELECT e.id, e.mentions
FROM (
    SELECT DISTINCT entity_id FROM kg_mentions
    WHERE organisation_id = %(organisation)s AND chunk_id = ANY(%(chunks)s)
) m
JOIN kg_entities e ON e.organisation_id = %(organisation)s AND e.knowledge_base_id = %(knowledge_base)s
                  AND e.id = m.entity_id
"""

# Each entity follows at most `fan_out` relations, the heaviest; one more is fetched, `cut`, to know that a bound
# was met, and goes no further. CYCLE ends paths that come back to where they have been.
WALK = """
WITH RECURSIVE walk AS (
    SELECT e.id AS entity_id, e.degree, seed.score, 0 AS depth, NULL::uuid AS relation_id, false AS cut
    FROM unnest(%(seeds)s::uuid[], %(scores)s::float8[]) AS seed (id, score)
    JOIN kg_entities e ON e.organisation_id = %(organisation)s AND e.id = seed.id
    UNION ALL
    SELECT e.id, e.degree,
           walk.score * %(step)s * near.weight / (near.weight + 1) / (1 + ln(greatest(walk.degree, 1))),
           walk.depth + 1, near.relation_id, near.position > %(fan_out)s
    FROM walk
    CROSS JOIN LATERAL (
        SELECT sides.*, row_number() OVER (ORDER BY sides.weight DESC, sides.relation_id) AS position
        FROM (
            (SELECT id AS relation_id, target_id AS entity_id, weight FROM kg_relations
             WHERE organisation_id = %(organisation)s AND source_id = walk.entity_id
             ORDER BY weight DESC, id LIMIT %(fan_out)s + 1)
            UNION ALL
            (SELECT id, source_id, weight FROM kg_relations
             WHERE organisation_id = %(organisation)s AND target_id = walk.entity_id AND source_id <> target_id
             ORDER BY weight DESC, id LIMIT %(fan_out)s + 1)
        ) sides
        ORDER BY position LIMIT %(fan_out)s + 1
    ) near
    JOIN kg_entities e ON e.organisation_id = %(organisation)s AND e.id = near.entity_id
    WHERE walk.depth < %(hops)s AND NOT walk.cut
) CYCLE entity_id SET looped USING path
SELECT relation_id, entity_id, sum(score)::float8 AS score, cut
FROM walk
WHERE depth > 0 AND (cut OR NOT looped)
GROUP BY relation_id, entity_id, cut
"""

ENTITIES = """
SELECT id, name, type, description FROM kg_entities
WHERE organisation_id = %(organisation)s AND id = ANY(%(ids)s)
"""
RELATIONS = """
SELECT r.id, s.name AS source, r.relation, t.name AS target, r.description
FROM kg_relations r
JOIN kg_entities s ON s.organisation_id = r.organisation_id AND s.id = r.source_id
JOIN kg_entities t ON t.organisation_id = r.organisation_id AND t.id = r.target_id
WHERE r.organisation_id = %(organisation)s AND r.id = ANY(%(ids)s)
"""
# Of a hub's many mentions only some are read: a passage that matters states a relation or names another seed too.
PASSAGES = """
SELECT chunk_id, document_id, sum(mentioned)::float8 AS mentioned, sum(stated)::float8 AS stated
FROM (
    SELECT m.chunk_id, m.document_id, seed.score AS mentioned, 0 AS stated
    FROM unnest(%(seeds)s::uuid[], %(scores)s::float8[]) AS seed (id, score)
    CROSS JOIN LATERAL (
        SELECT DISTINCT chunk_id, document_id FROM kg_mentions
        WHERE organisation_id = %(organisation)s AND entity_id = seed.id
        LIMIT %(mentions)s
    ) m
    UNION ALL
    SELECT s.chunk_id, s.document_id, 0, walked.score * s.weight / greatest(r.weight, s.weight)
    FROM unnest(%(relations)s::uuid[], %(relation_scores)s::float8[]) AS walked (id, score)
    JOIN kg_relations r ON r.organisation_id = %(organisation)s AND r.id = walked.id
    JOIN kg_relation_sources s ON s.organisation_id = %(organisation)s AND s.relation_id = walked.id
) supports
GROUP BY chunk_id, document_id
"""

# Held until the transaction ends: neither a newer revision nor a delete comes between the check and the rows.
LOCKED_CHUNKS = """
SELECT c.id
FROM documents d
LEFT JOIN chunks c ON c.organisation_id = d.organisation_id AND c.document_id = d.id AND c.id = ANY(%(chunks)s)
WHERE d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s AND d.id = %(document)s
FOR UPDATE OF d
"""
LOCKED_DOCUMENT = """
SELECT id FROM documents
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND id = %(document)s
FOR UPDATE
"""

ADD_ENTITIES = """
INSERT INTO kg_entities (organisation_id, id, knowledge_base_id, key, name, type)
SELECT %(organisation)s, new.id, %(knowledge_base)s, new.key, new.name, new.type
FROM unnest(%(ids)s::uuid[], %(keys)s::text[], %(names)s::text[], %(types)s::text[]) AS new (id, key, name, type)
ON CONFLICT (organisation_id, knowledge_base_id, key) DO NOTHING
"""
ENTITY_IDS = """
SELECT key, id FROM kg_entities
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND key = ANY(%(keys)s)
"""
ADD_SOURCES = """
INSERT INTO kg_entity_sources (organisation_id, knowledge_base_id, document_id, entity_id, name, type, description,
                               mentions)
SELECT %(organisation)s, %(knowledge_base)s, %(document)s, new.*
FROM unnest(%(ids)s::uuid[], %(names)s::text[], %(types)s::text[], %(descriptions)s::text[], %(mentions)s::int[])
    AS new (id, name, type, description, mentions)
"""
ADD_NAMES = """
INSERT INTO kg_names (organisation_id, knowledge_base_id, name_key, entity_id, document_id)
SELECT %(organisation)s, %(knowledge_base)s, new.key, new.id, %(document)s
FROM unnest(%(keys)s::text[], %(ids)s::uuid[]) AS new (key, id)
ON CONFLICT DO NOTHING
"""
ADD_MENTIONS = """
INSERT INTO kg_mentions (organisation_id, chunk_id, entity_id, start_offset, end_offset, document_id)
SELECT %(organisation)s, new.*, %(document)s
FROM unnest(%(chunks)s::uuid[], %(ids)s::uuid[], %(starts)s::int[], %(ends)s::int[])
    AS new (chunk_id, id, start_offset, end_offset)
ON CONFLICT DO NOTHING
"""
ADD_RELATIONS = """
INSERT INTO kg_relations (organisation_id, id, knowledge_base_id, source_id, relation, target_id)
SELECT %(organisation)s, new.id, %(knowledge_base)s, new.source_id, new.relation, new.target_id
FROM unnest(%(ids)s::uuid[], %(sources)s::uuid[], %(relations)s::text[], %(targets)s::uuid[])
    AS new (id, source_id, relation, target_id)
ON CONFLICT (organisation_id, source_id, target_id, relation) DO NOTHING
"""
ADD_RELATION_SOURCES = """
INSERT INTO kg_relation_sources (organisation_id, chunk_id, relation_id, document_id, description, weight)
SELECT %(organisation)s, new.chunk_id, r.id, %(document)s, (array_agg(new.description ORDER BY new.weight DESC))[1],
       sum(new.weight)
FROM unnest(%(chunks)s::uuid[], %(sources)s::uuid[], %(relations)s::text[], %(targets)s::uuid[],
            %(descriptions)s::text[], %(weights)s::real[])
    AS new (chunk_id, source_id, relation, target_id, description, weight)
JOIN kg_relations r ON r.organisation_id = %(organisation)s AND r.source_id = new.source_id
                   AND r.target_id = new.target_id AND r.relation = new.relation
GROUP BY new.chunk_id, r.id
RETURNING relation_id
"""
