"""The queue of turns of one process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

from stores.lanes import Lanes
from tributary.domain.errors import RateLimited


class MemoryTurnQueue:
    """`TurnQueue` for a process that is alone."""

    def __init__(self) -> None:
        self._lanes = Lanes()

    @asynccontextmanager
    async def turn(
        self,
        organisation_id: UUID,
        conversation_id: UUID,
        *,
        timeout: float,  # noqa: ASYNC109 - bounds the wait, not what is done with the turn
    ) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._lanes.hold((organisation_id, conversation_id), patience=timeout))
            except TimeoutError as error:
                raise RateLimited(
                    "Earlier messages of this conversation are still being answered", retry_after=5
                ) from error
            yield

    @asynccontextmanager
    async def claim(self, organisation_id: UUID, conversation_ids: Sequence[UUID]) -> AsyncIterator[Sequence[UUID]]:
        with self._lanes.take_free([(organisation_id, each) for each in conversation_ids]) as free:
            yield [conversation_id for _, conversation_id in free]

    async def held(self, organisation_id: UUID, conversation_id: UUID) -> bool:
        return self._lanes.held((organisation_id, conversation_id))
