"""Constraints and indexes, made once by whichever process comes first.

Nodes and relationships carry `org` and `kb`, and every statement names both. An entity's id is made of its knowledge
base and its key, a relation's of its ends and its label: the same fact has the same id whoever writes it.
"""

from typing import TYPE_CHECKING

from stores.neo4j import cypher
from tributary.domain.errors import DependencyUnavailable

if TYPE_CHECKING:
    from neo4j import AsyncSession

SCHEMA = (
    "CREATE CONSTRAINT kg_base IF NOT EXISTS FOR (n:KgBase) REQUIRE n.kb IS UNIQUE",
    "CREATE CONSTRAINT kg_document IF NOT EXISTS FOR (n:KgDocument) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT kg_chunk IF NOT EXISTS FOR (n:KgChunk) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT kg_entity IF NOT EXISTS FOR (n:KgEntity) REQUIRE n.id IS UNIQUE",
    "CREATE CONSTRAINT kg_name IF NOT EXISTS FOR (n:KgName) REQUIRE (n.kb, n.key) IS UNIQUE",
    "CREATE CONSTRAINT kg_relation IF NOT EXISTS FOR ()-[r:KG_RELATION]-() REQUIRE r.id IS UNIQUE",
    "CREATE INDEX kg_document_place IF NOT EXISTS FOR (n:KgDocument) ON (n.kb)",
    "CREATE INDEX kg_chunk_place IF NOT EXISTS FOR (n:KgChunk) ON (n.kb)",
    "CREATE INDEX kg_name_place IF NOT EXISTS FOR (n:KgName) ON (n.kb)",
    "CREATE INDEX kg_entity_place IF NOT EXISTS FOR (n:KgEntity) ON (n.kb, n.mentions)",
    # Names that a question spells wrong are found by their first or their last half.
    "CREATE INDEX kg_entity_key IF NOT EXISTS FOR (n:KgEntity) ON (n.kb, n.key)",
    "CREATE INDEX kg_entity_backwards IF NOT EXISTS FOR (n:KgEntity) ON (n.kb, n.backwards)",
    "CREATE INDEX kg_chunk_document IF NOT EXISTS FOR (n:KgChunk) ON (n.document)",
    "CREATE INDEX kg_base_owner IF NOT EXISTS FOR (n:KgBase) ON (n.org)",
    # A walk takes the heaviest relations of a hub, and no others.
    "CREATE INDEX kg_relation_from IF NOT EXISTS FOR ()-[r:KG_RELATION]-() ON (r.source, r.rank)",
    "CREATE INDEX kg_relation_to IF NOT EXISTS FOR ()-[r:KG_RELATION]-() ON (r.target, r.rank)",
    # And the passages that speak of it.
    "CREATE INDEX kg_mentions_rank IF NOT EXISTS FOR ()-[r:KG_MENTIONS]-() ON (r.entity, r.rank)",
    "CREATE INDEX kg_states_relation IF NOT EXISTS FOR ()-[r:KG_STATES]-() ON (r.relation)",
    "CREATE INDEX kg_names_document IF NOT EXISTS FOR ()-[r:KG_NAMES]-() ON (r.document)",
)
#: Another process made it at the same moment.
_MADE = frozenset(
    f"Neo.ClientError.Schema.{name}"
    for name in ("EquivalentSchemaRuleAlreadyExists", "ConstraintAlreadyExists", "IndexAlreadyExists")
)
_PENDING = (
    "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'kg_' AND state <> 'ONLINE' RETURN count(*) AS pending"
)


async def create_schema(session: "AsyncSession") -> None:
    """Makes what is missing and waits until it can be used.

    Raises:
        DependencyUnavailable: an index can't be built.
    """
    from neo4j.exceptions import ClientError

    for statement in SCHEMA:
        try:
            await (await session.run(statement)).consume()
        except ClientError as error:
            if error.code not in _MADE:
                raise
    await (await session.run("CALL db.awaitIndexes(60)")).consume()
    pending = await (await session.run(_PENDING)).single(strict=True)
    if pending["pending"]:
        raise DependencyUnavailable("Neo4j is still building its indexes")
    # Graphs of earlier versions lack what walks read.
    lacking = await (await session.run(cypher.INCOMPLETE)).single(strict=True)
    if lacking["incomplete"]:
        await (await session.run(cypher.COMPLETE, cypher.WIDTHS)).consume()
