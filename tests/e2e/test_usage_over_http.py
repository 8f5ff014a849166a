"""Usage, costs and budgets, from outside: a real server on a stub of the model providers."""

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from stores.postgres.database import Database
from stores.postgres.identity import PostgresIdentity
from stores.postgres.roles import SERVING_ROLE
from tests.support.launching import Launcher, Running, run_server
from tests.support.postgres import Server
from tests.support.provider import Provider
from tests.support.provider_faults import Cut, Refuse, Stall
from tributary.domain.identity import Limits

OPENROUTER = "openrouter/stub/all"
GEMINI = "gemini/gemini-embedding-2"


@pytest.fixture(scope="module")
def launched(
    running_provider: Provider, postgres: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Launcher, Running, str]]:
    environment = running_provider.environment() | {"TRIBUTARY_PRICES": f'{{"{GEMINI}": [1000, 0]}}'}
    with run_server(postgres, tmp_path_factory.mktemp("usage"), **environment) as shared:
        yield shared.launcher, shared.running, shared.dsn


@pytest.fixture
def organisation(request: pytest.FixtureRequest) -> str:
    return f"org of {request.node.name}"


@pytest.fixture
def client(launched: tuple[Launcher, Running, str], organisation: str) -> Iterator[httpx.Client]:
    launcher, running, _ = launched
    with running.client(launcher.key(organisation)) as client:
        yield client


def limit(launched: tuple[Launcher, Running, str], organisation: str, budget: float) -> None:
    async def change() -> None:
        database = Database(launched[2], role=SERVING_ROLE, pool_size=2)
        await database.open()
        try:
            identity = PostgresIdentity(database)
            owner = await identity.ensure_organisation(organisation)
            await identity.set_limits(owner.id, Limits(monthly_budget=budget))
        finally:
            await database.close()

    asyncio.run(change())


def bot(client: httpx.Client, model: str = OPENROUTER, **more: Any) -> str:
    made = client.post("/api/bots", json={"name": "Helper", "model": model, **more})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def ask(client: httpx.Client, bot_id: str, message: str = "Why?", **more: Any) -> httpx.Response:
    return client.post(f"/api/bots/{bot_id}/chat", json={"message": message, **more})


def usage(client: httpx.Client, **wanted: Any) -> dict[str, Any]:
    found = client.get("/api/usage", params=wanted)
    assert found.status_code == 200, found.text
    told: dict[str, Any] = found.json()
    return told


def test_what_openrouter_says_a_call_cost_is_what_is_told_everywhere(client: httpx.Client, provider: Provider) -> None:
    provider.cost = 0.0123
    helper = bot(client)

    answer = ask(client, helper).json()
    told = usage(client)

    assert provider.chats[-1].body["usage"] == {"include": True}
    assert answer["usage"]["costUsd"] == pytest.approx(0.0123)
    [history] = [
        message["usage"]
        for message in client.get(f"/api/conversations/{answer['conversationId']}/messages").json()["items"]
        if message["role"] == "assistant"
    ]
    assert history == answer["usage"]
    assert told["totals"]["costUsd"] == pytest.approx(0.0123)
    assert told["totals"]["totalTokens"] == answer["usage"]["totalTokens"]
    [group] = told["groups"]
    assert (group["model"], group["botId"], group["calls"]) == (OPENROUTER, helper, 1)
    assert group["day"]
    assert told["month"]["costUsd"] == pytest.approx(0.0123)
    assert told["month"]["budgetUsd"] is None
    assert told["storage"] == {"bytes": 0, "quotaBytes": None}
    assert usage(client, messageId=answer["messageId"])["totals"] == told["totals"]
    assert usage(client, messageId=answer["conversationId"])["totals"]["calls"] == 0


def test_a_cost_that_the_answer_does_not_say_comes_from_the_list_of_prices(client: httpx.Client) -> None:
    counted = ask(client, bot(client)).json()["usage"]

    expected = counted["inputTokens"] * 1e-7 + counted["outputTokens"] * 4e-7
    assert counted["costUsd"] == pytest.approx(expected)
    assert usage(client)["totals"]["costUsd"] == pytest.approx(expected)


