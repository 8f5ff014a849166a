"""Things that are made when they are first needed."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Once(Generic[_T]):
    """A value made by the first thread to ask for it, while others wait. After a failure the next one tries again."""

    def __init__(self, make: Callable[[], _T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[_T] = []

    def get(self) -> _T:
        """The value. Raises what making it raises."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]
