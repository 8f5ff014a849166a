"""Bots in memory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from stores.memory.tables import MemoryTables
from stores.protocols.knowledge import KnowledgeReader
from stores.requirements import require_weights
from stores.texts import require_storable
from tributary.domain.bots import Bot, CapabilityOverrides, LinkedBase, Weights
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id


class MemoryBots:
    """`BotStore` in memory, over the knowledge bases of `knowledge`."""

    def __init__(self, tables: MemoryTables, knowledge: KnowledgeReader) -> None:
        self._tables = tables
        self._knowledge = knowledge

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
        self._tables.organisation(organisation_id)
        require_storable(name, prompt, model)
        require_weights(weights)
        bot = Bot(
            id=new_id(),
            organisation_id=organisation_id,
            name=name,
            prompt=prompt,
            model=model,
            knowledge_bases=await self._known(organisation_id, knowledge_base_ids),
            created_at=self._tables.clock(),
            weights=weights,
            capabilities=capabilities or CapabilityOverrides(),
            shrink_images=shrink_images,
        )
        self._tables.bots[organisation_id, bot.id] = bot
        return bot

    async def get(self, organisation_id: UUID, bot_id: UUID) -> Bot:
        if (organisation_id, bot_id) not in self._tables.bots:
            raise NotFound("bot", bot_id)
        return await self._linked(self._tables.bots[organisation_id, bot_id])

    async def list(self, organisation_id: UUID, *, after: UUID | None, limit: int) -> Sequence[Bot]:
        found = sorted(
            (bot for bot in self._tables.bots.values() if bot.organisation_id == organisation_id),
            key=lambda bot: bot.id,
        )
        return [await self._linked(bot) for bot in found if after is None or bot.id > after][:limit]

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
        bot = await self.get(organisation_id, bot_id)
        if weights is not None:
            require_weights(weights)
        texts = {"name": name, "prompt": prompt, "model": model}
        require_storable(*(text for text in texts.values() if text is not None))
        changes: dict[str, Any] = texts | {"weights": weights, "capabilities": capabilities}
        changes["shrink_images"] = shrink_images
        if knowledge_base_ids is not None:
            changes["knowledge_bases"] = await self._known(organisation_id, knowledge_base_ids)
        changed = replace(bot, **{field: value for field, value in changes.items() if value is not None})
        self._tables.bots[organisation_id, bot_id] = changed
        return changed

    async def delete(self, organisation_id: UUID, bot_id: UUID) -> None:
        await self.get(organisation_id, bot_id)
        if any(
            row.conversation.bot_id == bot_id and row.conversation.organisation_id == organisation_id
            for row in self._tables.conversations.values()
        ):
            raise Conflict("The bot has conversations: delete them first")
        del self._tables.bots[organisation_id, bot_id]

    async def _known(self, organisation_id: UUID, ids: Sequence[UUID]) -> tuple[LinkedBase, ...]:
        found = await self._knowledge.knowledge_bases(organisation_id, tuple(dict.fromkeys(ids)))
        return tuple(LinkedBase(base.id, base.name, base.embedding) for base in found)

    async def _linked(self, bot: Bot) -> Bot:
        """The bot with its knowledge bases as they are called now, without those that were deleted since."""
        left: list[LinkedBase] = []
        for wanted in bot.knowledge_base_ids:
            try:
                left.extend(await self._known(bot.organisation_id, [wanted]))
            except NotFound:
                continue
        return replace(bot, knowledge_bases=tuple(left))
