"""Who is let into LangGraph's server, and what of it is whose."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from langgraph_sdk import Auth

from tributary.domain.errors import DependencyUnavailable, Unauthorized
from tributary.domain.identity import Caller, Organisation, Scope
from tributary.domain.ids import new_id
from tributary.studio import auth as module
from tributary.studio.opened import OpenedServices

#: The handlers are what the SDK's decorators make of them.
signing_in: Any = module
HERE = {"type": "http", "client": ("127.0.0.1", 50000)}
LOCAL = {"LANGSMITH_LANGGRAPH_API_VARIANT": "local_dev"}
ORGANISATION = new_id()


@dataclass
class Identity:
    """Knows one key of each scope."""

    own: UUID = field(default_factory=new_id)
    away: bool = False

    async def ensure_organisation(self, name: str) -> Organisation:
        return Organisation(self.own, name)

    async def authenticate(self, secret: str) -> Caller:
        if self.away:
            raise DependencyUnavailable("The database is away")
        if not secret.startswith("tributary_"):
            raise Unauthorized("This is no API key of this server")
        return Caller(ORGANISATION, new_id(), Scope.CHAT if secret.endswith("chat") else Scope.FULL)


@dataclass
class Opened:
    identity: Identity
    settings: Any = field(default_factory=lambda: type("S", (), {"organisation": "yard"}))


@pytest.fixture
def identity(monkeypatch: pytest.MonkeyPatch) -> Identity:
    identity = Identity()

    @asynccontextmanager
    async def opening(_: Any) -> AsyncIterator[Any]:
        yield Opened(identity)

    monkeypatch.setattr(signing_in, "opened", OpenedServices(opening))
    for name, value in LOCAL.items():
        monkeypatch.setenv(name, value)
    return identity


def sent(**headers: str) -> dict[bytes, bytes]:
    return {
        name.replace("_", "-").encode(): value.encode() for name, value in {"host": "127.0.0.1:2024", **headers}.items()
    }


async def admitted(scope: Any = None, **headers: str) -> str:
    found: str = (await signing_in.authenticate(sent(**headers), scope or HERE))["identity"]
    return found


async def refused(scope: Any = None, **headers: str) -> int:
    with pytest.raises(Auth.exceptions.HTTPException) as error:
        await signing_in.authenticate(sent(**headers), scope or HERE)
    return error.value.status_code


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer tributary_key"},
        {"authorization": "bearer tributary_key"},
        {"x_api_key": "tributary_key"},
    ],
)
async def test_a_key_says_for_whom_one_works_wherever_one_is(identity: Identity, headers: dict[str, str]) -> None:
    far = {"type": "http", "client": ("192.0.2.7", 1)}
    assert await admitted(far, **headers) == str(ORGANISATION)
    assert await admitted(**headers) == str(ORGANISATION)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:2024"},
        {"host": "[::1]:2024"},
        {"origin": "https://smith.langchain.com"},
        {"origin": "https://eu.smith.langchain.com"},
        {"origin": "http://localhost:3000"},
        {"x_api_key": "lsv2_of_langsmith"},
        {"x_auth_scheme": "langsmith", "authorization": "Bearer of.lang.smith"},
    ],
)
async def test_the_developer_before_the_machine_needs_no_key(identity: Identity, headers: dict[str, str]) -> None:
    assert await admitted(**headers) == str(identity.own)


@pytest.mark.parametrize(
    ("scope", "headers"),
    [
        ({"type": "http", "client": ("192.0.2.7", 1)}, {}),
        ({"type": "http", "client": None}, {}),
        ({"type": "http"}, {}),
        (HERE, {"host": "tributary.example"}),
        (HERE, {"host": ""}),
        (HERE, {"host": "localhost.example"}),
        (HERE, {"origin": "https://example.org"}),
        (HERE, {"origin": "null"}),
        (HERE, {"origin": "http://smith.langchain.com"}),
        (HERE, {"origin": "https://smith.langchain.com.example"}),
        (HERE, {"origin": "https://notsmith.langchain.com"}),
        (HERE, {"x_forwarded_for": "127.0.0.1"}),
        (HERE, {"cf_connecting_ip": "192.0.2.7"}),
        (HERE, {"forwarded": "for=192.0.2.7"}),
        (HERE, {"authorization": "Bearer something"}),
        (HERE, {"authorization": "Basic eDp5"}),
    ],
)
async def test_whatever_speaks_against_it_a_key_is_needed(
    identity: Identity, scope: dict[str, Any], headers: dict[str, str]
) -> None:
    assert await refused(scope, **headers) == 401


@pytest.mark.parametrize("variant", ["cloud", "local", "self_hosted", ""])
async def test_a_deployment_lets_nobody_in_without_a_key(
    identity: Identity, monkeypatch: pytest.MonkeyPatch, variant: str
) -> None:
    monkeypatch.setenv("LANGSMITH_LANGGRAPH_API_VARIANT", variant)
    assert await refused() == 401
    assert await refused(x_auth_scheme="langsmith") == 401
    assert await admitted(authorization="Bearer tributary_key") == str(ORGANISATION)
    monkeypatch.delenv("LANGSMITH_LANGGRAPH_API_VARIANT")
    assert await refused() == 401


async def test_a_key_that_may_only_chat_sees_no_states(identity: Identity) -> None:
    assert await refused(authorization="Bearer tributary_chat") == 403


async def test_a_database_that_is_away_lets_nobody_in(identity: Identity) -> None:
    identity.away = True
    assert await refused(authorization="Bearer tributary_key") == 503


def context(resource: str, action: str) -> Any:
    user = type("User", (), {"identity": str(ORGANISATION)})()
    return Auth.types.AuthContext(user=user, permissions=[], resource=resource, action=action)  # type: ignore[arg-type]


@pytest.mark.parametrize("action", ["create", "create_run"])
async def test_what_is_made_is_the_organisations_whatever_is_said(action: str) -> None:
    for given in ({}, {"metadata": None}, {"metadata": {"organisation": "another", "created_by": "system"}}):
        value: dict[str, Any] = dict(given)
        found = await signing_in.own_threads(context("threads", action), value)
        assert found == {"organisation": str(ORGANISATION)}
        assert value["metadata"] == {"organisation": str(ORGANISATION)}


async def test_nothing_can_be_given_to_another_organisation() -> None:
    value = {"metadata": {"organisation": "another"}}
    await signing_in.own_threads(context("threads", "update"), value)
    assert value["metadata"]["organisation"] == str(ORGANISATION)
    untouched: dict[str, Any] = {"metadata": None}
    await signing_in.own_threads(context("threads", "update"), untouched)
    assert untouched == {"metadata": None}


async def test_assistants_of_the_graphs_are_read_by_all_and_changed_by_nobody() -> None:
    own = {"organisation": str(ORGANISATION)}
    for action in ("read", "search"):
        found = await signing_in.own_assistants(context("assistants", action), {})
        assert found == {"$or": [own, {"created_by": "system"}]}
    for action in ("update", "delete"):
        assert await signing_in.own_assistants(context("assistants", action), {}) == own


@pytest.mark.parametrize("given", [None, (), ("notes",), ("another", "notes"), (str(ORGANISATION), "notes")])
async def test_names_in_the_store_stand_below_the_organisation(given: Any) -> None:
    value = {"namespace": given}
    assert await signing_in.own_store(context("store", "search"), value)
    assert value["namespace"][0] == str(ORGANISATION)
    assert value["namespace"].count(str(ORGANISATION)) == 1


async def test_what_is_not_named_is_refused() -> None:
    assert await signing_in.refuse(ctx=context("crons", "create"), value={}) is False
    assert signing_in.auth._global_handlers, "and no resource is left without a handler"
