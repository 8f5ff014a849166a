"""The form of storage keys. We make them, so a malformed one is a bug and never a caller's mistake."""

import re

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*")
MAX_KEY_LENGTH = 200


def checked_key(key: str) -> str:
    """`key` itself. No part of it can be empty, hidden or `..`.

    Raises:
        ValueError: it is none of our keys.
    """
    if len(key) > MAX_KEY_LENGTH or not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no storage key")
    return key
