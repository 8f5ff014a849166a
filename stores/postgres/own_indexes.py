"""Vector indexes of large knowledge bases: which there should be, and making it so.

Indexes are built concurrently, outside a transaction and as the tables' owner, which the serving role is not. A row of
`own_indexes` is what searches go by: it is written after its index is complete and removed before the index is dropped,
so that whatever a crash leaves is an index that nobody uses, and the next round's to drop. One that its knowledge base
has outgrown serves until its successor is complete.
"""

import hashlib
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow, tuple_row

from stores.postgres.database import Database, translated
from stores.postgres.vector_lists import fits, head_of, lists_of, size_of
from stores.protocols.indexes import Tended

logger = logging.getLogger(__name__)

#: Components (vectors times their dimension) from which a knowledge base has an index: 5,200 chunks of 384 dimensions,
#: 650 of 3,072. Comparing so many takes 5–10 ms.
INDEXED_FROM = 2_000_000
#: It keeps its index until this share of that is left, so that one at the border does not have it built time and again.
KEPT_FROM = 0.5
#: So many indexes at most, the largest knowledge bases first: each one costs every statement on its table a little.
MAX_INDEXES = 200
#: One builder at a time, whichever process it runs in; the number is arbitrary and ours.
BUILDER_LOCK = 7_301_978
#: The server gives up a build soon after its client is gone.
_SESSION = "-c client_connection_check_interval=2000 -c statement_timeout=0 -c lock_timeout=0"

#: By which the extension says that it can't build an index of these vectors, whoever tries.
_REFUSALS = (psycopg.errors.InternalError_, psycopg.errors.ProgramLimitExceeded, psycopg.errors.OutOfMemory)

_SETS = "SELECT * FROM vector_sets(%(smallest)s)"
_MAY_BUILD = "SELECT pg_has_role(current_user, relowner, 'USAGE') FROM pg_class WHERE oid = 'chunks'::regclass"
#: What bounds the lists of an index: bytes to build it in, and the blocks of its table.
_BOUNDS = """
SELECT setting::bigint * 1024, pg_relation_size(%s::regclass) / current_setting('block_size')::bigint
FROM pg_settings WHERE name = 'maintenance_work_mem'
"""
_EXISTING = """
SELECT i.relname, x.indisvalid AND x.indisready, (
    SELECT option_value::integer FROM pg_options_to_table(i.reloptions) WHERE option_name = 'lists'
)
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
WHERE x.indrelid IN ('chunks'::regclass, 'chunk_images'::regclass) AND i.relname LIKE 'own\\_%'
"""
_REGISTER = """
INSERT INTO own_indexes (organisation_id, knowledge_base_id, of_table, model, dimension, head, name, lists, vectors)
VALUES (%(organisation)s, %(knowledge_base)s, %(of_table)s, %(model)s, %(dimension)s, %(head)s, %(name)s, %(lists)s,
        %(vectors)s)
ON CONFLICT (organisation_id, knowledge_base_id, of_table, model)
DO UPDATE SET head = EXCLUDED.head, name = EXCLUDED.name, lists = EXCLUDED.lists, vectors = EXCLUDED.vectors,
              built_at = now()
"""
_UNREGISTER = """
DELETE FROM own_indexes
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND of_table = %(of_table)s
  AND model = %(model)s
"""


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors that are searched together: a knowledge base's chunks, or its pictures by one model. `registered` is
    the index that searches go by."""

    organisation_id: UUID
    knowledge_base_id: UUID
    of_table: str
    model: str
    dimension: int
    vectors: int
    registered: str | None

    @property
    def components(self) -> int:
        return self.vectors * self.dimension

    @property
    def index_name(self) -> str:
        """Of the index that it should have."""
        return f"{self._stem()}{self._kind()}_{self._size()}"

    @property
    def head(self) -> int | None:
        """How many components of each vector its index holds; None: all."""
        return head_of(self.dimension)

    @property
    def outgrown(self) -> bool:
        """Whether the registered index is of these vectors, and of a size that no longer fits."""
        return self.registered is not None and self.registered != self.index_name and self._is_own(self.registered)

    def lists(self, memory: int, blocks: int) -> int:
        """How many its index is built with. See `lists_of`."""
        return lists_of(self._size(), self.head or self.dimension, memory=memory, blocks=blocks)

    def _size(self) -> int:
        """The registered index's while that fits."""
        size = self._registered_size()
        return size if size is not None and fits(size, self.vectors) else size_of(self.vectors)

    def _stem(self) -> str:
        key = f"{self.organisation_id} {self.knowledge_base_id} {self.of_table} {self.model} {self.dimension}"
        return f"own_{hashlib.sha256(key.encode()).hexdigest()[:32]}"

    def _kind(self) -> str:
        return f"_by{self.head}" if self.head else ""

    def _is_own(self, name: str) -> bool:
        return name.startswith(self._stem())

    def _registered_size(self) -> int | None:
        if self.registered is None or not self._is_own(self.registered):
            return None
        # Graphs of earlier versions have none, and of another kind none is followed.
        size = self.registered.removeprefix(self._stem() + self._kind()).removeprefix("_")
        return int(size) if size.isdecimal() else None

    def parameters(self, lists: int | None = None) -> dict[str, Any]:
        return {
            "organisation": self.organisation_id,
            "knowledge_base": self.knowledge_base_id,
            "of_table": self.of_table,
            "model": self.model,
            "dimension": self.dimension,
            "head": self.head,
            "name": self.index_name,
            "lists": lists,
            "vectors": self.vectors,
        }


