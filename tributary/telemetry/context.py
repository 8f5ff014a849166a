"""What the work at hand is about: the fields that each line of the log carries, whoever writes it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_fields: ContextVar[Mapping[str, str]] = ContextVar("what the work is about", default=MappingProxyType({}))


@contextmanager
def about(**fields: str) -> Iterator[None]:
    """Within it, and in the tasks that begin within it, lines of the log carry these fields beside those around it."""
    token = _fields.set({**_fields.get(), **fields})
    try:
        yield
    finally:
        _fields.reset(token)


def also_about(**fields: str) -> None:
    """The same for the rest of the task at hand, such as a request once it is known who sent it."""
    _fields.set({**_fields.get(), **fields})


def subject() -> Mapping[str, str]:
    """The fields of the work at hand."""
    return _fields.get()
