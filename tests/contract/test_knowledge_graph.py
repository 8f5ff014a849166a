"""What every store of the knowledge graph promises, one fact a test."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from stores.protocols.graph import EntityDraft, GraphDraft, GraphFindings, MentionDraft, RelationDraft, SeedPassage
from tests.support.worlds import World
from tributary.domain.knowledge import Document, KnowledgeBase
from tributary.text.entity_keys import entity_key


@pytest.fixture
def world(graph_world: World) -> World:
    """Every engine is asked the same."""
    return graph_world


def said(*statements: tuple[str, str, str], aliases: dict[str, str] | None = None) -> GraphDraft:
    """A draft in which chunk n states the nth relation and mentions both of its entities."""
    entities: dict[str, EntityDraft] = {}
    mentions, relations = [], []
    for chunk, (source, relation, target) in enumerate(statements):
        for position, name in enumerate((source, target)):
            key = entity_key(name)
            alias = (aliases or {}).get(name)
            entities[key] = EntityDraft(key, name, "name", f"{name} of note", (entity_key(alias),) if alias else ())
            mentions.append(MentionDraft(key, chunk, 100 * position, 100 * position + len(name)))
        description = f"{source} {relation} {target}"
        relations.append(RelationDraft(entity_key(source), relation, entity_key(target), chunk, description))
    return GraphDraft(tuple(entities.values()), tuple(relations), tuple(mentions))


async def tell(world: World, kb: KnowledgeBase, draft: GraphDraft) -> tuple[Document, list[UUID]]:
    """A document that says this, with a chunk for each statement; the chunk ids in order."""
    document = await world.document(kb)
    return document, await tell_again(world, document, draft)


async def tell_again(world: World, document: Document, draft: GraphDraft) -> list[UUID]:
    count = max((mention.chunk for mention in draft.mentions), default=0) + 1
    written = await world.write(document, [f"statement {n}" for n in range(count)])
    assert written is not None
    ids = [written[ordinal] for ordinal in range(count)]
    await world.graph.write_document(document.organisation_id, document.knowledge_base_id, document.id, draft, ids)
    return ids


async def ask(
    world: World, kb: KnowledgeBase, query: str, *, seed_chunks: Sequence[UUID] = (), hops: int = 2, limit: int = 10
) -> GraphFindings:
    return await world.graph.search(
        world.organisation_id,
        kb.id,
        query=query,
        seeds=[SeedPassage(each, 1.0) for each in seed_chunks],
        hops=hops,
        limit=limit,
    )


def names(findings: GraphFindings) -> list[str]:
    return [entity["name"] for entity in findings.entities]


async def test_an_entity_that_the_question_names_is_found_with_its_facts(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Marie Curie", "discovered", "radium")))
    found = await ask(world, kb, "What did Marie Curie find?")
    assert found.entities[0] == {"name": "Marie Curie", "type": "name", "description": "Marie Curie of note"}
    assert found.relations == (
        {
            "source": "Marie Curie",
            "relation": "discovered",
            "target": "radium",
            "description": "Marie Curie discovered radium",
        },
    )


async def test_relations_are_walked_against_their_direction_too(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Marie Curie", "discovered", "radium")))
    assert names(await ask(world, kb, "who found radium?")) == ["radium", "Marie Curie"]


async def test_two_hops_reach_what_one_does_not(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France"), ("France", "lies in", "Europe")))
    assert set(names(await ask(world, kb, "Paris", hops=1))) == {"Paris", "France"}
    assert set(names(await ask(world, kb, "Paris", hops=2))) == {"Paris", "France", "Europe"}


async def test_three_steps_are_too_far(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("A1", "to", "B1"), ("B1", "to", "C1"), ("C1", "to", "D1")))
    assert "D1" not in names(await ask(world, kb, "A1"))


async def test_nearer_entities_come_first(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France"), ("France", "lies in", "Europe")))
    assert names(await ask(world, kb, "Paris")) == ["Paris", "France", "Europe"]


async def test_nothing_named_finds_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    assert await ask(world, kb, "how are you?") == GraphFindings()


async def test_an_empty_graph_finds_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    assert await ask(world, kb, "Paris") == GraphFindings()


async def test_names_are_found_whatever_their_case_accents_and_plural(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Café Müller", "serves", "water filters")))
    assert names(await ask(world, kb, "is CAFE MULLER open?"))[0] == "Café Müller"
    assert names(await ask(world, kb, "the water filter"))[0] == "water filters"


async def test_an_alias_finds_its_entity(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("World Bank", "lends to", "Peru"), aliases={"World Bank": "IBRD"}))
    assert names(await ask(world, kb, "What is the IBRD?"))[0] == "World Bank"


async def test_a_name_inside_a_longer_one_is_not_meant(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("New York Times", "prints", "news"), ("York", "lies in", "England")))
    assert "York" not in names(await ask(world, kb, "who owns the New York Times?"))


async def test_names_of_scripts_without_spaces_are_found_inside_a_question(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("北京大学", "位于", "海淀区")))
    assert names(await ask(world, kb, "请问北京大学在哪里"))[0] == "北京大学"


@pytest.mark.parametrize(
    "name", ['O\'Brien "Bob" \\ Co', "AC/DC", "`DROP` $1 %s {}", "a:b*c~(d)", "Robert'); DROP TABLE kg_entities;--"]
)
async def test_names_with_quotes_or_operators_are_text(world: World, name: str) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said((name, "sings", "Loudly")))
    assert names(await ask(world, kb, f"tell me about {name} please"))[0] == name


async def test_a_cycle_ends(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("A1", "to", "B1"), ("B1", "to", "C1"), ("C1", "to", "A1"), ("A1", "to", "A1")))
    assert set(names(await ask(world, kb, "A1"))) == {"A1", "B1", "C1"}


async def test_a_hub_is_cut_and_says_so(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(*(("Hub", "has", f"Spoke{n}") for n in range(60))))
    found = await ask(world, kb, "Hub", limit=100)
    assert found.truncated
    assert len(found.entities) < 61


async def test_a_small_neighbourhood_is_not_truncated(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(*(("Hub", "has", f"Spoke{n}") for n in range(5))))
    assert not (await ask(world, kb, "Hub")).truncated


async def test_a_way_through_a_hub_counts_less_than_one_through_a_rare_entity(world: World) -> None:
    kb = await world.knowledge_base()
    spokes = (("Hub", "has", f"Spoke{n}") for n in range(12))
    await tell(
        world,
        kb,
        said(("Start", "near", "Hub"), ("Start", "near", "Path"), ("Path", "near", "Goal"), *spokes),
    )
    found = names(await ask(world, kb, "Start", limit=50))
    assert all(found.index("Goal") < found.index(name) for name in found if name.startswith("Spoke"))


async def test_no_more_facts_come_than_were_asked_for(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(*(("Hub", "has", f"Spoke{n}") for n in range(8))))
    found = await ask(world, kb, "Hub", limit=3)
    assert (len(found.entities), len(found.relations), len(found.passages)) == (3, 3, 3)


async def test_the_passage_that_states_the_relation_of_what_was_asked_comes_first(world: World) -> None:
    kb = await world.knowledge_base()
    _, ids = await tell(
        world, kb, said(("Paris", "has", "Louvre"), ("Paris", "lies in", "France"), ("Peru", "near", "Chile"))
    )
    found = await ask(world, kb, "Is Paris in France?")
    assert found.passages[0].chunk_id == ids[1]
    assert ids[2] not in [passage.chunk_id for passage in found.passages]


async def test_evidence_lies_between_zero_and_one(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(*(("Paris", "has", name) for name in ("Louvre", "Seine", "Metro"))))
    for passage in (await ask(world, kb, "Paris Louvre Seine Metro")).passages:
        assert 0.0 < passage.evidence <= 1.0


async def test_chunks_that_were_found_are_seeds(world: World) -> None:
    kb = await world.knowledge_base()
    _, ids = await tell(world, kb, said(("Paris", "lies in", "France"), ("Lima", "lies in", "Peru")))
    assert set(names(await ask(world, kb, "what is this?", seed_chunks=[ids[1]]))) == {"Lima", "Peru"}


async def test_seed_chunks_of_another_knowledge_base_are_none(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    _, ids = await tell(world, other, said(("Lima", "lies in", "Peru")))
    assert await ask(world, kb, "what is this?", seed_chunks=[*ids, uuid4()]) == GraphFindings()


async def test_knowledge_bases_do_not_share_entities(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await tell(world, other, said(("Paris", "lies in", "France")))
    assert await ask(world, kb, "Paris") == GraphFindings()


async def test_another_organisation_finds_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    assert await world.graph.search(world.other_id, kb.id, query="Paris") == GraphFindings()


async def test_an_entity_of_two_documents_joins_what_they_say(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    await tell(world, kb, said(("PARIS", "has", "Louvre")))
    assert set(names(await ask(world, kb, "paris", hops=1))) >= {"France", "Louvre"}


async def test_a_shared_entity_survives_with_its_other_source(world: World) -> None:
    kb = await world.knowledge_base()
    first, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    await tell(world, kb, said(("Paris", "has", "Louvre")))
    await world.graph.remove_document(world.organisation_id, kb.id, first.id)
    assert set(names(await ask(world, kb, "Paris"))) == {"Paris", "Louvre"}
    assert await ask(world, kb, "France") == GraphFindings()


async def test_nothing_of_a_removed_document_is_left_in_a_shared_entity(world: World) -> None:
    kb = await world.knowledge_base()
    loud = said(("PARIS", "lies in", "France"), ("PARIS", "has", "Metro"), aliases={"PARIS": "Lutetia"})
    first, _ = await tell(world, kb, loud)
    await tell(world, kb, said(("Paris", "has", "Louvre")))
    await world.graph.remove_document(world.organisation_id, kb.id, first.id)
    assert (await ask(world, kb, "Paris")).entities[0]["name"] == "Paris"
    assert await ask(world, kb, "Lutetia") == GraphFindings()


async def test_a_name_means_all_who_are_called_so_as_long_as_a_document_says_it(world: World) -> None:
    kb = await world.knowledge_base()
    called_so = said(("Jaguar Cars", "builds in", "Coventry"), aliases={"Jaguar Cars": "Jaguar"})
    await tell(world, kb, said(("Jaguar", "hunts in", "Brazil")))
    first, _ = await tell(world, kb, called_so)
    second, _ = await tell(world, kb, called_so)
    await tell(world, kb, said(("Jaguar Cars", "belongs to", "Tata")))
    both = {"Jaguar", "Brazil", "Jaguar Cars", "Coventry", "Tata"}
    assert set(names(await ask(world, kb, "Jaguar"))) == both
    await world.graph.remove_document(world.organisation_id, kb.id, first.id)
    assert set(names(await ask(world, kb, "Jaguar"))) == both, "the second document still says it"
    await tell_again(world, second, said(("Jaguar Cars", "builds in", "Coventry")))
    assert set(names(await ask(world, kb, "Jaguar"))) == {"Jaguar", "Brazil"}
    assert set(names(await ask(world, kb, "Jaguar Cars"))) == {"Jaguar Cars", "Coventry", "Tata"}


async def test_a_relation_that_two_documents_state_survives_one(world: World) -> None:
    kb = await world.knowledge_base()
    first, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    _, ids = await tell(world, kb, said(("Paris", "lies in", "France")))
    await world.graph.remove_document(world.organisation_id, kb.id, first.id)
    found = await ask(world, kb, "Paris")
    assert len(found.relations) == 1
    assert {passage.chunk_id for passage in found.passages} == set(ids)


async def test_deleting_a_document_takes_its_facts(world: World) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    await world.knowledge.delete_document(world.organisation_id, kb.id, document.id)
    assert await ask(world, kb, "Paris in France") == GraphFindings()


async def test_deleting_a_knowledge_base_takes_its_facts(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    await world.knowledge.delete_knowledge_base(world.organisation_id, kb.id)
    assert await ask(world, kb, "Paris in France") == GraphFindings()


async def test_writing_a_document_again_replaces_what_it_said(world: World) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    await tell_again(world, document, said(("Lima", "lies in", "Peru")))
    assert await ask(world, kb, "Paris in France") == GraphFindings()
    assert names(await ask(world, kb, "Lima")) == ["Lima", "Peru"]


async def test_replaced_chunks_take_their_facts_before_new_ones_are_written(world: World) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    await world.write(document, ["other content"])
    assert await ask(world, kb, "Paris in France") == GraphFindings()


async def test_facts_for_chunks_that_were_replaced_meanwhile_are_dropped(world: World) -> None:
    kb = await world.knowledge_base()
    document, stale = await tell(world, kb, said(("Paris", "lies in", "France")))
    await world.write(document, ["other content"])
    await world.graph.write_document(
        world.organisation_id, kb.id, document.id, said(("Paris", "lies in", "France")), stale
    )
    assert await ask(world, kb, "Paris") == GraphFindings()


async def test_writing_for_a_deleted_document_writes_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    document, ids = await tell(world, kb, said(("Paris", "lies in", "France")))
    await world.knowledge.delete_document(world.organisation_id, kb.id, document.id)
    await world.graph.write_document(
        world.organisation_id, kb.id, document.id, said(("Paris", "lies in", "France")), ids
    )
    assert await ask(world, kb, "Paris") == GraphFindings()


async def test_removing_an_unknown_document_is_no_error(world: World) -> None:
    kb = await world.knowledge_base()
    await world.graph.remove_document(world.organisation_id, kb.id, uuid4())


async def test_another_organisation_removes_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    await world.graph.remove_document(world.other_id, kb.id, document.id)
    assert names(await ask(world, kb, "Paris")) == ["Paris", "France"]


async def test_an_empty_draft_is_a_document_that_says_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    await tell_again(world, document, GraphDraft())
    assert await ask(world, kb, "Paris") == GraphFindings()


async def test_relations_to_entities_that_the_draft_lacks_are_left_out(world: World) -> None:
    kb = await world.knowledge_base()
    draft = said(("Paris", "lies in", "France"))
    stray = RelationDraft("paris", "near", "nowhere", 0)
    await tell(world, kb, GraphDraft(draft.entities, (*draft.relations, stray), draft.mentions))
    assert [relation["relation"] for relation in (await ask(world, kb, "Paris")).relations] == ["lies in"]


async def test_documents_that_share_entities_are_written_at_the_same_time(world: World) -> None:
    kb = await world.knowledge_base()
    pairs = [("Paris", "France"), ("France", "Paris"), ("Lyon", "France"), ("France", "Lyon")]
    await asyncio.gather(*(tell(world, kb, said((a, "near", b), (b, "knows", a))) for a, b in pairs * 3))
    found = await ask(world, kb, "Paris")
    assert set(names(found)) == {"Paris", "France", "Lyon"}


async def test_a_knowledge_base_can_be_deleted_while_its_documents_are_written(world: World) -> None:
    kb = await world.knowledge_base()
    documents = [await world.document(kb) for _ in range(6)]

    async def write(document: Document) -> None:
        written = await world.write(document, ["Paris lies in France"] * 20)
        if written is not None:
            draft = said(("Paris", "lies in", "France"))
            await world.graph.write_document(world.organisation_id, kb.id, document.id, draft, list(written.values()))

    writing = asyncio.gather(*(write(document) for document in documents))
    keys = await world.knowledge.delete_knowledge_base(world.organisation_id, kb.id)
    await writing
    assert set(keys) == {document.storage_key for document in documents}
    assert await ask(world, kb, "Paris") == GraphFindings()


async def test_of_a_hub_the_heaviest_relations_are_walked(world: World) -> None:
    kb = await world.knowledge_base()
    statements = [("Hub", "has", f"Spoke{n}") for n in range(230)]
    draft = said(*statements)
    relations = tuple(replace(each, weight=1.0 + n % 7) for n, each in enumerate(draft.relations))
    await tell(world, kb, replace(draft, relations=relations))
    found = await ask(world, kb, "Hub", hops=1, limit=100)
    heaviest = {f"Hub has Spoke{n}" for n in range(230) if n % 7 == 6}
    assert found.truncated
    assert len(found.relations) == 20
    assert {relation["description"] for relation in found.relations} <= heaviest


async def test_the_relation_that_is_asked_for_comes_before_heavier_ones(world: World) -> None:
    kb = await world.knowledge_base()
    facts = [("Marie Curie", "lived with", f"Friend {n}") for n in range(12)]
    draft = said(*facts, ("Marie Curie", "was buried in", "Sceaux"))
    heavy = tuple(replace(each, weight=3.0) if each.relation == "lived with" else each for each in draft.relations)
    await tell(world, kb, replace(draft, relations=heavy))
    found = await ask(world, kb, "Where was Marie Curie buried?", hops=1, limit=5)
    assert found.relations[0]["target"] == "Sceaux"
    assert len(found.relations) == 5
