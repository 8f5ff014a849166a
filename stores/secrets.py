"""Secrets that are given out once, and what is kept of them."""

import hashlib
import hmac
import re
import secrets
from uuid import UUID

_KEY = re.compile(r"tributary_([0-9a-f]{32})_[A-Za-z0-9_-]{43}", re.ASCII)
_SESSION = re.compile(r"session_([0-9a-f]{32})_[A-Za-z0-9_-]{43}", re.ASCII)


def make_key_secret(organisation_id: UUID) -> str:
    """The secret of a new API key. The organisation stands in it, so that a key is looked up among its own
    organisation's and no query ever runs over all of them."""
    return f"tributary_{organisation_id.hex}_{secrets.token_urlsafe(32)}"


def organisation_of(secret: str) -> UUID | None:
    """The organisation that an API key's secret names; None where it has not the form of one."""
    match = _KEY.fullmatch(secret)
    return UUID(match[1]) if match else None


def make_session_secret(organisation_id: UUID) -> str:
    """The secret of a new sign-in. It leads to its organisation as a key does, and can't be taken for one."""
    return f"session_{organisation_id.hex}_{secrets.token_urlsafe(32)}"


def organisation_of_session(secret: str) -> UUID | None:
    """The organisation that a sign-in's secret names; None where it has not the form of one."""
    match = _SESSION.fullmatch(secret)
    return UUID(match[1]) if match else None


def digest(secret: str) -> bytes:
    """What is stored of a secret: 32 bytes. Secrets are long and random, so that a plain hash is enough. Any text
    has one, half a surrogate pair too."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def opens(secret: str, stored: bytes) -> bool:
    """Whether `stored` is the digest of `secret`, in constant time."""
    return hmac.compare_digest(digest(secret), stored)
