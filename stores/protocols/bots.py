"""Bots."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from tributary.domain.bots import Bot, CapabilityOverrides, Weights


class BotStore(Protocol):
    """A linked knowledge base that the organisation doesn't have is a `NotFound`, on create and update."""

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
    ) -> Bot: ...

    async def get(self, organisation_id: UUID, bot_id: UUID) -> Bot: ...

    async def list(self, organisation_id: UUID, *, after: UUID | None, limit: int) -> Sequence[Bot]:
        """By id, oldest first, those behind `after`."""
        ...

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
        """Changes what is not `None`; `weights` and `capabilities` as a whole."""
        ...

    async def delete(self, organisation_id: UUID, bot_id: UUID) -> None:
        """Raises `Conflict` while the bot has conversations."""
        ...
