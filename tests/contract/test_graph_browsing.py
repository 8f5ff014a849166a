"""What looking at a knowledge graph promises, on every engine."""

from typing import Any

import pytest

from stores.protocols.graph_engines import GraphFilter, GraphPage
from tests.support.graph_drafts import said, tell
from tests.support.worlds import World
from tributary.domain.errors import InvalidRequest
from tributary.domain.knowledge import KnowledgeBase


@pytest.fixture
def world(graph_world: World) -> World:
    return graph_world


async def look(world: World, kb: KnowledgeBase, limit: int = 50, cursor: str | None = None, **select: Any) -> GraphPage:
    return await world.graph.browse(
        world.organisation_id, kb.id, select=GraphFilter(**select), cursor=cursor, limit=limit
    )


def names(page: GraphPage) -> list[str]:
    return [node.name for node in page.nodes]


def connections(page: GraphPage, known: dict[str, str] | None = None) -> set[tuple[str, str, str]]:
    called = (known or {}) | {node.id: node.name for node in page.nodes}
    return {(called[edge.source], edge.relation, called[edge.target]) for edge in page.edges}


async def world_of_cities(world: World) -> KnowledgeBase:
    kb = await world.knowledge_base()
    types = {"Paris": "city", "Lyon": "city", "France": "country", "Café Müller": "company"}
    await tell(
        world,
        kb,
        said(
            ("Paris", "lies in", "France"),
            ("Lyon", "lies in", "France"),
            ("Café Müller", "serves", "Paris"),
            types=types,
        ),
    )
    return kb


async def test_the_most_mentioned_come_first_with_all_that_is_known_of_them(world: World) -> None:
    kb = await world_of_cities(world)
    page = await look(world, kb)
    assert set(names(page)[:2]) == {"France", "Paris"}
    [france] = [node for node in page.nodes if node.name == "France"]
    assert (france.type, france.description, france.mentions) == ("country", "France of note", 2)
    assert page.next_cursor is None


async def test_connections_run_between_nodes(world: World) -> None:
    kb = await world_of_cities(world)
    page = await look(world, kb)
    assert connections(page) == {
        ("Paris", "lies in", "France"),
        ("Lyon", "lies in", "France"),
        ("Café Müller", "serves", "Paris"),
    }
    assert {(edge.description, edge.weight) for edge in page.edges} == {
        ("Paris lies in France", 1.0),
        ("Lyon lies in France", 1.0),
        ("Café Müller serves Paris", 1.0),
    }


async def test_pages_together_hold_each_node_and_each_connection_once(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(*((f"N{a}", "knows", f"N{b}") for a in range(6) for b in range(6))))
    nodes: dict[str, str] = {}
    seen: list[tuple[str, str, str]] = []
    cursor = None
    for _ in range(3):
        page = await look(world, kb, limit=2, cursor=cursor)
        assert not {node.id for node in page.nodes} & nodes.keys()
        nodes |= {node.id: node.name for node in page.nodes}
        seen += sorted(connections(page, nodes))
        cursor = page.next_cursor
    assert cursor is None
    assert len(nodes) == 6
    assert sorted(seen) == sorted((f"N{a}", "knows", f"N{b}") for a in range(6) for b in range(6))


async def test_an_entity_that_is_related_to_itself_is_drawn_with_it(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Ouroboros", "bites", "Ouroboros")))
    assert connections(await look(world, kb)) == {("Ouroboros", "bites", "Ouroboros")}


async def test_types_are_chosen_whatever_their_case(world: World) -> None:
    kb = await world_of_cities(world)
    page = await look(world, kb, types=("City", "company"))
    assert set(names(page)) == {"Paris", "Lyon", "Café Müller"}
    assert connections(page) == {("Café Müller", "serves", "Paris")}


@pytest.mark.parametrize("text", ["müll", "CAFE M", "  muller "])
async def test_a_part_of_a_name_finds_it_whatever_case_and_accents(world: World, text: str) -> None:
    kb = await world_of_cities(world)
    assert names(await look(world, kb, text=text)) == ["Café Müller"]


@pytest.mark.parametrize("text", ["%", "_", "'", "*:*", "\\", "`", "$kb", "/.*/"])
async def test_signs_in_a_search_are_text(world: World, text: str) -> None:
    kb = await world_of_cities(world)
    await tell(world, kb, said((f"sign {text} here", "near", f"sign {text} there")))
    assert set(names(await look(world, kb, text=f"sign {text}"))) == {f"sign {text} here", f"sign {text} there"}
    assert all(text.strip() in name for name in names(await look(world, kb, text=text)) if "$" not in text)


async def test_rarely_mentioned_ones_can_be_left_out(world: World) -> None:
    kb = await world_of_cities(world)
    assert set(names(await look(world, kb, min_mentions=2))) == {"France", "Paris"}


async def test_what_lies_around_an_entity_by_name_or_id(world: World) -> None:
    kb = await world_of_cities(world)
    lyon = next(node for node in (await look(world, kb)).nodes if node.name == "Lyon")
    for around in ("lyon", lyon.id):
        assert set(names(await look(world, kb, around=around))) == {"Lyon", "France"}
        assert set(names(await look(world, kb, around=around, hops=2))) == {"Lyon", "France", "Paris"}


async def test_nothing_lies_around_an_unknown_entity(world: World) -> None:
    kb = await world_of_cities(world)
    assert await look(world, kb, around="Atlantis") == GraphPage()


async def test_an_entity_of_another_knowledge_base_is_unknown(world: World) -> None:
    kb, other = await world_of_cities(world), await world.knowledge_base()
    await tell(world, other, said(("Lima", "lies in", "Peru")))
    lima = next(node for node in (await look(world, other)).nodes if node.name == "Lima")
    assert await look(world, kb, around=lima.id) == GraphPage()
    assert set(names(await look(world, other))) == {"Lima", "Peru"}


async def test_equal_names_in_two_knowledge_bases_are_two_entities(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    await tell(world, other, said(("Paris", "lies in", "Texas")))
    assert connections(await look(world, kb)) == {("Paris", "lies in", "France")}
    assert connections(await look(world, other)) == {("Paris", "lies in", "Texas")}


async def test_another_organisation_sees_nothing(world: World) -> None:
    kb = await world_of_cities(world)
    assert await world.graph.browse(world.other_id, kb.id) == GraphPage()


async def test_an_empty_graph_is_an_empty_page(world: World) -> None:
    assert await look(world, await world.knowledge_base()) == GraphPage()


async def test_a_cursor_that_no_page_gave_is_refused(world: World) -> None:
    kb = await world_of_cities(world)
    for cursor in ("nonsense", "1:", "-1:x", "'; DROP", "99999999999:a"):
        with pytest.raises(InvalidRequest):
            await look(world, kb, cursor=cursor)
