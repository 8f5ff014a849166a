"""Whatever our OpenAPI description allows, and what it does not: never a 5xx, and answers are as described."""

from typing import Any

import httpx
import pytest

from tests.support.documents import wait_until_ready
from tests.support.launching import Shared
from tests.support.schemathesis_schemas import faults_of, operations_of

#: Requests to each operation.
EXAMPLES = 3


def _objects(client: httpx.Client) -> dict[str, str]:
    """One of each kind, by the names that parameters of paths have."""
    base = client.post("/knowledge/kb", json={"name": "k"}).json()["id"]
    document: dict[str, Any] = client.post(
        f"/knowledge/kb/{base}/documents", files={"files": ("a.md", b"The crane in hall seven is green.")}
    ).json()["documents"][0]
    wait_until_ready(client, base, document["id"])
    [hit] = client.post(f"/knowledge/kb/{base}/search", json={"query": "Which colour is the crane?"}).json()["results"]
    bot = client.post("/api/bots", json={"name": "b", "knowledgeBaseIds": [base]}).json()["id"]
    answer = client.post(f"/api/bots/{bot}/chat", json={"message": "Which colour is the crane?"}).json()
    attachment = client.post("/api/bot/attachments/upload", files={"files": ("n.txt", b"a note")}).json()["id"]
    return {
        "kb_id": base,
        "document_id": document["id"],
        "chunk_id": hit["chunkId"],
        "bot_id": bot,
        "conversation_id": answer["conversationId"],
        "message_id": answer["messageId"],
        "attachment_id": attachment,
    }


@pytest.mark.timeout(600)  # a quarter of a minute on an idle machine
def test_no_request_makes_the_server_fail_or_answer_otherwise_than_described(
    client: httpx.Client, shared: Shared
) -> None:
    key = client.headers["Authorization"].removeprefix("Bearer ")
    ids = _objects(client)
    faults = [
        fault
        for operation in operations_of(shared.running.url)
        for fault in faults_of(operation, key, ids, examples=EXAMPLES)
    ]
    assert not faults, "\n\n".join(faults)
