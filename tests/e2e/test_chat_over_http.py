"""The main job over HTTP: documents in, a cited answer out, and a conversation that goes on (SPEC §2–§5)."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.support import files
from tests.support.documents import wait_until_ready
from tests.support.pages import pdf_of

PAGES = [
    "Introduction. The Marlin pump is made for salt water and cold weather.",
    "Maintenance. The Marlin pump needs new bearings after 4000 hours of operation.",
    "Warranty. The warranty of the Marlin pump ends after 36 months.",
]


def make_bot(client: httpx.Client, knowledge_bases: list[str], **fields: Any) -> str:
    body = {"name": "Helper", "prompt": "Answer briefly.", "knowledgeBaseIds": knowledge_bases, **fields}
    response = client.post("/api/bots", json=body)
    assert response.status_code == 201, response.text
    return str(response.json()["id"])


def make_knowledge_base(client: httpx.Client, *documents: tuple[str, bytes]) -> str:
    kb = str(client.post("/knowledge/kb", json={"name": "Pumps"}).json()["id"])
    sent = client.post(f"/knowledge/kb/{kb}/documents", files=[("files", each) for each in documents])
    assert sent.status_code == 202, sent.text
    for document in sent.json()["documents"]:
        wait_until_ready(client, kb, document["id"])
    return kb


@pytest.fixture
def pumps(client: httpx.Client) -> str:
    return make_knowledge_base(
        client,
        ("marlin.pdf", pdf_of(PAGES)),
        ("valves.md", b"# Valves\n\nThe Heron valve closes within two seconds.\n"),
        ("notes.txt", b"The spare parts are kept in hall seven.\n"),
    )


def ask(client: httpx.Client, bot: str, message: str, **fields: Any) -> dict[str, Any]:
    response = client.post(f"/api/bots/{bot}/chat", json={"message": message, **fields})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_an_answer_cites_the_page_that_supports_it_and_the_source_opens_the_passage(
    client: httpx.Client, pumps: str
) -> None:
    answer = ask(client, make_bot(client, [pumps]), "After how many hours does the Marlin pump need new bearings?")
    cited = [source for source in answer["sources"] if source["cited"]]
    assert "4000 hours" in answer["message"]
    assert [source["number"] for source in answer["sources"]] == list(range(1, len(answer["sources"]) + 1))
    assert f"[{cited[0]['number']}]" in answer["message"]
    assert (cited[0]["source"], cited[0]["page"]) == ("Pumps (marlin.pdf)", 2)
    assert answer["usage"]["totalTokens"] == answer["usage"]["inputTokens"] + answer["usage"]["outputTokens"] > 0
    assert (answer["degraded"], answer["notSent"], answer["model"]) == ([], [], "local/extractive")

    path = f"/knowledge/kb/{pumps}/documents/{cited[0]['documentId']}"
    text = client.get(f"{path}/text").json()
    passage = text["text"][cited[0]["start"] : cited[0]["end"]]
    assert "4000 hours" in passage
    chunk = client.get(f"{path}/chunks/{cited[0]['chunkId']}").json()
    assert chunk["text"] == passage
    [page] = [page for page in text["pages"] if page["number"] == 2]
    assert page["start"] <= cited[0]["start"] < page["end"]


def test_a_conversation_goes_on_and_keeps_its_sources(client: httpx.Client, pumps: str) -> None:
    bot = make_bot(client, [pumps])
    first = ask(client, bot, "After how many hours does the Marlin pump need new bearings?")
    second = ask(client, bot, "And when does its warranty end?", conversationId=first["conversationId"])
    assert second["conversationId"] == first["conversationId"]
    assert "36 months" in second["message"]
    history = client.get(f"/api/conversations/{first['conversationId']}/messages").json()["items"]
    assert [message["role"] for message in history] == ["user", "assistant", "user", "assistant"]
    assert [message["status"] for message in history] == ["complete"] * 4
    assert history[1]["content"] == first["message"]
    assert history[1]["sources"] == first["sources"]
    assert history[3]["id"] == second["messageId"]
    [listed] = client.get("/api/conversations", params={"botId": bot}).json()["items"]
    assert listed["id"] == first["conversationId"]


def test_a_stream_tells_the_same_as_the_answer_that_is_kept(client: httpx.Client, pumps: str) -> None:
    bot = make_bot(client, [pumps])
    events = stream(client, bot, "Where are the spare parts kept?")
    names = [name for name, _ in events]
    done = events[-1][1]
    assert names[-1] == "done"
    assert names.count("done") == 1
    assert {"status", "token", "sources", "usage"} <= set(names)
    assert "".join(data["text"] for name, data in events if name == "token") == done["message"]
    assert next(data for name, data in events if name == "usage") == done["usage"]
    numbered = [(source["number"], source["chunkId"]) for source in done["sources"]]
    assert [(s["number"], s["chunkId"]) for name, data in events if name == "sources" for s in data] == numbered
    states = {(data["node"], data["state"]) for name, data in events if name == "status"}
    for node in ("validate_attachments", "record_question", "search_text", "merge_and_rerank", "invoke_model"):
        assert {(node, "started"), (node, "finished")} <= states
    history = client.get(f"/api/conversations/{done['conversationId']}/messages").json()["items"]
    assert history[1]["content"] == done["message"]


def stream(client: httpx.Client, bot: str, message: str, **fields: Any) -> list[tuple[str, Any]]:
    events: list[tuple[str, Any]] = []
    with client.stream(
        "POST",
        f"/api/bots/{bot}/chat",
        json={"message": message, **fields},
        headers={"Accept": "text/event-stream"},
    ) as response:
        assert response.status_code == 200, response.read()
        name = ""
        for line in response.iter_lines():
            if line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                events.append((name, json.loads(line.removeprefix("data:"))))
    return events


def test_a_refusal_is_an_http_error_over_a_stream_too(client: httpx.Client) -> None:
    bot = make_bot(client, [])
    response = client.post(
        f"/api/bots/{bot}/chat",
        json={"message": "hi", "conversationId": "00000000-0000-7000-8000-000000000000"},
        headers={"Accept": "text/event-stream"},
    )
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_an_attached_text_file_is_answered_from(client: httpx.Client) -> None:
    bot = make_bot(client, [])
    sent = client.post(
        "/api/bot/attachments/upload",
        files={"files": ("plan.txt", b"The harbour opens on Monday.\nThe crane is painted green.\n", "text/plain")},
    ).json()
    claim = {"id": sent["id"], "accessToken": sent["accessToken"]}
    answer = ask(client, bot, "Which colour is the crane painted?", attachments=[claim])
    assert "green" in answer["message"]
    history = client.get(f"/api/conversations/{answer['conversationId']}/messages").json()["items"]
    assert history[0]["attachments"] == [
        {"id": sent["id"], "filename": "plan.txt", "contentType": "text/plain", "size": sent["size"]}
    ]
    # Once a message has used the file, its conversation may name it by id alone.
    again = ask(
        client,
        bot,
        "And when does the harbour open?",
        conversationId=answer["conversationId"],
        attachments=[{"id": sent["id"]}],
    )
    assert "Monday" in again["message"]


def test_a_refused_attachment_refuses_the_turn_before_anything_is_stored(client: httpx.Client) -> None:
    bot = make_bot(client, [])
    sent = client.post("/api/bot/attachments/upload", files={"files": ("a.txt", b"x", "text/plain")}).json()
    for claim, status, code in (
        ({"id": sent["id"], "accessToken": "wrong"}, 403, "wrong_token"),
        ({"id": sent["id"]}, 403, "wrong_token"),
        ({"id": "00000000-0000-7000-8000-000000000000", "accessToken": "x"}, 404, "not_found"),
        ({"id": "nonsense", "accessToken": "x"}, 404, "not_found"),
    ):
        response = client.post(f"/api/bots/{bot}/chat", json={"message": "hi", "attachments": [claim]})
        assert (response.status_code, response.json()["code"]) == (status, code)
    assert client.get("/api/conversations").json()["items"] == []


def test_ten_parallel_messages_make_a_well_formed_history(client: httpx.Client) -> None:
    bot = make_bot(client, [])
    conversation = ask(client, bot, "message 0")["conversationId"]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda n: ask(client, bot, f"message {n}", conversationId=conversation), range(1, 11)))
    assert len({answer["messageId"] for answer in answers}) == 10
    history = client.get(f"/api/conversations/{conversation}/messages", params={"limit": 100}).json()["items"]
    assert [message["role"] for message in history] == ["user", "assistant"] * 11
    assert {message["content"] for message in history[::2]} == {f"message {n}" for n in range(11)}
    for question, answer in zip(history[::2], history[1::2], strict=True):
        assert answer["parentId"] == question["id"]


def test_an_edited_question_starts_a_branch(client: httpx.Client) -> None:
    bot = make_bot(client, [])
    first = ask(client, bot, "first")
    second = ask(client, bot, "second", conversationId=first["conversationId"])
    edited = ask(client, bot, "edited", conversationId=first["conversationId"], replaceMessageId=second["questionId"])
    history = client.get(f"/api/conversations/{first['conversationId']}/messages").json()["items"]
    assert [message["content"] for message in history[::2]] == ["first", "edited"]
    assert history[3]["id"] == edited["messageId"]


def test_a_deleted_conversation_is_gone_with_its_files(client: httpx.Client) -> None:
    bot = make_bot(client, [])
    sent = client.post("/api/bot/attachments/upload", files={"files": ("a.txt", b"gone soon", "text/plain")}).json()
    claim = {"id": sent["id"], "accessToken": sent["accessToken"]}
    conversation = ask(client, bot, "keep this", attachments=[claim])["conversationId"]
    assert client.delete(f"/api/conversations/{conversation}").status_code == 204
    assert client.get(f"/api/conversations/{conversation}").status_code == 404
    assert client.get(f"/api/conversations/{conversation}/messages").status_code == 404
    response = client.get(f"/api/bot/attachments/{sent['id']}", params={"token": sent["accessToken"]})
    assert response.status_code == 404


def test_the_same_idempotency_key_asks_once(client: httpx.Client) -> None:
    bot = make_bot(client, [])
    body, key = {"message": "only once"}, {"Idempotency-Key": "ask-once"}
    first, second = (client.post(f"/api/bots/{bot}/chat", json=body, headers=key) for _ in range(2))
    assert first.json() == second.json()
    assert len(client.get("/api/conversations").json()["items"]) == 1


def test_a_trace_shows_how_the_turn_ran(client: httpx.Client, pumps: str) -> None:
    answer = ask(client, make_bot(client, [pumps]), "Where are the spare parts kept?")
    trace = client.get(f"/api/messages/{answer['messageId']}/trace").json()
    nodes = {node["node"]: node for node in trace["nodes"]}
    assert nodes["search_text"]["knowledgeBaseId"] == pumps
    assert nodes["invoke_model"]["finished"] >= nodes["invoke_model"]["started"]
    assert [hit["chunkId"] for hit in trace["ranked"]] == [source["chunkId"] for source in answer["sources"]]
    assert trace["context"].startswith("---AVAILABLE KNOWLEDGE---")


def test_a_picture_finds_its_like_in_the_knowledge_base(client: httpx.Client) -> None:
    kb = make_knowledge_base(client, ("red-and-blue.png", files.png(size=(400, 300))), ("text.txt", b"Some words."))
    bot = make_bot(client, [kb])
    sent = client.post(
        "/api/bot/attachments/upload", files={"files": ("x.jpg", files.jpeg(size=(200, 150)), "image/jpeg")}
    ).json()
    answer = ask(client, bot, "", attachments=[{"id": sent["id"], "accessToken": sent["accessToken"]}])
    assert answer["message"].startswith("This model does not support files: x.jpg")
    assert answer["notSent"] == [{"id": sent["id"], "filename": "x.jpg", "reason": "unsupported"}]
    assert answer["sources"][0]["filename"] == "red-and-blue.png"
    assert answer["sources"][0]["branches"] == ["image"]


def test_a_running_answer_can_be_joined_and_stopped(client: httpx.Client) -> None:
    """On the local model a turn is over in moments: joining one that is over says so, stopping it does no harm."""
    bot = make_bot(client, [])
    conversation = ask(client, bot, "hello")["conversationId"]
    joined = client.get(f"/api/conversations/{conversation}/stream")
    assert (joined.status_code, joined.json()["code"]) == (409, "conflict")
    assert client.post(f"/api/conversations/{conversation}/stop").status_code == 202
    assert ask(client, bot, "still there?", conversationId=conversation)["status"] == "complete"
