"""The statements of the knowledge graph on Neo4j. Names reach them as parameters only, and each names organisation and
knowledge base."""

import re
from functools import cache

from stores.graph_records import LOOK_AROUND
from stores.graph_search import MENTIONS as MOST_MENTIONS
from stores.walking import FAN_OUT

#: How much of an entity's surroundings is written out beside it (`WRITE_OUT`): relations, those of them that a walk
#: takes, and passages. Whoever changes one takes another label than `KgLegible`, so that all of it is written again.
WIDTHS = {"sides": LOOK_AROUND, "walked": FAN_OUT, "passages": MOST_MENTIONS}

_OWN = re.compile(r"\$(?!org\b|kb\b)(\w+)")

# Documents of a knowledge base share entities: their graph changes queue up at this node, so that sums stay exact and
# two writers never wait for each other's locks in turn.
OPEN_BASE = """
MERGE (b:KgBase {kb: $kb}) ON CREATE SET b.org = $org
SET b.writes = coalesce(b.writes, 0) + 1
RETURN b.org = $org AS ours
"""
LOCK_BASE = """
MATCH (b:KgBase {kb: $kb}) WHERE b.org = $org
SET b.writes = coalesce(b.writes, 0) + 1
RETURN true AS ours
"""

# --- taking a document out
HAS_DOCUMENT = """
MATCH (d:KgDocument {id: $document}) WHERE d.org = $org AND d.kb = $kb AND ($stamp IS NULL OR d.chunk = $stamp)
RETURN d.id AS id
"""
FORGET_SAYINGS = """
MATCH (d:KgDocument {id: $document}) WHERE d.org = $org AND d.kb = $kb
OPTIONAL MATCH (d)-[:KG_SAYS]->(e:KgEntity)
WITH d, collect(e.id) AS entities
DETACH DELETE d
RETURN entities
"""
FORGOTTEN_RELATIONS = """
MATCH (c:KgChunk {document: $document})-[s:KG_STATES]->() WHERE c.org = $org AND c.kb = $kb
RETURN DISTINCT s.relation AS id
"""
FORGET_CHUNKS = "MATCH (c:KgChunk {document: $document}) WHERE c.org = $org AND c.kb = $kb DETACH DELETE c"
FORGET_NAMES = """
MATCH (n:KgName)-[r:KG_NAMES {document: $document}]->() WHERE n.org = $org AND n.kb = $kb
WITH n, collect(r) AS gone
FOREACH (r IN gone | DELETE r)
WITH n, EXISTS { (n)-[:KG_NAMES]->() } AS used
CALL {
    WITH n, used
    WITH n WHERE used AND coalesce(size(n.entities), 2) > 1
    MATCH (n)-[:KG_NAMES]->(e)
    WITH DISTINCT e.id AS id ORDER BY id
    RETURN collect(id) AS ids
}
FOREACH (kept IN CASE WHEN ids <> [] THEN [n] ELSE [] END | SET kept.entities = ids)
FOREACH (gone IN CASE WHEN used THEN [] ELSE [n] END | DELETE gone)
"""

# --- putting a document in
ADD_DOCUMENT = "CREATE (:KgDocument {id: $document, org: $org, kb: $kb, chunk: $stamp})"
ADD_ENTITIES = """
MATCH (d:KgDocument {id: $document})
UNWIND $rows AS row
MERGE (e:KgEntity {id: row.id})
ON CREATE SET e.org = $org, e.kb = $kb, e.key = row.key, e.backwards = reverse(row.key), e.name = row.name,
              e.type = row.type, e.description = '', e.documents = 0, e.mentions = 0, e.degree = 0
CREATE (d)-[:KG_SAYS {name: row.name, type: row.type, description: row.description, mentions: row.mentions}]->(e)
"""
ADD_NAMES = """
UNWIND $rows AS row
MATCH (e:KgEntity {id: row.id}) WHERE e.org = $org AND e.kb = $kb
MERGE (n:KgName {kb: $kb, key: row.key}) ON CREATE SET n.org = $org
CREATE (n)-[:KG_NAMES {document: $document}]->(e)
"""
ADD_CHUNKS = "UNWIND $rows AS id CREATE (:KgChunk {id: id, org: $org, kb: $kb, document: $document})"
# One relationship for a chunk and an entity, with all places. By `rank` chunks about the entity come first.
ADD_MENTIONS = """
UNWIND $rows AS row
MATCH (c:KgChunk {id: row.chunk}), (e:KgEntity {id: row.id}) WHERE e.org = $org AND e.kb = $kb
CREATE (c)-[:KG_MENTIONS {entity: row.id, rank: row.rank, starts: row.starts, ends: row.ends,
                          subjects: row.subjects}]->(e)
"""
ADD_RELATIONS = """
UNWIND $rows AS row
MATCH (s:KgEntity {id: row.source}), (t:KgEntity {id: row.target})
WHERE s.org = $org AND s.kb = $kb AND t.org = $org AND t.kb = $kb
MERGE (s)-[r:KG_RELATION {id: row.id}]->(t)
ON CREATE SET r.org = $org, r.kb = $kb, r.source = row.source, r.target = row.target, r.relation = row.relation,
              r.rank = '', r.weight = 0.0, r.description = ''
"""
ADD_STATEMENTS = """
UNWIND $rows AS row
MATCH (c:KgChunk {id: row.chunk}), (s:KgEntity {id: row.source}) WHERE s.org = $org AND s.kb = $kb
CREATE (c)-[:KG_STATES {relation: row.id, weight: row.weight, description: row.description}]->(s)
"""

