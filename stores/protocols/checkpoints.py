"""Where runs keep their state."""

from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver


class CheckpointStore(Protocol):
    def saver(self, *, new_thread: bool = False) -> BaseCheckpointSaver[Any]:
        """A checkpointer for one turn, made in the running event loop. State is plain values: anything else raises
        `TypeError` when it is written. Of a `new_thread` nothing is read before something has been written."""
        ...
