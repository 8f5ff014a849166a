"""Who uses LangGraph's server, and what of it is theirs: the `auth` that `langgraph.json` names.

A key of ours says for which organisation one works. Without a key there is one way in: on the developer's own machine,
under `langgraph dev`, from that machine, with Studio or a program as the sender. Then one acts as `TRIBUTARY_ORG`.
"""

import os
from collections.abc import Mapping, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from langgraph_sdk import Auth

from tributary.domain.errors import DependencyUnavailable, Unauthorized
from tributary.domain.identity import Scope
from tributary.studio.opened import opened

auth = Auth()

#: Key of the metadata that says whose an assistant, a thread or a run is.
OWNER = "organisation"
#: Set by `langgraph dev` for itself, and by no deployment.
_VARIANT, _LOCAL = "LANGSMITH_LANGGRAPH_API_VARIANT", "local_dev"
#: Where Studio's pages come from.
_STUDIO = "smith.langchain.com"
#: What a proxy or a tunnel adds: then the sender is not who the connection says.
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "cf-connecting-ip", "via")
_KEY_PREFIX = "tributary_"

Headers = Mapping[str, str]


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes], scope: dict[str, Any]) -> Auth.types.MinimalUserDict:
    """The organisation that the request works for. Answers 401 without a key where one is needed, 403 for a key that
    may only chat: states hold what no such key may read."""
    named = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers.items()}
    secret = _key_in(named)
    if secret is None and is_own_machine(named, scope, os.environ):
        services = await opened.get()
        organisation = await services.identity.ensure_organisation(services.settings.organisation)
        return _user(organisation.id, services.settings.organisation)
    try:
        caller = await (await opened.get()).identity.authenticate(secret or "")
    except Unauthorized as error:
        raise Auth.exceptions.HTTPException(status_code=401, detail=error.detail) from error
    except DependencyUnavailable as error:
        raise Auth.exceptions.HTTPException(status_code=503, detail=error.detail) from error
    if caller.scope is not Scope.FULL:
        raise Auth.exceptions.HTTPException(status_code=403, detail="This key may chat, and nothing else")
    return _user(caller.organisation_id, str(caller.organisation_id))


def is_own_machine(headers: Headers, scope: Mapping[str, Any], environment: Mapping[str, str]) -> bool:
    """Whether a request without a key comes from the developer in front of `langgraph dev`. Everything must say so; a
    page of somebody else's in the developer's browser, a name that leads here, and a tunnel don't."""
    client = scope.get("client")
    return (
        environment.get(_VARIANT) == _LOCAL
        and client is not None
        and _is_loopback(client[0])
        and _is_loopback(urlsplit(f"//{headers.get('host', '')}").hostname or "")
        and not any(name in headers for name in _FORWARDED)
        and ("origin" not in headers or _is_trusted(headers["origin"]))
    )


@auth.on
async def refuse(ctx: Auth.types.AuthContext, value: Any) -> bool:  # noqa: ARG001 - given by name
    """What is not named below nobody may: schedules, and whatever LangGraph adds."""
    return False


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> Auth.types.FilterType:
    """Threads, and the runs and states in them."""
    _mark(ctx, value)
    return {OWNER: ctx.user.identity}


@auth.on.assistants
async def own_assistants(ctx: Auth.types.AuthContext, value: Any) -> Any:
    """One's own assistants; those that stand for the graphs themselves may be read and run by everybody."""
    _mark(ctx, value)
    own = {OWNER: ctx.user.identity}
    return {"$or": [own, {"created_by": "system"}]} if ctx.action in {"read", "search"} else own


@auth.on.store
async def own_store(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """The names below the organisation's own."""
    names = tuple(value.get("namespace") or ())
    value["namespace"] = names if names[:1] == (ctx.user.identity,) else (ctx.user.identity, *names)
    return True


def _mark(ctx: Auth.types.AuthContext, value: MutableMapping[str, Any]) -> None:
    """Says whose it is of what is made or changed, whatever the request says."""
    if ctx.action not in {"create", "create_run", "update"}:
        return
    metadata = value.get("metadata")
    if metadata is None:
        if ctx.action == "update":
            return
        metadata = value["metadata"] = {}
    metadata[OWNER] = ctx.user.identity
    metadata.pop("created_by", None)


def _user(organisation_id: UUID, name: str) -> Auth.types.MinimalUserDict:
    return {"identity": str(organisation_id), "display_name": name, "is_authenticated": True}


def _key_in(headers: Headers) -> str | None:
    """What was sent as a key of ours. Studio and the SDK send LangSmith's credentials by themselves: those are none."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if bearer and headers.get("x-auth-scheme") != "langsmith":
        return bearer.strip() if scheme.lower() == "bearer" else ""
    given = headers.get("x-api-key", "")
    return given if given.startswith(_KEY_PREFIX) else None


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_trusted(origin: str) -> bool:
    parts = urlsplit(origin)
    host = parts.hostname or ""
    if parts.scheme == "https" and (host == _STUDIO or host.endswith(f".{_STUDIO}")):
        return True
    return _is_loopback(host)