# --- entities and relations are the sums of their sources; those without any go
# By `rank` the heaviest relation comes first, then by id.
SUM_RELATIONS = """
UNWIND $ids AS id
MATCH ()-[r:KG_RELATION {id: id}]->() WHERE r.org = $org AND r.kb = $kb
CALL {
    WITH id
    OPTIONAL MATCH (c:KgChunk)-[s:KG_STATES {relation: id}]->()
    WITH s, c ORDER BY s.description = '', s.weight DESC, c.id
    RETURN count(s) AS sources, sum(s.weight) AS weight, head(collect(s.description)) AS description
}
FOREACH (gone IN CASE WHEN sources = 0 THEN [r] ELSE [] END | DELETE gone)
FOREACH (kept IN CASE WHEN sources > 0 THEN [r] ELSE [] END | SET
    kept.weight = weight, kept.description = description,
    kept.rank = toString(toInteger(9000000000000000 - round(weight * 1000000))) + ' ' + id)
"""
DROP_ENTITIES = """
UNWIND $ids AS id
MATCH (e:KgEntity {id: id}) WHERE e.org = $org AND e.kb = $kb AND NOT EXISTS { (:KgDocument)-[:KG_SAYS]->(e) }
DETACH DELETE e
"""
# The name and the type that most mentions use; the description of the document that speaks most of it.
SUM_ENTITIES = """
UNWIND $ids AS id
MATCH (e:KgEntity {id: id}) WHERE e.org = $org AND e.kb = $kb
CALL {
    WITH e
    MATCH (:KgDocument)-[s:KG_SAYS]->(e) RETURN count(s) AS documents, sum(s.mentions) AS mentions
}
CALL {
    WITH e
    MATCH (:KgDocument)-[s:KG_SAYS]->(e) RETURN s.name AS name ORDER BY s.mentions DESC, s.name LIMIT 1
}
CALL {
    WITH e
    MATCH (:KgDocument)-[s:KG_SAYS]->(e) RETURN s.type AS type ORDER BY s.mentions DESC, s.type LIMIT 1
}
CALL {
    WITH e
    MATCH (:KgDocument)-[s:KG_SAYS]->(e)
    RETURN s.description AS description ORDER BY s.description = '', s.mentions DESC, s.description LIMIT 1
}
SET e.documents = documents, e.mentions = mentions, e.name = name, e.type = type, e.description = description,
    e.degree = COUNT { (e)-[:KG_RELATION]->() } + COUNT { (e)<-[:KG_RELATION]-() } - COUNT { (e)-[:KG_RELATION]->(e) }
"""

