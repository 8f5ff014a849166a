"""Near names, as every store of the knowledge graph resolves them, one fact a test."""

import pytest

from nodes.ingest.near_names import with_near_names
from stores.protocols.graph import EntityDraft, GraphDraft, GraphFindings, MentionDraft, RelationDraft, SeedPassage
from tests.support.graph_drafts import said, tell
from tests.support.worlds import World
from tributary.domain.knowledge import KnowledgeBase
from tributary.text.entity_keys import plain_key


@pytest.fixture
def world(graph_world: World) -> World:
    """Every engine is asked the same."""
    return graph_world


async def ask(world: World, kb: KnowledgeBase, query: str) -> GraphFindings:
    return await world.graph.search(world.organisation_id, kb.id, query=query)


def names(found: GraphFindings) -> set[str]:
    return {entity["name"] for entity in found.entities}


def earlier(source: str, target: str) -> GraphDraft:
    """What an earlier version made of a document, whose keys joined less."""
    keys = plain_key(source), plain_key(target)
    return GraphDraft(
        tuple(EntityDraft(key, name, "name") for key, name in zip(keys, (source, target), strict=True)),
        (RelationDraft(keys[0], "knows", keys[1], 0),),
        tuple(MentionDraft(key, 0, 100 * n, 100 * n + 5) for n, key in enumerate(keys)),
    )


async def test_forms_of_a_name_in_two_documents_are_one_entity(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Acme Corp.", "makes", "Anvils")))
    document, _ = await tell(world, kb, said(("ACME Corporation", "is led by", "Dr. Ada Lovelace")))
    await tell(world, kb, said(("Ada Lovelace", "wrote", "Notes")))
    assert len((await ask(world, kb, "What does Acme Corp make?")).entities) == 4
    assert names(await ask(world, kb, "acme corporation")) >= {"Anvils", "Notes"}
    await world.graph.remove_document(world.organisation_id, kb.id, document.id)
    assert names(await ask(world, kb, "ACME Corporation")) == {"Acme Corp.", "Anvils"}, "only what it said went"


async def test_names_that_only_look_alike_stay_apart(world: World) -> None:
    kb = await world.knowledge_base()
    for one, other in (("Version 1", "Version 2"), ("Model X10", "Model X11"), ("John Smith", "Joan Smith")):
        await tell(world, kb, said((one, "is known to", f"Friend of {one}")))
        await tell(world, kb, said((other, "is known to", f"Friend of {other}")))
        assert names(await ask(world, kb, f"Who knows {one}?")) == {one, f"Friend of {one}"}


async def test_near_names_do_not_meet_across_knowledge_bases(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await tell(world, kb, said(("Acme Corp.", "makes", "Anvils")))
    await tell(world, other, said(("Acme Corporation", "makes", "Rockets")))
    assert names(await ask(world, kb, "Acme Corporation")) == {"Acme Corp.", "Anvils"}


async def test_what_an_earlier_version_wrote_is_found_by_every_form(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, earlier("Acme Corp.", "Model X-10"))
    for query in ("Acme Corp.", "the model X-10", "the Model X 10"):
        assert names(await ask(world, kb, f"What of {query}?")) == {"Acme Corp.", "Model X-10"}


async def test_what_an_earlier_version_wrote_leads_to_what_is_written_now(world: World) -> None:
    kb = await world.knowledge_base()
    _, [old] = await tell(world, kb, earlier("Acme Corp.", "Anvils"))
    _, [new] = await tell(world, kb, with_near_names(said(("Acme Corp.", "makes", "Rockets"))))
    found = await world.graph.search(
        world.organisation_id, kb.id, query="what else?", seeds=[SeedPassage(old, 1.0)], limit=10
    )
    assert new in {passage.chunk_id for passage in found.passages}


async def test_an_umlaut_is_found_written_out_and_the_other_way(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, with_near_names(said(("Jörg Müller", "lives in", "Bonn"))))
    await tell(world, kb, with_near_names(said(("Jutta Koehler", "lives in", "Kiel"))))
    for query, found in (("Joerg Mueller", "Bonn"), ("Jorg Muller", "Bonn"), ("Jutta Köhler", "Kiel")):
        assert found in names(await ask(world, kb, f"Where does {query} live?"))


@pytest.mark.parametrize(
    "query",
    [
        "Where does Helena Cartr live?",
        "where does helena crater live?",
        "Is Helana Carter known?",
        "What of Helenna Carter?",
        "What of HelenaCarter?",
    ],
)
async def test_a_question_may_spell_a_name_wrong(world: World, query: str) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Helena Carter", "lives in", "London")))
    assert names(await ask(world, kb, query)) == {"Helena Carter", "London"}


@pytest.mark.parametrize(
    "query", ["Who is Joan Smith?", "What is in the South Plant?", "What is Version 21?", "Helena Carton Garter?"]
)
async def test_a_wrong_spelling_is_no_other_name(world: World, query: str) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("John Smith", "works at", "North Plant")))
    await tell(world, kb, said(("Helena Carter", "wrote", "Version 20")))
    assert (await ask(world, kb, query)).entities == ()


async def test_a_name_that_is_known_is_not_read_as_another_spelt_wrong(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Helena Carter", "lives in", "London")))
    await tell(world, kb, said(("Helena Garter", "lives in", "Paris")))
    await tell(world, kb, said(("Helena Carters", "live in", "Rome")))
    assert names(await ask(world, kb, "Where does Helena Carter live?")) >= {"London", "Rome"}
    assert "Paris" not in names(await ask(world, kb, "Where does Helena Carter live?"))


async def test_a_wrong_spelling_means_nobody_in_another_knowledge_base(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await tell(world, other, said(("Helena Carter", "lives in", "London")))
    assert (await ask(world, kb, "Where does Helena Cartr live?")).entities == ()
    found = await world.graph.search(world.other_id, other.id, query="Where does Helena Cartr live?")
    assert found.entities == ()


@pytest.mark.parametrize("query", ["Who is Helena' OR 1=1 --?", "Helena% Carter_ `}) DETACH", "Helena\\ Cartér\\"])
async def test_signs_in_a_wrong_spelling_are_text(world: World, query: str) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Marie Curie", "found", "Radium")))
    assert (await ask(world, kb, query)).entities == ()
