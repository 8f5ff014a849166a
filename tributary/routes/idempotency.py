"""`Idempotency-Key`: a repeated request gets the first one's result, and happens once."""

import base64
import hashlib
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, cast
from uuid import UUID

import orjson
from cryptography.fernet import Fernet
from fastapi import Header
from fastapi.responses import JSONResponse

from stores.protocols.idempotency import IdempotencyStore
from tributary.domain.errors import InvalidRequest, Problem, TributaryError
from tributary.routes.problems import problem_response

Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=255)]
Result = tuple[int, dict[str, Any]]


def fingerprint(*parts: str) -> bytes:
    """What tells one request from another under the same key."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _cipher(key: str) -> Fernet:
    digest = hashlib.sha256(b"tributary idempotency " + key.encode("utf-8", "surrogatepass")).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def _seal(key: str, body: dict[str, Any]) -> dict[str, Any]:
    """The result as it is kept: readable only with the caller's key, of which just a hash is stored. An upload's result
    holds access tokens, and those are nobody's but the caller's."""
    return {"sealed": _cipher(key).encrypt(orjson.dumps(body)).decode()}


def _unseal(key: str, kept: dict[str, Any]) -> dict[str, Any]:
    opened: dict[str, Any] = orjson.loads(_cipher(key).decrypt(kept["sealed"].encode()))
    return opened


def response_of(status: int, body: dict[str, Any]) -> JSONResponse:
    """A kept result as it was first answered."""
    return JSONResponse(body, status_code=status) if status < 400 else problem_response(cast("Problem", body))


async def once(
    store: IdempotencyStore,
    organisation_id: UUID,
    *,
    route: str,
    key: str | None,
    mark: bytes,
    work: Callable[[], Awaitable[Result]],
) -> JSONResponse:
    """Runs `work` and keeps its result under the caller's key; without a key, just runs it. Failures that may pass
    are not kept, so that a retry under the same key gets another chance.

    Raises:
        Conflict: the key was used for another request, or the first one is still at work.
    """
    if key is None:
        return response_of(*await work())
    if not key.strip():
        raise InvalidRequest("The Idempotency-Key is empty")
    name = f"{route} {hashlib.sha256(key.encode()).hexdigest()}"
    stored = await store.begin(organisation_id, name, mark)
    if stored is not None:
        return response_of(stored.status, _unseal(key, stored.body))
    kept = False
    try:
        status, body = await work()
        if status < 500 and status != 429:
            await store.complete(organisation_id, name, status, _seal(key, body))
            kept = True
        return response_of(status, body)
    except TributaryError as error:
        return problem_response(error.problem())
    finally:
        if not kept:
            await store.abandon(organisation_id, name)
