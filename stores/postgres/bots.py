"""Bots in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from psycopg.errors import ForeignKeyViolation
from psycopg.rows import DictRow

from stores.postgres.database import Connection, Database
from stores.postgres.jsonb import as_jsonb
from stores.postgres.statements import pipelined, query
from stores.requirements import require_weights
from tributary.domain.bots import Bot, CapabilityOverrides, LinkedBase, Weights
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id

_BOT = """
SELECT b.*, ARRAY(
    SELECT ARRAY[k.id::text, k.name, k.embedding]
    FROM bot_knowledge_bases l
    JOIN knowledge_bases k ON k.organisation_id = l.organisation_id AND k.id = l.knowledge_base_id
    WHERE l.organisation_id = b.organisation_id AND l.bot_id = b.id ORDER BY l.position
) AS knowledge_bases
FROM bots b
WHERE b.organisation_id = %(organisation)s
"""
_GET = f"{_BOT} AND b.id = %(id)s"
_FIRST_PAGE = f"{_BOT} ORDER BY b.id LIMIT %(limit)s"
_NEXT_PAGE = f"{_BOT} AND b.id > %(after)s ORDER BY b.id LIMIT %(limit)s"
_INSERT = """
INSERT INTO bots (organisation_id, id, name, prompt, model, weight_vector, weight_text, weight_importance,
                  capabilities, shrink_images)
VALUES (%(organisation)s, %(id)s, %(name)s, %(prompt)s, %(model)s, %(vector)s, %(text)s, %(importance)s,
        %(capabilities)s, %(shrink_images)s)
RETURNING id
"""
_UPDATE = """
UPDATE bots
SET name = coalesce(%(name)s, name), prompt = coalesce(%(prompt)s, prompt), model = coalesce(%(model)s, model),
    weight_vector = coalesce(%(vector)s, weight_vector), weight_text = coalesce(%(text)s, weight_text),
    weight_importance = coalesce(%(importance)s, weight_importance),
    capabilities = coalesce(%(capabilities)s::jsonb, capabilities),
    shrink_images = coalesce(%(shrink_images)s, shrink_images)
WHERE organisation_id = %(organisation)s AND id = %(id)s
RETURNING id
"""
_UNLINK = """
DELETE FROM bot_knowledge_bases WHERE organisation_id = %(organisation)s AND bot_id = %(id)s RETURNING bot_id
"""
# Links what exists and returns it, so that what does not is known by name.
_LINK = """
INSERT INTO bot_knowledge_bases (organisation_id, bot_id, knowledge_base_id, position)
SELECT k.organisation_id, %(id)s, k.id, wanted.position
FROM unnest(%(knowledge_bases)s::uuid[]) WITH ORDINALITY AS wanted (id, position)
JOIN knowledge_bases k ON k.organisation_id = %(organisation)s AND k.id = wanted.id
RETURNING knowledge_base_id
"""
_DELETE = "DELETE FROM bots WHERE organisation_id = %(organisation)s AND id = %(id)s RETURNING id"


class PostgresBots:
    """`BotStore` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        organisation_id: UUID,
        *,
        name: str,
        prompt: str,
        model: str,
        knowledge_base_ids: Sequence[UUID],
        weights: Weights,
        capabilities: CapabilityOverrides | None = None,
        shrink_images: bool = False,
    ) -> Bot:
        bot_id = new_id()
        values = {"id": bot_id, "name": name, "prompt": prompt, "model": model, "shrink_images": shrink_images}
        values |= _terms(weights) | _said(capabilities or CapabilityOverrides())
        wanted = list(dict.fromkeys(knowledge_base_ids))
        try:
            async with self._database.organisation(organisation_id) as connection:
                await connection.execute(_INSERT, {"organisation": organisation_id, **values})
                return await _link(connection, organisation_id, bot_id, wanted)
        except ForeignKeyViolation as error:
            raise _missing(organisation_id, wanted, error) from error

    async def get(self, organisation_id: UUID, bot_id: UUID) -> Bot:
        rows = await query(self._database, organisation_id, _GET, {"id": bot_id})
        if not rows:
            raise NotFound("bot", bot_id)
        return _bot(rows[0])

    async def list(self, organisation_id: UUID, *, after: UUID | None, limit: int) -> Sequence[Bot]:
        page = _FIRST_PAGE if after is None else _NEXT_PAGE
        rows = await query(self._database, organisation_id, page, {"after": after, "limit": limit})
        return [_bot(row) for row in rows]

    async def update(
        self,
        organisation_id: UUID,
        bot_id: UUID,
        *,
        name: str | None = None,
        prompt: str | None = None,
        model: str | None = None,
        knowledge_base_ids: Sequence[UUID] | None = None,
        weights: Weights | None = None,
        capabilities: CapabilityOverrides | None = None,
        shrink_images: bool | None = None,
    ) -> Bot:
        values = {"id": bot_id, "name": name, "prompt": prompt, "model": model, "shrink_images": shrink_images}
        values |= _terms(weights) | _said(capabilities)
        wanted = None if knowledge_base_ids is None else list(dict.fromkeys(knowledge_base_ids))
        try:
            async with self._database.organisation(organisation_id) as connection:
                cursor = await connection.execute(_UPDATE, {"organisation": organisation_id, **values})
                if not await cursor.fetchall():
                    raise NotFound("bot", bot_id)
                return await _link(connection, organisation_id, bot_id, wanted)
        except ForeignKeyViolation as error:
            raise _missing(organisation_id, wanted or (), error) from error

    async def delete(self, organisation_id: UUID, bot_id: UUID) -> None:
        try:
            rows = await query(self._database, organisation_id, _DELETE, {"id": bot_id})
        except ForeignKeyViolation as error:
            raise Conflict("The bot has conversations: delete them first") from error
        if not rows:
            raise NotFound("bot", bot_id)