@dataclass(frozen=True, slots=True)
class Existing:
    """An index that is there: whether it is complete, and its lists (None for a graph of an earlier version)."""

    complete: bool
    lists: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """`retire`: sets whose row is to go. `drop`: indexes. `build` and `adopt`: sets whose index is to be made, or is
    there without a row."""

    retire: tuple[VectorSet, ...]
    drop: tuple[str, ...]
    adopt: tuple[VectorSet, ...]
    build: tuple[VectorSet, ...]


def make_plan(sets: Iterable[VectorSet], existing: Mapping[str, Existing], *, indexed_from: int, at_most: int) -> Plan:
    """What is to be done."""
    largest = sorted(sets, key=lambda each: (-each.components, each.index_name))
    wanted = [each for each in largest if each.components >= _threshold(each, indexed_from)][:at_most]
    complete = {name for name, index in existing.items() if index.complete}
    serving = {each.registered for each in wanted if each.outgrown and each.registered in complete}
    used = {each.index_name for each in wanted} | serving
    missing = [each for each in wanted if each.registered != each.index_name or each.index_name not in complete]
    without = [each for each in missing if each.registered not in serving]
    return Plan(
        retire=tuple(each for each in largest if each.registered and (each not in wanted or each in without)),
        drop=tuple(sorted(name for name in existing if name not in used or name not in complete)),
        adopt=tuple(each for each in missing if each.index_name in complete),
        build=tuple(each for each in missing if each.index_name not in complete),
    )


def _threshold(each: VectorSet, indexed_from: int) -> float:
    return indexed_from * KEPT_FROM if each.registered else indexed_from