# What searches read of an entity, most as texts with a blank behind each field (`stores.graph_texts`): Neo4j takes
# a property many times quicker than the relationships that it is made of. The heaviest relations and the first passages
# come from indexes by rank, without a look at the rest: Neo4j reads an index in its order only when the order is asked
# for from its first property on. The node is written to first, so that its relations are read when others are done with
# it. A name has a relationship for each document that uses it, so a hub's name has thousands, nearly all to the entity
# whose key it is: they are followed only where their number, which Neo4j knows, tells that there are others too.
_WRITE_OUT = """
SET e:KgLegible, e.backwards = reverse(e.key)
WITH e, e.id AS id
CALL {
    WITH id
    CALL {
        WITH id
        MATCH ()-[r:KG_RELATION]->() WHERE r.source = id AND r.rank > ''
        RETURN r, r.rank AS rank, r.target AS neighbour ORDER BY r.source, r.rank LIMIT $sides
        UNION
        WITH id
        MATCH ()-[r:KG_RELATION]->() WHERE r.target = id AND r.rank > ''
        RETURN r, r.rank AS rank, r.source AS neighbour ORDER BY r.target, r.rank LIMIT $sides
    }
    WITH rank, r.id + ' ' + neighbour + ' ' + toString(r.weight) + ' ' AS side ORDER BY rank
    WITH collect(side)[..$sides] AS sides
    RETURN reduce(text = '', side IN sides[..$walked] | text + side) AS nearest,
           reduce(text = '', side IN sides[$walked..] | text + side) AS further
}
CALL {
    WITH id
    MATCH (c:KgChunk)-[m:KG_MENTIONS]->() WHERE m.entity = id AND m.rank > ''
    WITH c, m ORDER BY m.entity, m.rank LIMIT $passages
    WITH collect(CASE WHEN true IN m.subjects THEN '1 ' ELSE '0 ' END + c.id + ' ' + c.document + ' ') AS passages
    RETURN reduce(text = '', passage IN passages | text + passage) AS passages
}
SET e.sides = nearest, e.further = further, e.passages = passages
WITH e
CALL {
    WITH e
    MATCH (n:KgName {kb: e.kb, key: e.key})
    RETURN n
    UNION
    WITH e
    WITH e WHERE COUNT { (e)<-[:KG_NAMES]-() } > COUNT { (e)<-[:KG_SAYS]-() }
    MATCH (n:KgName)-[:KG_NAMES]->(e)
    RETURN n
}
CALL {
    WITH e, n
    WITH e, n, n.key = e.key AND COUNT { (n)-[:KG_NAMES]->() } = COUNT { (e)<-[:KG_SAYS]-() } AS alone
    CALL {
        WITH e, alone
        WITH e WHERE alone
        RETURN e.id AS id
        UNION
        WITH n, alone
        WITH n WHERE NOT alone
        MATCH (n)-[:KG_NAMES]->(other)
        RETURN other.id AS id
    }
    WITH id ORDER BY id
    RETURN collect(id) AS ids
}
SET n.entities = ids
WITH e, n.key AS name ORDER BY name
WITH e, collect(name) AS names
SET e.aliases = [name IN names WHERE name <> e.key]
"""
WRITE_OUT = f"""
UNWIND $ids AS id
MATCH (e:KgEntity {{id: id}}) WHERE e.org = $org AND e.kb = $kb
{_WRITE_OUT}
"""
# What graphs of earlier versions lack. Both numbers are known without a look at the nodes.
INCOMPLETE = "RETURN COUNT { MATCH (e:KgLegible) } < COUNT { MATCH (e:KgEntity) } AS incomplete"
COMPLETE = f"""
MATCH (e:KgEntity) WHERE NOT e:KgLegible
CALL {{
    WITH e
    {_WRITE_OUT}
}} IN TRANSACTIONS OF 500 ROWS
"""

# --- taking a knowledge base out, a bounded part at a time; its own node last, so that a part left over is found
EMPTY_BASE = tuple(
    f"MATCH (n:{label} {{kb: $kb}}) WHERE n.org = $org WITH n LIMIT $part DETACH DELETE n RETURN count(*) AS gone"
    for label in ("KgChunk", "KgDocument", "KgName", "KgEntity", "KgBase")
)

