"""Waiting for documents over HTTP."""

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
