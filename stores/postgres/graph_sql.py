"""The statements of the knowledge graph. Names reach them as parameters only."""

# A name has a row for each document that uses it: from one of its entities to the next the index is looked into again,
# so that those between, of a hub thousands, are not read. OFFSET keeps the planner, which takes every key for a
# common one, from reading all entities instead.
_NEXT_CALLED_SO = """
(SELECT entity_id FROM kg_names
 WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND name_key = {key} {behind}
 ORDER BY entity_id LIMIT 1)
"""
NAMED = f"""
WITH RECURSIVE called AS (
    SELECT asked.key, first.entity_id
    FROM unnest(string_to_array(%(keys)s, E'\\n')) AS asked (key)
    CROSS JOIN LATERAL {_NEXT_CALLED_SO.format(key="asked.key", behind="")} first
    UNION ALL
    SELECT called.key, further.entity_id
    FROM called
    CROSS JOIN LATERAL {_NEXT_CALLED_SO.format(key="called.key", behind="AND entity_id > called.entity_id")} further
)
SELECT called.key AS name_key, e.id::text AS id, e.mentions
FROM called
CROSS JOIN LATERAL (
    SELECT id, mentions FROM kg_entities WHERE organisation_id = %(organisation)s AND id = called.entity_id OFFSET 0
) e
"""
# Ranges, since LIKE may not use an index under a policy; the range is read in the order of its index.
_ALIKE = """
SELECT id, key, mentions FROM (
    SELECT id, key, mentions FROM kg_entities
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
      AND {column} >= {text} AND {column} < {text} || U&'\\+10FFFF'
    ORDER BY {column} LIMIT %(read)s
) alike
WHERE char_length(key) BETWEEN part.shortest AND part.longest
LIMIT %(limit)s
"""
ALIKE = f"""
SELECT DISTINCT found.id::text AS id, found.key, found.mentions
FROM unnest(
    string_to_array(%(texts)s, E'\\n'),
    string_to_array(%(shortest)s, ' ')::int[],
    string_to_array(%(longest)s, ' ')::int[],
    string_to_array(%(ending)s, ' ')::boolean[]
) AS part (text, shortest, longest, ending)
CROSS JOIN LATERAL (
    (SELECT * FROM ({_ALIKE.format(column="key", text="part.text")}) forwards WHERE NOT part.ending)
    UNION ALL
    (SELECT * FROM ({_ALIKE.format(column="backwards", text="reverse(part.text)")}) backwards WHERE part.ending)
) found
"""
# As one text: passage, entity, its mentions, where the name starts, and whether the passage is about it, in turn. Each
# is looked up by its key: without statistics, right after an upload, PostgreSQL would read all entities of the base.
MENTIONED_BY = """
SELECT string_agg(m.chunk_id || ' ' || m.entity_id || ' ' || e.mentions || ' ' || m.start_offset || ' '
                  || m.subject::int, ' ') AS mentions
FROM unnest(string_to_array(%(chunks)s, ' ')::uuid[]) AS asked (id)
CROSS JOIN LATERAL (
    SELECT chunk_id, entity_id, start_offset, subject FROM kg_mentions
    WHERE organisation_id = %(organisation)s AND chunk_id = asked.id
    OFFSET 0
) m
CROSS JOIN LATERAL (
    SELECT mentions, knowledge_base_id FROM kg_entities
    WHERE organisation_id = %(organisation)s AND id = m.entity_id
    OFFSET 0
) e
WHERE e.knowledge_base_id = %(knowledge_base)s
"""

# Names are looked up on both sides of the entity's own: its rows, which are as many as its documents, are not read.
_ALIASES = """
(SELECT name_key FROM kg_names
 WHERE organisation_id = %(organisation)s AND entity_id = e.id AND name_key {side} e.key LIMIT %(limit)s)
"""
_CALLED_SO = """
(SELECT entity_id FROM kg_names
 WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND name_key = own.name_key
   AND entity_id {side} e.id
 LIMIT %(limit)s)
"""
NAMESAKES = f"""
SELECT DISTINCT e.id::text AS entity_id, other.entity_id::text AS namesake
FROM unnest(string_to_array(%(entities)s, ' ')::uuid[]) AS asked (id)
JOIN kg_entities e ON e.organisation_id = %(organisation)s AND e.id = asked.id
CROSS JOIN LATERAL (
    SELECT e.key AS name_key UNION {_ALIASES.format(side="<")} UNION {_ALIASES.format(side=">")}
) own
CROSS JOIN LATERAL (
    {_CALLED_SO.format(side="<")} UNION ALL {_CALLED_SO.format(side=">")}
) other
"""

