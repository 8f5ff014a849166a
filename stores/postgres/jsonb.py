"""JSON columns."""

from typing import Any

import orjson
from psycopg.types.json import Jsonb

from stores.texts import storable


def as_jsonb(value: Any) -> Jsonb:
    """The parameter for a JSON value. What PostgreSQL can't keep in a text becomes U+FFFD."""
    return Jsonb(value, dumps=_dumps)


def _dumps(value: Any) -> bytes:
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return orjson.dumps(storable(value))  # Half a surrogate pair; anything else fails again.
    return orjson.dumps(storable(value)) if rb"\u0000" in written else written
