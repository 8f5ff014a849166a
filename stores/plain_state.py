"""How checkpoints are written: plain values only."""

from typing import Any

from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

#: Leaves that every version of ours reads back as they were.
_LEAVES = (str, int, float, bool, bytes, type(None))


class PlainSerializer(JsonPlusSerializer):
    """Strict in both directions. What is read is never more than plain values and LangGraph's own types, whatever
    stands in the database; what is written may be nothing else, so that a class that slipped into the state fails in
    the turn that put it there, and not as a dictionary in the next one."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None, pickle_fallback=False)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """Raises `TypeError` for a value that is not plain."""
        require_plain(obj)
        return super().dumps_typed(obj)


def require_plain(value: Any) -> None:
    """Raises `TypeError` when `value` holds something that is neither plain nor LangGraph's own."""
    kind = type(value)
    if kind in _LEAVES:
        return
    if kind is dict:
        for key, each in value.items():
            require_plain(key)
            require_plain(each)
    # A set is how LangGraph keeps which of several nodes an edge still waits for.
    elif kind in (list, tuple, set):
        for each in value:
            require_plain(each)
    elif not isinstance(value, BaseException) and not kind.__module__.startswith("langgraph."):
        raise TypeError(
            f"{kind.__module__}.{kind.__qualname__} does not belong into a checkpoint: keep plain values there"
        )
