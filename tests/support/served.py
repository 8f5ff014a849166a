"""The served graphs of a running server, as clients of LangServe reach them."""

import json
from dataclasses import dataclass
from typing import Any

import httpx
from langserve import RemoteRunnable

from tests.support.documents import wait_until_ready
from tests.support.provided import Chatting

FERRY = b"# Ferries\n\nThe ferry to Sylt leaves at seven from Havneby."
NOWHERE = "00000000-0000-7000-8000-000000000000"


@dataclass(frozen=True)
class Served:
    """An organisation of its own, seen through one of its keys."""

    chatting: Chatting

    @property
    def url(self) -> str:
        return str(self.chatting.client.base_url).rstrip("/")

    @property
    def key(self) -> str:
        return str(self.chatting.client.headers["Authorization"]).removeprefix("Bearer ")

    def remote(self, graph: str = "chat") -> RemoteRunnable[Any, Any]:
        return RemoteRunnable(f"{self.url}/graphs/{graph}", headers={"Authorization": f"Bearer {self.key}"})

    def post(self, path: str, **body: Any) -> httpx.Response:
        return self.chatting.client.post(f"/graphs/{path}", json=body)

    def knowledge(self, text: bytes = FERRY) -> dict[str, str]:
        """A knowledge base with one document, as the input that names it."""
        client = self.chatting.client
        base = client.post("/knowledge/kb", json={"name": "Ferries"}).json()["id"]
        sent = client.post(f"/knowledge/kb/{base}/documents", files={"files": ("sylt.md", text, "")}).json()
        document = sent["documents"][0]["id"]
        wait_until_ready(client, base, document)
        return {"knowledgeBaseId": base, "documentId": document}


def streamed(response: httpx.Response) -> list[tuple[str, Any]]:
    """Names and data of server-sent events, to the last."""
    assert response.status_code == 200, response.text
    found: list[tuple[str, Any]] = []
    for block in response.text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"]) if fields.get("data") else None))
    return found


def added(chunks: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """What the chunks of a client add up to, and the steps that it took."""
    whole: Any = chunks[0]
    for chunk in chunks[1:]:
        whole = whole + chunk
    return {name: value for name, value in whole.items() if name != "steps"}, whole.get("steps", [])
