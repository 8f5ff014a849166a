"""What nobody asks for and everybody counts on: unused uploads go, turns of dead processes are told, files of deleted
conversations are erased."""

import asyncio
import logging
import time
from uuid import UUID

from stores.protocols.conversations import ConversationStore
from stores.protocols.idempotency import IdempotencyStore
from stores.protocols.identity import IdentityStore
from tributary.domain.errors import DependencyError
from tributary.knowledge_graphs import KnowledgeGraphs
from tributary.uploads import Uploads

logger = logging.getLogger(__name__)

#: Seconds between two rounds.
INTERVAL = 60.0
#: Seconds between two looks through the graphs that are kept outside the database.
GRAPH_INTERVAL = 300.0


class Upkeep:
    """Rounds over all organisations; safe to run in several processes at once."""

    def __init__(
        self,
        *,
        identity: IdentityStore,
        conversations: ConversationStore,
        idempotency: IdempotencyStore,
        uploads: Uploads,
        graphs: KnowledgeGraphs,
        unused_hours: float,
    ) -> None:
        self._identity = identity
        self._conversations = conversations
        self._idempotency = idempotency
        self._uploads = uploads
        self._graphs = graphs
        self._unused_hours = unused_hours
        self._cleared = -GRAPH_INTERVAL

    async def round(self) -> None:
        """One round. Raises `DependencyUnavailable` when the database is away."""
        await self._uploads.remove_leftovers()
        for organisation in await self._identity.list_organisations():
            interrupted = await self._conversations.interrupt_orphans(organisation.id)
            removed = await self._uploads.remove_unused(organisation.id, hours=self._unused_hours)
            await self._idempotency.purge(organisation.id)
            if interrupted or removed:
                logger.info("upkeep: %d turns were interrupted, %d unused uploads removed", interrupted, removed)
        await self._clear_graphs()

    async def _clear_graphs(self) -> None:
        """What deletes left in a store of graphs that was away. One that still is keeps no server from starting."""
        if time.monotonic() - self._cleared < GRAPH_INTERVAL:
            return
        try:
            for organisation in await self._identity.list_organisations():
                if removed := await self._graphs.clear_leftovers(organisation.id):
                    logger.info("upkeep: %d graphs of what was deleted or replaced removed", removed)
            self._cleared = time.monotonic()
        except DependencyError as error:
            logger.warning("upkeep of knowledge graphs waits for a dependency: %s", error.detail)

    async def run(self) -> None:
        """Rounds until it is cancelled; one that fails on a dependency is told and the next one tries again."""
        while True:
            await asyncio.sleep(INTERVAL)
            try:
                await self.round()
            except DependencyError as error:
                logger.warning("upkeep waits for a dependency: %s", error.detail)


class ConversationRemoval:
    """Deleting a conversation with all that belongs to it."""

    def __init__(self, *, conversations: ConversationStore, uploads: Uploads, keep_files: bool) -> None:
        self._conversations = conversations
        self._uploads = uploads
        self._keep_files = keep_files

    async def delete(self, organisation_id: UUID, conversation_id: UUID) -> None:
        """Removes messages, traces, checkpoints and, unless the setting says otherwise, files.

        Raises:
            NotFound: unknown.
            Conflict: a turn is running.
        """
        attachments = await self._conversations.delete(organisation_id, conversation_id)
        if not self._keep_files:
            await self._uploads.forget(attachments)
