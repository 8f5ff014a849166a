"""Documents over HTTP: sent, and waited for."""

import json
from typing import Any

import httpx


def wait_until_done(client: httpx.Client, knowledge_base: str, document: str) -> dict[str, Any]:
    """Follows the document's progress events to their end; the last state."""
    state: dict[str, Any] = {}
    path = f"/knowledge/kb/{knowledge_base}/documents/{document}/events"
    with client.stream("GET", path) as response:
        assert response.status_code == 200, response.read()
        for line in response.iter_lines():
            if line.startswith("data:"):
                state = json.loads(line.removeprefix("data:"))
    return state


def wait_until_ready(client: httpx.Client, knowledge_base: str, document: str) -> dict[str, Any]:
    state = wait_until_done(client, knowledge_base, document)
    assert state["status"] == "ready", state
    return state


def filled_base(client: httpx.Client, *files: tuple[str, bytes], **fields: Any) -> str:
    """A new knowledge base with these files, all of them ready; its id."""
    made = client.post("/knowledge/kb", json={"name": "Harbour", **fields})
    assert made.status_code == 201, made.text
    base = str(made.json()["id"])
    if not files:
        return base
    sent = client.post(f"/knowledge/kb/{base}/documents", files=[("files", each) for each in files])
    for each in sent.json()["documents"]:
        wait_until_ready(client, base, each["id"])
    return base