# --- searching. Each statement gives one row with a list, `found`: the driver takes longer over a row than Neo4j does.
# Whom a name names, and what else an entity is called, stand in both: see `WRITE_OUT`.
NAMED = """
UNWIND $names AS name
MATCH (n:KgName {kb: $kb, key: name}) WHERE n.org = $org
UNWIND n.entities AS id
MATCH (e:KgEntity {id: id}) WHERE e.org = $org AND e.kb = $kb
RETURN collect([name, id, e.mentions]) AS found
"""
_ALIKE = """
    WITH part
    MATCH (e:KgEntity {{kb: $kb}}) WHERE e.org = $org AND e.{side} STARTS WITH part.text
    WITH part, e ORDER BY e.kb, e.{side} LIMIT $read
    WITH part, e WHERE size(e.key) >= part.shortest AND size(e.key) <= part.longest
    WITH e LIMIT $limit
    RETURN e
"""
ALIKE = f"""
CALL {{
    UNWIND $beginnings AS part
    CALL {{{_ALIKE.format(side="key")}}}
    RETURN e
    UNION
    UNWIND $endings AS part
    CALL {{{_ALIKE.format(side="backwards")}}}
    RETURN e
}}
RETURN collect(DISTINCT [e.id, e.key, e.mentions]) AS found
"""
MENTIONED_BY = """
UNWIND $chunks AS chunk
MATCH (c:KgChunk {id: chunk})-[m:KG_MENTIONS]->(e:KgEntity) WHERE c.org = $org AND c.kb = $kb
RETURN collect([chunk, e.id, e.mentions, m.starts, m.subjects]) AS found
"""
NAMESAKES = """
UNWIND $ids AS id
MATCH (e:KgEntity {id: id}) WHERE e.org = $org AND e.kb = $kb
UNWIND [e.key] + coalesce(e.aliases[..$limit], []) AS name
MATCH (n:KgName {kb: $kb, key: name}) WHERE n.org = $org AND size(n.entities) > 1
UNWIND n.entities[..$limit + 1] AS other
WITH DISTINCT id, other WHERE other <> id
RETURN collect([id, other]) AS found
"""
# What a walk reads of an entity stands in it as text: see `WRITE_OUT`. An earlier version that still writes leaves it
# out, until the next start.
LEAVE = """
UNWIND $ids AS id
MATCH (e:KgEntity {id: id}) WHERE e.org = $org AND e.kb = $kb
WITH id, e, CASE WHEN $fan_out > $walked THEN e.further ELSE '' END AS further
RETURN collect([id, e.degree, coalesce(e.sides + further, '')]) AS found
"""
# Passages about it come first: where the first is none, there is none.
MENTIONS = """
UNWIND $ids AS id
MATCH (e:KgEntity {id: id})
WHERE e.org = $org AND e.kb = $kb AND (NOT id IN $about OR e.passages STARTS WITH '1')
RETURN collect([id, coalesce(e.passages, '')]) AS found
"""
STATED = """
UNWIND $walked AS one
WITH one[0] AS id, one[1] AS score, one[2] AS weight
MATCH (c:KgChunk)-[s:KG_STATES {relation: id}]->() WHERE c.org = $org AND c.kb = $kb
WITH c, sum(score * CASE WHEN s.weight < weight THEN s.weight / weight ELSE 1.0 END) AS score
WITH c.id AS chunk, c.document AS document, score, CASE WHEN score < 1.0 THEN score ELSE 1.0 END AS counted
ORDER BY counted DESC, chunk
WITH collect([chunk, document, score]) AS stated
WITH stated[..$limit] + [one IN stated[$limit..] WHERE one[0] IN $among] AS stated
RETURN reduce(text = '', one IN stated | text + one[0] + ' ' + one[1] + ' ' + toString(one[2]) + ' ') AS found
"""
# With each fact a few of the chunks that carry it: one of several documents each, or of several places.
FACTS = """
CALL {
    UNWIND $entities AS id
    MATCH (e:KgEntity {id: id}) WHERE e.org = $org AND e.kb = $kb
    CALL { WITH e MATCH (d:KgDocument)-[:KG_SAYS]->(e) RETURN d.chunk AS chunk LIMIT $samples }
    WITH id, e, collect(chunk) AS chunks
    RETURN collect([id, chunks, e.name, e.type, e.description]) AS known
}
CALL {
    UNWIND $relations AS id
    MATCH (s:KgEntity)-[r:KG_RELATION {id: id}]->(t:KgEntity) WHERE r.org = $org AND r.kb = $kb
    CALL { WITH id MATCH (c:KgChunk)-[:KG_STATES {relation: id}]->() RETURN c.id AS chunk LIMIT $samples }
    WITH id, s, r, t, collect(chunk) AS chunks
    RETURN collect([id, chunks, s.name, r.relation, t.name, r.description]) AS stated
}
RETURN [known, stated] AS found
"""


@cache
def together(*statements: str) -> str:
    """One statement for several of those that search: its `found` is a list of what each finds. The parameters of each
    carry its place as a suffix (`$ids_0`), but for organisation and knowledge base, which are the same."""
    places = range(len(statements))
    own = [_OWN.sub(rf"$\1_{n}", statements[n]) for n in places]
    parts = (f"CALL {{ CALL {{ {own[n]} }} RETURN found AS found_{n} }}" for n in places)
    return f"{' '.join(parts)} RETURN [{', '.join(f'found_{n}' for n in places)}] AS found"