async def _link(
    connection: Connection, organisation_id: UUID, bot_id: UUID, knowledge_base_ids: Sequence[UUID] | None
) -> Bot:
    """Puts these links in the place of the bot's, where they are given, and returns the bot."""
    values = {"id": bot_id, "knowledge_bases": knowledge_base_ids}
    relink = [] if knowledge_base_ids is None else [(_UNLINK, values), (_LINK, values)]
    *links, bots = await pipelined(connection, organisation_id, [*relink, (_GET, values)])
    if knowledge_base_ids is not None:
        linked = {row["knowledge_base_id"] for row in links[-1]}
        for wanted in knowledge_base_ids:
            if wanted not in linked:
                raise NotFound("knowledge base", wanted)
    return _bot(bots[0])


def _missing(organisation_id: UUID, knowledge_base_ids: Sequence[UUID], error: ForeignKeyViolation) -> NotFound:
    """What a row referred to and is not there: the organisation, or a knowledge base that was deleted this moment."""
    if error.diag.table_name == "bots":
        return NotFound("organisation", organisation_id)
    return NotFound("knowledge base", ", ".join(map(str, knowledge_base_ids)))


def _terms(weights: Weights | None) -> dict[str, Any]:
    if weights is None:
        return {"vector": None, "text": None, "importance": None}
    require_weights(weights)
    return {"vector": weights.vector, "text": weights.text, "importance": weights.importance}


def _said(capabilities: CapabilityOverrides | None) -> dict[str, Any]:
    if capabilities is None:
        return {"capabilities": None}
    said = {name: value for name, value in asdict(capabilities).items() if value is not None}
    return {"capabilities": as_jsonb(said)}


def _bot(row: DictRow) -> Bot:
    return Bot(
        id=row["id"],
        organisation_id=row["organisation_id"],
        name=row["name"],
        prompt=row["prompt"],
        model=row["model"],
        knowledge_bases=tuple(LinkedBase(UUID(key), *said) for key, *said in row["knowledge_bases"]),
        created_at=row["created_at"],
        weights=Weights(vector=row["weight_vector"], text=row["weight_text"], importance=row["weight_importance"]),
        capabilities=CapabilityOverrides(**row["capabilities"]),
        shrink_images=row["shrink_images"],
    )