def test_an_unknown_cost_is_null_and_counted(client: httpx.Client) -> None:
    answer = ask(client, bot(client, "openai/own-model")).json()
    totals = usage(client)["totals"]

    assert answer["usage"]["costUsd"] is None
    assert (totals["costUsd"], totals["unpricedCalls"], totals["calls"]) == (None, 1, 1)


def test_the_built_in_model_costs_nothing(client: httpx.Client) -> None:
    answer = ask(client, bot(client, "local/extractive")).json()
    totals = usage(client)["totals"]

    assert answer["usage"]["costUsd"] == 0
    assert (totals["costUsd"], totals["unpricedCalls"]) == (0, 0)


def test_usage_can_be_asked_for_by_bot_and_conversation_and_outlives_both(client: httpx.Client) -> None:
    first, second = bot(client), bot(client)
    conversation = ask(client, first).json()["conversationId"]
    ask(client, first, conversationId=conversation)
    ask(client, second)

    assert client.delete(f"/api/conversations/{conversation}").status_code == 204
    assert client.delete(f"/api/bots/{first}").status_code == 204

    assert usage(client)["totals"]["calls"] == 3
    assert usage(client, botId=first)["totals"]["calls"] == 2
    assert usage(client, conversationId=conversation)["totals"]["calls"] == 2
    assert usage(client, botId=second, conversationId=conversation)["totals"]["calls"] == 0
    assert [group["kind"] for group in usage(client, groupBy="kind")["groups"]] == ["chat"]


def test_an_answer_that_broke_off_is_paid_for(client: httpx.Client, provider: Provider) -> None:
    provider.next_chat(Cut(after=2))

    refused = ask(client, bot(client))
    totals = usage(client)["totals"]

    assert refused.status_code == 502
    assert (totals["calls"], totals["estimatedCalls"]) == (1, 1)
    assert totals["costUsd"] > 0


def test_a_call_that_was_refused_is_not_paid_for(client: httpx.Client, provider: Provider) -> None:
    provider.next_chat(Refuse(400))

    assert ask(client, bot(client)).status_code == 502

    assert usage(client)["totals"]["calls"] == 0


def test_a_stopped_answer_is_paid_for(client: httpx.Client, provider: Provider) -> None:
    provider.next_chat(Stall(after=2))
    helper = bot(client)
    answers: list[httpx.Response] = []
    asking = threading.Thread(target=lambda: answers.append(ask(client, helper)))
    asking.start()
    assert provider.wait_for_streams(1)
    conversation = until(lambda: client.get("/api/conversations").json()["items"])[0]["id"]
    assert client.post(f"/api/conversations/{conversation}/stop").status_code == 202
    asking.join()

    stopped = answers[0].json()
    totals = usage(client, conversationId=conversation)["totals"]
    assert stopped["status"] == "stopped"
    assert (totals["calls"], totals["estimatedCalls"]) == (1, 1)
    assert totals["totalTokens"] == stopped["usage"]["totalTokens"] > 0
    assert totals["costUsd"] == pytest.approx(stopped["usage"]["costUsd"])


def test_a_spent_budget_refuses_what_costs_money_before_anything_is_stored_or_asked(
    client: httpx.Client, provider: Provider, launched: tuple[Launcher, Running, str], organisation: str
) -> None:
    limit(launched, organisation, 0.01)
    provider.cost = 0.02
    helper = bot(client)
    assert ask(client, helper).status_code == 200
    conversations = client.get("/api/conversations").json()["items"]
    asked = len(provider.chats)

    plain = ask(client, helper)
    streamed = client.post(
        f"/api/bots/{helper}/chat", json={"message": "Why?"}, headers={"Accept": "text/event-stream"}
    )

    for refused in (plain, streamed):
        assert refused.status_code == 429
        assert refused.headers["content-type"].startswith("application/problem+json")
        assert refused.json()["code"] == "budget_exceeded"
        assert 0 < int(refused.headers["retry-after"]) <= 31 * 86_400
    assert client.get("/api/conversations").json()["items"] == conversations
    assert len(provider.chats) == asked
    month = usage(client)["month"]
    assert (month["budgetUsd"], month["remainingUsd"], month["reservedUsd"]) == (0.01, 0, 0)
    assert ask(client, bot(client, "local/extractive")).status_code == 200
    listed = launched[0].command("orgs", "list").stdout
    [line] = [line for line in listed.splitlines() if organisation in line]
    assert "$0.01 a month; $0.02 in " in line


