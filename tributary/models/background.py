"""Work that nobody waits for: what is called within it gives way to what somebody does."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_background: ContextVar[bool] = ContextVar("background", default=False)


@contextmanager
def in_background() -> Iterator[None]:
    """Calls of models within it, and in the tasks that begin within it, go behind all others."""
    token = _background.set(True)
    try:
        yield
    finally:
        _background.reset(token)


def is_background() -> bool:
    return _background.get()
