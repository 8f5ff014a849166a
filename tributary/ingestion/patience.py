"""How often a failure that may pass is left to the queue, which waits longer each time, before a document goes on
without."""

from collections import OrderedDict
from collections.abc import Hashable

#: The failure from which on a document goes on without.
PATIENCE = 4
_REMEMBERED = 1_000


class Patience:
    """Counts passing failures by what they met."""

    def __init__(self) -> None:
        self._failures: OrderedDict[Hashable, int] = OrderedDict()

    def left(self, key: Hashable) -> bool:
        """Counts a failure; whether it is left to the queue once more."""
        count = self._failures.pop(key, 0) + 1
        self._failures[key] = count
        while len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)
        return count < PATIENCE

    def restore(self, key: Hashable) -> None:
        self._failures.pop(key, None)
