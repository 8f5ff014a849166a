"""Where passages that another search found lead, as every store of the knowledge graph promises, one fact a test."""

from collections.abc import Sequence
from uuid import UUID

from nodes.retrieval.evidence import set_apart
from stores.bridging import NAMED_TOO, RARE
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, SeedPassage
from tests.support.worlds import World
from tributary.domain.knowledge import KnowledgeBase
from tributary.text.entity_keys import entity_key


def naming(*names: str, about: str = "", alias: str = "") -> GraphDraft:
    """What a document of one chunk says that mentions these names, and is about one more."""
    keys = [entity_key(name) for name in names]
    entities = [EntityDraft(key, name, "name") for key, name in zip(keys, names, strict=True)]
    mentions = [MentionDraft(key, 0, 100 * n, 100 * n + 5) for n, key in enumerate(keys)]
    if about:
        key = entity_key(about)
        entities.append(EntityDraft(key, about, "title", aliases=(entity_key(alias),) if alias else ()))
        mentions.append(MentionDraft(key, 0, 0, 0, subject=True))
    return GraphDraft(tuple(entities), (), tuple(mentions))


async def tell(world: World, kb: KnowledgeBase, draft: GraphDraft) -> UUID:
    """The chunk of a document that says this."""
    document = await world.document(kb)
    written = await world.write(document, ["a statement"])
    assert written is not None
    await world.graph.write_document(world.organisation_id, kb.id, document.id, draft, [written[0]])
    return written[0]


async def led(
    world: World, kb: KnowledgeBase, *seeds: UUID | SeedPassage, query: str = "who was that?"
) -> dict[UUID, float]:
    """The passages that the seeds lead to, with their evidence."""
    given: Sequence[SeedPassage] = [SeedPassage(each, 1.0) if isinstance(each, UUID) else each for each in seeds]
    found = await world.graph.search(world.organisation_id, kb.id, query=query, seeds=given, limit=50)
    return {passage.chunk_id: passage.evidence for passage in found.passages}


async def test_a_passage_leads_to_the_one_about_what_it_names(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    film = await tell(graph_world, kb, naming("Tim Burton", about="Big Eyes"))
    director = await tell(graph_world, kb, naming(about="Tim Burton"))
    found = await led(graph_world, kb, film)
    assert found[director] == 1.0 > found.get(film, 0.0)


async def test_a_passage_that_names_the_same_too_counts_less(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    film = await tell(graph_world, kb, naming("Tim Burton", about="Big Eyes"))
    other = await tell(graph_world, kb, naming("Tim Burton", about="Batman"))
    assert 0.0 < (await led(graph_world, kb, film))[other] < NAMED_TOO


async def test_a_common_name_leads_only_to_the_passage_about_it(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    seed = await tell(graph_world, kb, naming("France", about="Louvre"))
    others = [await tell(graph_world, kb, naming("France", about=f"Town {n}")) for n in range(RARE)]
    country = await tell(graph_world, kb, naming(about="France"))
    found = await led(graph_world, kb, seed)
    assert found[country] == 1.0
    assert all(found.get(other, 0.0) < 0.2 for other in others)


async def test_passages_that_all_name_the_same_are_not_set_apart_by_it(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    seed = await tell(graph_world, kb, naming("Help Desk", about="Standard Plan"))
    for n in range(4):
        await tell(graph_world, kb, naming("Help Desk", about=f"Plan {n}"))
    place = graph_world.organisation_id, kb.id
    found = await graph_world.graph.search(*place, query="who?", seeds=[SeedPassage(seed, 1.0)], limit=4)
    assert found.passages[0].evidence > 0.0
    assert [each.evidence for each in set_apart(found.passages, limit=3)] == [0.0, 0.0, 0.0]


async def test_the_weaker_a_seed_the_weaker_what_it_leads_to(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    strong = await tell(graph_world, kb, naming("Tim Burton", about="Big Eyes"))
    weak = await tell(graph_world, kb, naming("Johnny Depp", about="Platoon"))
    burton = await tell(graph_world, kb, naming(about="Tim Burton"))
    depp = await tell(graph_world, kb, naming(about="Johnny Depp"))
    found = await led(graph_world, kb, strong, SeedPassage(weak, 0.25))
    assert (found[burton], found[depp]) == (1.0, 0.25)


async def test_names_amid_the_words_of_the_question_lead_on_most(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    text = "It was directed by the man".ljust(95) + ".\n\n" + "Nobody knows the other one."
    seed = await tell(graph_world, kb, naming("Tim Burton", "Johnny Depp", about="Big Eyes"))
    burton = await tell(graph_world, kb, naming(about="Tim Burton"))
    depp = await tell(graph_world, kb, naming(about="Johnny Depp"))
    found = await led(graph_world, kb, SeedPassage(seed, 1.0, text=text), query="who directed it?")
    assert found[burton] == 1.0
    assert found.get(depp, 0.0) < 1.0


async def test_an_alias_leads_to_the_passage_about_its_entity(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    seed = await tell(graph_world, kb, naming("L'Amour", about="Metallica"))
    venue = await tell(graph_world, kb, naming(about="L'Amour (music venue)", alias="L'Amour"))
    assert (await led(graph_world, kb, seed))[venue] == 1.0


async def test_a_name_leads_to_the_passage_about_what_it_is_an_alias_of(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    seed = await tell(graph_world, kb, naming(about="World Bank (group)", alias="World Bank"))
    listing = await tell(graph_world, kb, naming("World Bank (group)", about="Lenders"))
    bank = await tell(graph_world, kb, naming(about="World Bank"))
    assert seed != bank
    assert (await led(graph_world, kb, listing))[bank] == 1.0


async def test_a_passage_does_not_lead_to_itself(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    seed = await tell(graph_world, kb, naming("Tim Burton", about="Big Eyes"))
    assert (await led(graph_world, kb, seed)).get(seed, 0.0) <= 0.5


async def test_a_seed_leads_nowhere_in_another_knowledge_base(graph_world: World) -> None:
    kb, other = await graph_world.knowledge_base(), await graph_world.knowledge_base()
    seed = await tell(graph_world, kb, naming("Tim Burton", about="Big Eyes"))
    await tell(graph_world, other, naming(about="Tim Burton"))
    assert await led(graph_world, other, seed) == {}


async def test_a_deleted_document_is_led_to_no_more(graph_world: World) -> None:
    kb = await graph_world.knowledge_base()
    seed = await tell(graph_world, kb, naming("Tim Burton", about="Big Eyes"))
    document = await graph_world.document(kb)
    written = await graph_world.write(document, ["a statement"])
    assert written is not None
    await graph_world.graph.write_document(
        graph_world.organisation_id, kb.id, document.id, naming(about="Tim Burton"), [written[0]]
    )
    assert written[0] in await led(graph_world, kb, seed)
    await graph_world.graph.remove_document(graph_world.organisation_id, kb.id, document.id)
    assert written[0] not in await led(graph_world, kb, seed)
