"""LangGraph's own development server in a process of its own, as a person starts it, and a small world in it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from tests.support.launching import OURS
from tributary.domain.identity import Scope
from tributary.services import open_identity
from tributary.settings import Settings

ROOT = Path(__file__).parents[2]
#: What becomes of files of these names is told in the tests.
TEXTS = {
    "cranes.txt": "The crane in hall seven is painted green. It was built in 1962.",
    "ships.txt": "The ship Aurora carries coal from Bremen. The captain of the ship Aurora is called Meyer.",
}


@dataclass
class Studio:
    """A running `langgraph dev`, and the organisations that use it."""

    url: str
    data: Path
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    started: threading.Event = field(default_factory=threading.Event)

    def client(self, key: str = "") -> LangGraphClient:
        """The SDK's, without credentials as Studio comes, or with a key of ours."""
        return get_client(url=self.url, api_key=key or None)

    def http(self, key: str = "", **headers: str) -> httpx.Client:
        sent = headers | ({"Authorization": f"Bearer {key}"} if key else {})
        return httpx.Client(base_url=self.url, headers=sent, timeout=60)

    def key(self, organisation: str, scope: Scope = Scope.FULL) -> str:
        return asyncio.run(self._key(organisation, scope))

    async def _key(self, organisation: str, scope: Scope) -> str:
        async with open_identity(Settings(data=self.data)) as identity:
            owner = await identity.ensure_organisation(organisation)
            return (await identity.create_key(owner.id, scope=scope))[1]

    def follow(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if "Application started up" in line:
                self.started.set()
        self.started.set()  # it has ended


@contextmanager
def run_studio(data: Path, *arguments: str, **environment: str) -> Iterator[Studio]:
    """Started from a folder that is not the checkout's, on the embedded default; stopped by Ctrl-C."""
    port = _free_port()
    clean = {name: value for name, value in os.environ.items() if not name.startswith((*OURS, "LANG", "PYTHONDONT"))}
    clean |= {
        "TRIBUTARY_DATA": str(data),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        **({"TRIBUTARY_MODEL_CACHE": cache} if (cache := os.environ.get("TRIBUTARY_MODEL_CACHE")) else {}),
        **environment,
    }
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "langgraph_cli", "dev", "--config", str(ROOT / "langgraph.json")),
            *("--no-browser", "--no-reload", "--port", str(port), *arguments),
        ],
        cwd=data,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    studio = Studio(f"http://127.0.0.1:{port}", data, process)
    reader = threading.Thread(target=studio.follow)
    reader.start()
    try:
        assert studio.started.wait(timeout=120)
        assert process.poll() is None, "".join(studio.lines)
        yield studio
    finally:
        _stop(process)
        reader.join()
        process.stdout and process.stdout.close()


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(timeout=40)
    finally:
        if process.poll() is None:
            process.kill()


def left_behind(studio: Studio) -> list[str]:
    """Processes that a stopped server has not taken along: those of its session, and a database on its data."""
    place = str(studio.data)
    found = []
    for each in psutil.process_iter(["pid", "cmdline"]):
        words = each.info["cmdline"] or []
        if any(place in word for word in words) and each.pid != os.getpid():
            found.append(" ".join(words))
    return found


@dataclass(frozen=True)
class World:
    """Two documents in a knowledge base, and a bot that knows them."""

    key: str
    bot: str
    base: str
    documents: dict[str, str]


def make_world(studio: Studio, organisation: str) -> World:
    """By our own routes, which the same server serves."""
    key = studio.key(organisation)
    with studio.http(key) as http:
        base = _made(http.post("/knowledge/kb", json={"name": "Yard"}))["id"]
        for name, text in TEXTS.items():
            _made(http.post(f"/knowledge/kb/{base}/documents", files={"files": (name, text.encode())}))
        documents = wait_until_settled(http, base)
        bot = _made(http.post("/api/bots", json={"name": "Foreman", "knowledgeBaseIds": [base]}))["id"]
    return World(key, bot, base, {each["filename"]: each["id"] for each in documents})


def wait_until_settled(http: httpx.Client, base: str) -> list[dict[str, Any]]:
    """The documents, once each is ready or has failed."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        documents: list[dict[str, Any]] = http.get(f"/knowledge/kb/{base}/documents").json()["items"]
        if len(documents) and all(each["status"] in {"ready", "failed"} for each in documents):
            return documents
        time.sleep(0.1)
    raise AssertionError("documents are not settled")


def _made(response: httpx.Response) -> dict[str, Any]:
    assert response.is_success, response.text
    body: dict[str, Any] = response.json()
    return body


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