def test_what_documents_and_questions_cost_to_embed_is_usage(
    client: httpx.Client, launched: tuple[Launcher, Running, str], organisation: str
) -> None:
    kb = client.post("/knowledge/kb", json={"name": "Tides", "embedding": GEMINI}).json()["id"]
    document = until_ready(client, kb, send(client, kb, "tides.md", "The tide turns twice a day."))
    ingested = usage(client, knowledgeBaseId=kb)["totals"]
    found = client.post(f"/knowledge/kb/{kb}/search", json={"query": "When does the tide turn?"})
    searched = usage(client, knowledgeBaseId=kb)
    helper = bot(client, knowledgeBaseIds=[kb])
    assert ask(client, helper, "What turns twice a day?").status_code == 200

    assert document["status"] == "ready"
    assert found.json()["results"]
    assert ingested["calls"] >= 1
    assert ingested["inputTokens"] > 0
    assert ingested["costUsd"] == pytest.approx(ingested["inputTokens"] * 0.001)
    assert searched["totals"]["calls"] == ingested["calls"] + 1
    kinds = {group["kind"]: group["calls"] for group in usage(client, groupBy="kind", botId=helper)["groups"]}
    assert kinds == {"chat": 1, "embedding": 1}

    limit(launched, organisation, 0.001)
    refused = client.post(f"/knowledge/kb/{kb}/search", json={"query": "Something else entirely?"})
    late = until_ready(client, kb, send(client, kb, "late.md", "The ferry leaves at nine."))
    assert (refused.status_code, refused.json()["code"]) == (429, "budget_exceeded")
    assert (late["status"], late["error"]["code"]) == ("failed", "budget_exceeded")


def test_usage_is_the_organisation_s_own_and_not_for_keys_that_only_chat(
    client: httpx.Client, launched: tuple[Launcher, Running, str], organisation: str
) -> None:
    launcher, running, _ = launched
    helper = bot(client)
    ask(client, helper)

    with running.client(launcher.key(f"other than {organisation}")) as stranger:
        assert usage(stranger, botId=helper)["totals"]["calls"] == 0
    with running.client(launcher.key(organisation, "chat")) as chatting:
        assert chatting.get("/api/usage").status_code == 403
    assert httpx.get(f"{running.url}/api/usage").status_code == 401


@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"from": "2026-02-01", "to": "2026-01-01"}, 422),
        ({"from": "2020-01-01", "to": "2026-01-01"}, 422),
        ({"from": "yesterday"}, 422),
        ({"groupBy": "weather"}, 422),
        ({"botId": "no-id"}, 404),
        ({"from": "2026-01-01", "to": "2026-01-31"}, 200),
    ],
)
def test_what_usage_is_asked_for_is_checked(client: httpx.Client, wanted: dict[str, str], status: int) -> None:
    assert client.get("/api/usage", params=wanted).status_code == status


def send(client: httpx.Client, kb: str, name: str, text: str) -> str:
    sent = client.post(f"/knowledge/kb/{kb}/documents", files={"files": (name, text.encode(), "text/markdown")})
    assert sent.status_code == 202, sent.text
    return str(sent.json()["documents"][0]["id"])


def until_ready(client: httpx.Client, kb: str, document: str) -> dict[str, Any]:
    def settled() -> dict[str, Any] | None:
        found: dict[str, Any] = client.get(f"/knowledge/kb/{kb}/documents/{document}").json()
        return found if found["status"] in ("ready", "failed") else None

    state: dict[str, Any] = until(settled)
    return state


def until(look: Any) -> Any:
    """What `look` gives, as soon as it is something."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not come about within a minute")