# --- document by document
KNOWLEDGE_BASES = "MATCH (b:KgBase) WHERE b.org = $org RETURN b.kb AS id ORDER BY id"
DOCUMENTS = """
MATCH (d:KgDocument {kb: $kb}) WHERE d.org = $org AND ($after IS NULL OR d.id > $after)
RETURN d.id AS id, d.chunk AS stamp ORDER BY id LIMIT $limit
"""
CHOSEN_DOCUMENTS = """
UNWIND $documents AS id
MATCH (d:KgDocument {id: id}) WHERE d.org = $org AND d.kb = $kb
RETURN d.id AS id, d.chunk AS stamp ORDER BY id
"""
SAID_ENTITIES = """
UNWIND $documents AS id
MATCH (d:KgDocument {id: id})-[s:KG_SAYS]->(e:KgEntity) WHERE d.org = $org AND d.kb = $kb
RETURN id AS document, e.key AS key, s.name AS name, s.type AS type, s.description AS description ORDER BY key
"""
SAID_NAMES = """
UNWIND $documents AS id
MATCH (n:KgName)-[:KG_NAMES {document: id}]->(e:KgEntity) WHERE n.org = $org AND n.kb = $kb
RETURN id AS document, e.key AS key, n.key AS name_key
"""
SAID_MENTIONS = """
UNWIND $documents AS id
MATCH (c:KgChunk {document: id})-[m:KG_MENTIONS]->(e:KgEntity) WHERE c.org = $org AND c.kb = $kb
RETURN id AS document, c.id AS chunk, e.key AS key, m.starts AS starts, m.ends AS ends, m.subjects AS subjects
ORDER BY chunk, key
"""
SAID_STATEMENTS = """
UNWIND $documents AS id
MATCH (c:KgChunk {document: id})-[o:KG_STATES]->(s:KgEntity) WHERE c.org = $org AND c.kb = $kb
MATCH (s)-[r:KG_RELATION {id: o.relation}]->(t:KgEntity)
RETURN id AS document, c.id AS chunk, s.key AS source, r.relation AS relation, t.key AS target,
       o.description AS description, o.weight AS weight
ORDER BY chunk, source, relation, target
"""
COUNTS = """
RETURN COUNT { MATCH (d:KgDocument {kb: $kb}) WHERE d.org = $org } AS documents,
       COUNT { MATCH (e:KgEntity {kb: $kb}) WHERE e.org = $org } AS entities,
       COUNT { MATCH (e:KgEntity {kb: $kb})-[:KG_RELATION]->() WHERE e.org = $org } AS relations,
       COUNT {
           MATCH (c:KgChunk {kb: $kb})-[m:KG_MENTIONS]->() WHERE c.org = $org UNWIND m.starts AS place RETURN place
       } AS mentions,
       COUNT { MATCH (c:KgChunk {kb: $kb})-[:KG_STATES]->() WHERE c.org = $org } AS statements
"""

# --- looking at it
_CHOSEN = """
    {e}.org = $org AND {e}.mentions >= $min_mentions AND ($types = [] OR toLower({e}.type) IN $types)
    AND ($key = '' OR {e}.key CONTAINS $key) AND ($literal = '' OR {e}.name CONTAINS $literal)
    AND ($within IS NULL OR {e}.id IN $within)
"""
NODES = f"""
MATCH (e:KgEntity {{kb: $kb}})
WHERE {_CHOSEN.format(e="e")} AND (e.mentions < $mentions OR e.mentions = $mentions AND e.id > $last)
RETURN e.id AS id, e.name AS name, e.type AS type, e.description AS description, e.mentions AS mentions
ORDER BY mentions DESC, id LIMIT $limit
"""
EDGES = f"""
UNWIND $page AS id
MATCH (e:KgEntity {{id: id}})-[r:KG_RELATION]-(o:KgEntity)
WHERE o.kb = $kb AND {_CHOSEN.format(e="o")} AND (o.mentions > $mentions OR o.mentions = $mentions AND o.id <= $last)
WITH DISTINCT r ORDER BY r.weight DESC, r.id LIMIT $edges
RETURN r.source AS source, r.target AS target, r.relation AS relation, r.description AS description,
       r.weight AS weight
"""
