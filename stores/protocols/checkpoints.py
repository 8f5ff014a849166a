"""Where runs keep their state."""

from typing import Any, Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver


class CheckpointStore(Protocol):
    def saver(self) -> BaseCheckpointSaver[Any]:
        """A checkpointer for one turn, made in the running event loop. State is plain values: anything else raises
        `TypeError` when it is written."""
        ...
