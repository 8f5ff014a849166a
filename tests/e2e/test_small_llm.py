"""A real, if small, language model behind the whole stack: documents, a file, retrieval, stream, sources and usage."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import small_llm_server
from tests.support.documents import wait_until_ready
from tests.support.launching import run_server
from tests.support.postgres import Server
from tests.support.provided import events_of, told

#: What the bot says of the model. The answer is short since a token takes a while.
CAPABILITIES: dict[str, Any] = {"image": False, "contextWindow": small_llm_server.WINDOW, "maxOutput": 24}


@pytest.fixture(scope="module")
def llm_url() -> Iterator[str]:
    """The address of the model's server; its process ends with the tests of this module, or with their process."""
    process = subprocess.Popen(
        [sys.executable, str(Path(small_llm_server.__file__))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=20)


@pytest.fixture(scope="module")
def client(llm_url: str, postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    environment = {"OPENAI_BASE_URL": f"{llm_url}/v1", "OPENAI_API_KEY": "any"}
    with (
        run_server(postgres, tmp_path_factory.mktemp("llm"), **environment) as shared,
        shared.running.client(shared.launcher.key()) as client,
    ):
        yield client


def make_bot(client: httpx.Client, **fields: Any) -> str:
    body = {"name": "b", "model": "openai/smollm2", "prompt": "Be brief.", "capabilities": CAPABILITIES}
    made = client.post("/api/bots", json=body | fields)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def stream(client: httpx.Client, bot: str, message: str, **fields: Any) -> Iterator[tuple[str, Any]]:
    with client.stream(
        "POST",
        f"/api/bots/{bot}/chat",
        json={"message": message, **fields},
        headers={"Accept": "text/event-stream"},
    ) as response:
        assert response.status_code == 200, response.read()
        yield from events_of(response)


def test_a_real_model_answers_from_a_knowledge_base_and_an_attached_file(client: httpx.Client) -> None:
    kb = str(client.post("/knowledge/kb", json={"name": "Pumps"}).json()["id"])
    page = b"The Marlin pump needs new bearings after 4000 hours of operation."
    sent = client.post(f"/knowledge/kb/{kb}/documents", files={"files": ("marlin.txt", page, "text/plain")})
    wait_until_ready(client, kb, sent.json()["documents"][0]["id"])
    upload = client.post("/api/bot/attachments/upload", files={"files": ("log.txt", b"Pump ran 3900 hours.")}).json()
    claim = {"id": upload["id"], "accessToken": upload["accessToken"]}

    question = "After how many hours of operation does the Marlin pump need new bearings?"
    events = list(stream(client, make_bot(client, knowledgeBaseIds=[kb]), question, attachments=[claim]))

    done = events[-1][1]
    assert events[-1][0] == "done"
    assert told(events) == done["message"]
    assert len([name for name, _ in events if name == "token"]) > 1
    assert (done["status"], done["notSent"], done["degraded"]) == ("complete", [], [])
    assert done["finishReason"] in ("stop", "length")
    assert [source["filename"] for source in done["sources"]] == ["marlin.txt"]
    usage = done["usage"]
    assert 0 < usage["outputTokens"] <= CAPABILITIES["maxOutput"]
    assert usage["inputTokens"] > 100
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"]
    _, answer = client.get(f"/api/conversations/{done['conversationId']}/messages").json()["items"]
    assert (answer["content"], answer["sources"]) == (done["message"], done["sources"])
    assert answer["usage"]["totalTokens"] == usage["totalTokens"]


def test_a_stop_ends_a_real_models_answer(client: httpx.Client) -> None:
    bot = make_bot(client, capabilities=CAPABILITIES | {"maxOutput": 1_000}, prompt="")
    events: list[tuple[str, Any]] = []
    for event in stream(client, bot, "Count from one to five hundred in words."):
        events.append(event)
        if [name for name, _ in events].count("token") == 2:
            [conversation] = client.get("/api/conversations", params={"botId": bot}).json()["items"]
            client.post(f"/api/conversations/{conversation['id']}/stop")
    assert (events[-1][0], events[-1][1]["status"]) == ("done", "stopped")
    assert told(events) == events[-1][1]["message"] != ""


def test_a_message_over_the_real_window_is_refused_with_the_names_of_its_files(client: httpx.Client) -> None:
    """The bot claims a larger window than the model has: the server's own refusal is read."""
    upload = client.post("/api/bot/attachments/upload", files={"files": ("long.txt", b"many words " * 1_500)}).json()
    claim = {"id": upload["id"], "accessToken": upload["accessToken"]}
    for window in (small_llm_server.WINDOW, 100_000):
        bot = make_bot(client, capabilities=CAPABILITIES | {"contextWindow": window})
        refused = client.post(f"/api/bots/{bot}/chat", json={"message": "Sum up.", "attachments": [claim]})
        assert (refused.status_code, refused.json()["code"]) == (413, "message_too_large")
        assert [file["filename"] for file in refused.json()["files"]] == ["long.txt"]
