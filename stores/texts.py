"""Which texts a store can keep. PostgreSQL has no form for NUL and for half a surrogate pair; the others follow."""

import re
from typing import Any

from tributary.domain.errors import InvalidRequest

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def require_storable(*texts: str) -> None:
    """Raises `InvalidRequest` when one of the texts can't be kept as it is: a caller's words are never altered."""
    if any(_UNSTORABLE.search(text) for text in texts):
        raise InvalidRequest("A text holds characters that can't be stored (NUL or half a surrogate pair)")


def storable(value: Any) -> Any:
    """A JSON value with U+FFFD in the place of what can't be kept: for what models and documents say, which is worth
    more with a mark in it than lost."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable(each) for each in value]
    return value
