"""Knowledge bases that grow large get what makes them quick to search, while everything else goes on."""

import asyncio
import logging

from stores.protocols.indexes import VectorIndexes, WordCounts
from tributary.domain.errors import DependencyError

logger = logging.getLogger(__name__)

#: Seconds between two rounds.
INTERVAL = 60.0


class IndexTending:
    """Runs beside the workers of ingestion: who takes documents in makes them quick to search."""

    def __init__(self, indexes: VectorIndexes, counts: WordCounts) -> None:
        self._indexes = indexes
        self._counts = counts

    async def run(self) -> None:
        """Rounds until it is cancelled; one that fails on a dependency is told and the next one tries again. A round
        may take minutes: building an index is a statement that the database works on by itself."""
        while True:
            await asyncio.sleep(INTERVAL)
            try:
                await self._counts.tend()
                await self._indexes.tend()
            except DependencyError as error:
                logger.warning("indexes of large knowledge bases wait for a dependency: %s", error.detail)