# The heaviest relations of one entity, `near.entity_id` at their other end; one to itself counts once.
_HEAVIEST = """
    SELECT sides.relation_id, sides.entity_id, sides.weight
    FROM (
        (SELECT id AS relation_id, target_id AS entity_id, weight FROM kg_relations
         WHERE organisation_id = %(organisation)s AND source_id = {entity}
         ORDER BY weight DESC, id LIMIT %(fan_out)s)
        UNION ALL
        (SELECT id, source_id, weight FROM kg_relations
         WHERE organisation_id = %(organisation)s AND target_id = {entity} AND source_id <> target_id
         ORDER BY weight DESC, id LIMIT %(fan_out)s)
    ) sides
    ORDER BY weight DESC, relation_id LIMIT %(fan_out)s
"""
# The entities that a walk leaves from: the seeds, and the best of what lies less than `hops` steps away, by the scores
# that ways there lend (`stores.walking.step_share`). CYCLE ends ways that come back to where they have been. Then the
# heaviest relations of each, as one text: relation, entity and weight in turn. A row for each would cost more than to
# find them.
NEIGHBOURHOOD = f"""
WITH RECURSIVE walk AS (
    SELECT seed.id AS entity_id, seed.score, 1 AS depth
    FROM unnest(string_to_array(%(seeds)s, ' ')::uuid[], string_to_array(%(scores)s, ' ')::float8[]) AS seed (id, score)
    WHERE seed.score >= %(least)s
    UNION ALL
    SELECT near.entity_id,
           walk.score * %(step)s * near.weight / (near.weight + 1) / (1 + ln(greatest(left_now.degree, 1))),
           walk.depth + 1
    FROM walk
    JOIN kg_entities left_now ON left_now.organisation_id = %(organisation)s AND left_now.id = walk.entity_id
    CROSS JOIN LATERAL ({_HEAVIEST.format(entity="walk.entity_id")}) near
    WHERE walk.depth < %(hops)s
) CYCLE entity_id SET looped USING path,
left_from AS (
    SELECT entity_id, count(*) OVER () > %(most_left)s AS cut
    FROM walk WHERE NOT looped
    GROUP BY entity_id HAVING sum(score) >= %(least)s
    ORDER BY min(depth), sum(score) DESC, entity_id LIMIT %(most_left)s
)
SELECT e.id::text AS entity_id, e.degree, left_from.cut, near.sides
FROM left_from
JOIN kg_entities e ON e.organisation_id = %(organisation)s AND e.id = left_from.entity_id
CROSS JOIN LATERAL (
    SELECT string_agg(heaviest.relation_id || ' ' || heaviest.entity_id || ' ' || heaviest.weight, ' '
                      ORDER BY heaviest.weight DESC, heaviest.relation_id) AS sides
    FROM ({_HEAVIEST.format(entity="e.id")}) heaviest
) near
"""

FACTS = """
SELECT id::text AS id, name, type, '' AS target, description, true AS entity FROM kg_entities
WHERE organisation_id = %(organisation)s AND id = ANY(string_to_array(%(entities)s, ' ')::uuid[])
UNION ALL
SELECT r.id::text, s.name, r.relation, t.name, r.description, false
FROM kg_relations r
JOIN kg_entities s ON s.organisation_id = r.organisation_id AND s.id = r.source_id
JOIN kg_entities t ON t.organisation_id = r.organisation_id AND t.id = r.target_id
WHERE r.organisation_id = %(organisation)s AND r.id = ANY(string_to_array(%(relations)s, ' ')::uuid[])
"""
# Lists of ids and numbers come as one text each, with a blank between: the driver takes long to write out an array.
# In the order of the index, which ends the look-up of a hub after `limit` rows. Passages come as one text for each
# entity: whether it is about the entity, passage and document, in turn.
MENTIONS = """
SELECT seed.id::text AS entity_id,
       string_agg(m.subject::int || ' ' || m.chunk_id || ' ' || m.document_id, ' '
                  ORDER BY m.subject DESC, m.chunk_id) AS passages
FROM unnest(string_to_array(%(entities)s, ' ')::uuid[], string_to_array(%(about)s, ' ')::boolean[]) AS seed (id, about)
CROSS JOIN LATERAL (
    (SELECT chunk_id, document_id, subject FROM kg_mentions
     WHERE NOT seed.about AND organisation_id = %(organisation)s AND entity_id = seed.id
     ORDER BY subject DESC, chunk_id
     LIMIT %(limit)s)
    UNION ALL
    (SELECT chunk_id, document_id, subject FROM kg_mentions
     WHERE seed.about AND organisation_id = %(organisation)s AND entity_id = seed.id AND subject
     ORDER BY chunk_id
     LIMIT %(limit)s)
) m
GROUP BY seed.id
"""
STATED = """
WITH said AS (
    SELECT s.chunk_id, s.document_id, sum(walked.score * least(1, s.weight / walked.weight)) AS score
    FROM unnest(
        string_to_array(%(relations)s, ' ')::uuid[],
        string_to_array(%(scores)s, ' ')::float8[],
        string_to_array(%(weights)s, ' ')::float8[]
    ) AS walked (id, score, weight)
    JOIN kg_relation_sources s ON s.organisation_id = %(organisation)s AND s.relation_id = walked.id
    GROUP BY s.chunk_id, s.document_id
)
SELECT string_agg(chunk_id || ' ' || document_id || ' ' || score, ' ') AS stated
FROM (
    (SELECT * FROM said ORDER BY least(1, score) DESC, chunk_id LIMIT %(limit)s)
    UNION
    SELECT * FROM said WHERE chunk_id = ANY(string_to_array(%(among)s, ' ')::uuid[])
) read
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
INSERT INTO kg_mentions (organisation_id, chunk_id, entity_id, start_offset, end_offset, subject, document_id)
SELECT %(organisation)s, new.*, %(document)s
FROM unnest(%(chunks)s::uuid[], %(ids)s::uuid[], %(starts)s::int[], %(ends)s::int[], %(subjects)s::boolean[])
    AS new (chunk_id, id, start_offset, end_offset, subject)
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