class PostgresOwnIndexes:
    """`VectorIndexes` on PostgreSQL. `admin_dsn` logs in as the tables' owner, or as a role that may act as it."""

    def __init__(
        self, database: Database, admin_dsn: str, *, indexed_from: int = INDEXED_FROM, at_most: int = MAX_INDEXES
    ) -> None:
        self._database = database
        self._conninfo = make_conninfo(admin_dsn, application_name="tributary indexes", options=_SESSION)
        self._indexed_from = indexed_from
        self._at_most = at_most
        self._told = False
        self._refused: set[str] = set()

    async def tend(self) -> Tended:
        with translated():
            async with self._builder() as connection:
                if connection is None:
                    return Tended()
                existing = {
                    str(name): Existing(complete, lists) for name, complete, lists in await _all(connection, _EXISTING)
                }
                plan = make_plan(await self._sets(), existing, indexed_from=self._indexed_from, at_most=self._at_most)
                return await self._carry_out(connection, plan, existing)

    @asynccontextmanager
    async def _builder(self) -> AsyncIterator[AsyncConnection[TupleRow] | None]:
        """The connection of the one process that builds; None for all others."""
        connection = await AsyncConnection.connect(self._conninfo, autocommit=True, row_factory=tuple_row)
        async with connection:
            # By trying: a statement that waits for a lock is one that a concurrent build would wait for.
            [(taken,)] = await _all(connection, f"SELECT pg_try_advisory_lock({BUILDER_LOCK})")
            yield connection if taken and await self._may_build(connection) else None

    async def _may_build(self, connection: AsyncConnection[TupleRow]) -> bool:
        [(able,)] = await _all(connection, _MAY_BUILD)
        if not able and not self._told:
            self._told = True
            logger.warning("large knowledge bases get no index: the database's role does not own the tables")
        return bool(able)

    async def _sets(self) -> list[VectorSet]:
        smallest = int(self._indexed_from * KEPT_FROM)
        async with self._database.upkeep() as connection:
            rows = await (await connection.execute(_SETS, {"smallest": smallest})).fetchall()
        return [VectorSet(**row) for row in rows]

    async def _carry_out(
        self, connection: AsyncConnection[TupleRow], plan: Plan, existing: Mapping[str, Existing]
    ) -> Tended:
        for each in plan.retire:
            await self._run(each, _UNREGISTER, each.parameters())
        for name in plan.drop:
            await connection.execute(_drop(name))
        built, dropped = list[str](), list(plan.drop)
        for each in plan.adopt:
            dropped += await self._succeed(connection, each, existing[each.index_name].lists)
        for each in plan.build:
            if each.index_name in self._refused:
                continue
            [(memory, blocks)] = await _all(connection, _BOUNDS, (each.of_table,))
            lists = each.lists(memory, blocks)
            if not await self._build(connection, each, lists):
                continue
            gone = await self._succeed(connection, each, lists)
            dropped += gone
            if each.index_name not in gone:
                built.append(each.index_name)
        for name in dropped:
            logger.info("dropped index %s", name)
        return Tended(tuple(built), tuple(dropped))

    async def _build(self, connection: AsyncConnection[TupleRow], each: VectorSet, lists: int) -> bool:
        """False where it can't be built: between vectors that are opposite the extension finds no centre, and what does
        not fit into the memory it refuses. This process does not try again before one of another size is due."""
        logger.info(
            "building index %s: %d vectors of %d in %d lists", each.index_name, each.vectors, each.dimension, lists
        )
        try:
            await connection.execute(_create(each, lists))
        except _REFUSALS as error:
            searches = "go by the old one" if each.outgrown else "compare all vectors"
            logger.warning("index %s can't be built, searches %s: %s", each.index_name, searches, error)
            self._refused.add(each.index_name)
            await connection.execute(_drop(each.index_name))
            return False
        return True

    async def _succeed(
        self, connection: AsyncConnection[TupleRow], each: VectorSet, lists: int | None
    ) -> Sequence[str]:
        """Lets searches go by the set's new index. Returns what was dropped: the index that served until now, or the
        new one, where the knowledge base was deleted meanwhile."""
        try:
            await self._run(each, _REGISTER, each.parameters(lists))
        except psycopg.errors.ForeignKeyViolation:
            useless = each.index_name
        else:
            if not each.outgrown or each.registered is None:
                return []
            useless = each.registered
        await connection.execute(_drop(useless))
        return [useless]

    async def _run(self, each: VectorSet, statement: str, values: Mapping[str, Any]) -> None:
        async with self._database.organisation(each.organisation_id) as connection:
            await connection.execute(statement, values)


def _create(each: VectorSet, lists: int) -> sql.Composed:
    """Its condition, and what it orders by, are those that the searches of `nearest_chunks` and `nearest_images`
    name (`headed`)."""
    conditions = [
        sql.SQL("organisation_id = {}").format(sql.Literal(each.organisation_id)),
        sql.SQL("knowledge_base_id = {}").format(sql.Literal(each.knowledge_base_id)),
    ]
    if each.of_table == "chunk_images":
        conditions.append(sql.SQL("model = {}").format(sql.Literal(each.model)))
    whole = sql.SQL("embedding::halfvec({})").format(sql.Literal(each.dimension))
    head = sql.SQL("subvector({0}, 1, {1})::halfvec({1})").format(whole, sql.Literal(each.head))
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY {} ON {} USING ivfflat (({}) halfvec_cosine_ops) WITH (lists = {}) WHERE {}"
    ).format(
        sql.Identifier(each.index_name),
        sql.Identifier(each.of_table),
        head if each.head else whole,
        sql.Literal(lists),
        sql.SQL(" AND ").join(conditions),
    )


def _drop(name: str) -> sql.Composed:
    return sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name))


async def _all(
    connection: AsyncConnection[TupleRow], statement: str, values: Sequence[object] | None = None
) -> Sequence[TupleRow]:
    return await (await connection.execute(statement, values)).fetchall()
