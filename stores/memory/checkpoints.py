"""LangGraph's checkpoints in memory."""

from langgraph.checkpoint.memory import InMemorySaver

from stores.plain_state import PlainSerializer


class MemoryCheckpoints:
    """`CheckpointStore` in memory: every turn gets the same saver, which has nothing to wait for."""

    def __init__(self) -> None:
        self._saver = InMemorySaver(serde=PlainSerializer())

    def saver(self, *, new_thread: bool = False) -> InMemorySaver:  # noqa: ARG002 - a saving of round trips
        return self._saver
