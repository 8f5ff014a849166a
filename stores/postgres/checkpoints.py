"""LangGraph's checkpoints in PostgreSQL."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from stores.plain_state import PlainSerializer
from stores.postgres.database import Pool, make_pool, sizes_of, translated


class Checkpoints:
    """`CheckpointStore` on PostgreSQL: a pool of its own, so that runs never wait behind requests for a connection.

    The saver holds one lock around each of its statements. One for each turn, which costs nothing to make, keeps the
    turns of different conversations from queueing behind each other.
    """

    def __init__(self, dsn: str, *, role: str | None, pool_size: int = 8) -> None:
        self._pool = make_pool(dsn, role=role, size=pool_size, name="tributary-checkpoints")
        self._serializer = PlainSerializer()

    async def open(self) -> None:
        """Raises `DependencyUnavailable` when no connection can be made."""
        with translated():
            await self._pool.open(wait=True, timeout=10)

    async def close(self) -> None:
        await self._pool.close()

    def sizes(self) -> dict[str, int]:
        """Of the pool; see `sizes_of`."""
        return sizes_of(self._pool)

    def saver(self, *, new_thread: bool = False) -> AsyncPostgresSaver:
        return _Saver(self._pool, self._serializer, new_thread=new_thread)


class _Saver(AsyncPostgresSaver):
    """The library's saver with our errors in the place of the driver's."""

    def __init__(self, pool: Pool, serializer: PlainSerializer, *, new_thread: bool) -> None:
        super().__init__(pool, serde=serializer)
        self._empty = new_thread

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        if self._empty:
            return None
        with translated():
            return await super().aget_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the library's name
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        with translated():
            async for each in super().alist(config, filter=filter, before=before, limit=limit):
                yield each

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        self._empty = False
        with translated():
            return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        with translated():
            await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        with translated():
            await super().adelete_thread(thread_id)
