"""The graphs as LangGraph Studio and notebooks get them: from the factories that `langgraph.json` names."""

import json
from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import StateGraph

from tributary import studio
from tributary.domain.bots import Weights
from tributary.services import Services


@pytest.fixture
async def services(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Services]:
    """The services that Studio opens, on a database of the test's own."""
    monkeypatch.setenv("DATABASE_URL", dsn)
    monkeypatch.setenv("TRIBUTARY_DATA", str(tmp_path))
    monkeypatch.setenv("TRIBUTARY_ORG", "studio")
    opened = studio._Opened()
    monkeypatch.setattr(studio, "_opened", opened)
    yield await opened.services()
    await opened._stack.aclose()


async def test_every_graph_that_is_named_can_be_built(services: Services) -> None:
    named = json.loads(Path("langgraph.json").read_text())["graphs"]
    assert set(named) == {"chat", "retrieval"}
    for target in named.values():
        path, factory = target.removeprefix("./").split(":")
        module = import_module(path.removesuffix(".py").replace("/", "."))
        assert isinstance(await getattr(module, factory)(), StateGraph)


async def test_a_run_acts_as_the_organisation_of_the_setting_and_no_other(services: Services) -> None:
    mine = await services.identity.ensure_organisation("studio")
    other = await services.identity.ensure_organisation("other")
    bots = [
        await services.bots.create(
            owner.id, name="b", prompt="", model="local/extractive", knowledge_base_ids=(), weights=Weights()
        )
        for owner in (mine, other)
    ]
    graph = (await studio.chat_graph()).compile()
    answered: Any = await graph.ainvoke({"message": "Hello?", "botId": str(bots[0].id)})
    assert answered["response"]["message"]
    [conversation] = await services.conversations.list(mine.id, bot_id=None, before=None, limit=9)
    assert str(conversation.id) == answered["response"]["conversationId"]
    refused: Any = await graph.ainvoke({"message": "Hello?", "botId": str(bots[1].id)})
    assert refused["error"]["code"] == "not_found"
