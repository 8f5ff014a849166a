"""What every search over chunks promises, one fact a test."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from stores.protocols.knowledge import ImageVectors
from stores.protocols.search import Judgement
from stores.scoring import temper
from tests.support.worlds import DIMENSION, PlainEmbedder, World, open_world, towards
from tributary.domain.errors import Conflict
from tributary.domain.knowledge import KnowledgeBase
from tributary.domain.retrieval import Hit
from tributary.models.protocols import Vectors

NEAR, MIDDLING, FAR = towards(1), towards(1, 1), towards(0, 1)


def tempered(similarity: float) -> float:
    return float(temper(np.array([similarity]))[0])


async def find(
    world: World,
    kb: KnowledgeBase,
    query: str,
    *,
    recent: str = "",
    vector: Vectors = NEAR,
    limit: int = 10,
    organisation_id: UUID | None = None,
) -> Sequence[Hit]:
    return await world.search.search(
        organisation_id or world.organisation_id,
        kb.id,
        query=query,
        recent=recent,
        vector=vector,
        embedder=world.embedder,
        limit=limit,
    )


async def judged(world: World, kb: KnowledgeBase, query: str, *, vector: Vectors = NEAR, limit: int = 10) -> Judgement:
    return await world.search.judge(
        world.organisation_id,
        kb.id,
        query=query,
        recent="",
        vector=vector,
        embedder=world.embedder,
        limit=limit,
    )


async def texts(world: World, hits: Sequence[Hit]) -> list[str]:
    chunks = await world.knowledge.chunks(world.organisation_id, [UUID(hit["chunkId"]) for hit in hits])
    return [chunk.text for chunk in chunks]


async def test_the_nearest_chunk_comes_first_when_no_word_is_shared(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["far", "near", "middling"], [FAR, NEAR, MIDDLING])
    assert await texts(world, await find(world, kb, "unrelated")) == ["near", "middling", "far"]


async def test_a_chunk_with_the_words_comes_before_one_that_is_as_near(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["about cats", "about pumps"], [NEAR, NEAR])
    assert await texts(world, await find(world, kb, "pumps")) == ["about pumps", "about cats"]


async def test_each_hit_carries_both_terms_whichever_side_found_it(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["pump pressure", "silence"], [MIDDLING, NEAR])
    by_words, by_vector = sorted(await find(world, kb, "pump pressure"), key=lambda hit: -hit["text"])
    assert by_words["vector"] == pytest.approx(tempered(2**-0.5), abs=1e-3)
    assert by_words["text"] == pytest.approx(1.0)
    assert by_vector["vector"] == pytest.approx(1.0, abs=1e-3)
    assert by_vector["text"] == 0.0


async def test_every_term_lies_between_zero_and_one(world: World) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb, importance=1.0)
    await world.write(document, ["pump pump pump", "valve"], [NEAR, -NEAR], summary_vector=NEAR)
    for hit in await find(world, kb, "pump"):
        for term in (hit["vector"], hit["text"], hit["importance"]):
            assert 0.0 <= term <= 1.0


async def test_a_more_important_document_comes_first_when_all_else_is_equal(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb, importance=0.2), ["same words"])
    await world.write(await world.document(kb, importance=0.9), ["same words"])
    hits = await find(world, kb, "words")
    assert [round(hit["importance"], 3) for hit in hits] == [0.9, 0.2]


async def test_importance_does_not_bury_the_answer(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb, importance=0.0), ["how pumps are sealed"], [NEAR])
    await world.write(await world.document(kb, importance=1.0), ["holidays of the staff"], [FAR])
    await world.write(await world.document(kb, importance=1.0), ["pumps are blue"], [FAR])
    assert (await texts(world, await find(world, kb, "how are pumps sealed?")))[0] == "how pumps are sealed"


async def test_ties_are_broken_by_chunk_id(world: World) -> None:
    kb = await world.knowledge_base()
    for _ in range(4):
        await world.write(await world.document(kb), ["same words"])
    ids = [hit["chunkId"] for hit in await find(world, kb, "words")]
    assert ids == sorted(ids)


async def test_no_more_hits_come_than_were_asked_for(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, *(f"page {n}" for n in range(5)))
    assert len(await find(world, kb, "page", limit=3)) == 3


async def test_more_hits_than_the_usual_pool_can_be_asked_for(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, *(f"page {n}" for n in range(130)))
    assert len(await find(world, kb, "page", limit=130)) == 130


async def test_an_empty_knowledge_base_finds_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    assert await find(world, kb, "anything") == []


async def test_an_unknown_knowledge_base_finds_nothing_and_not_everything(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "text")
    hits = await world.search.search(
        world.organisation_id, uuid4(), query="text", recent="", vector=NEAR, embedder=world.embedder, limit=5
    )
    assert hits == []


async def test_chunks_of_another_knowledge_base_are_not_found(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await world.written(other, "secret text")
    assert await find(world, kb, "secret text") == []


async def test_another_organisation_finds_nothing_even_by_the_right_id(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "secret text")
    assert await find(world, kb, "secret text", organisation_id=world.other_id) == []


async def test_other_knowledge_bases_do_not_change_a_score(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await world.written(kb, "the pump leaks", "the valve is shut")
    before = await find(world, kb, "pump")
    await world.written(other, *("pump" for _ in range(20)))
    assert await find(world, kb, "pump") == before


@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE chunks; --",
        "a & b | !c <-> d:*",
        '"unclosed',
        "((( )))",
        "100% _ \\ $1 %(x)s",
        "{}",
        "",
        "   ",
        "?!",
    ],
)
async def test_punctuation_quotes_and_operators_are_text(world: World, query: str) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "some text")
    assert await texts(world, await find(world, kb, query)) == ["some text"]


async def test_a_word_in_quotes_is_found_as_the_word(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "about cats", "about AC/DC")
    assert (await texts(world, await find(world, kb, 'what is "AC/DC"?')))[0] == "about AC/DC"


async def test_a_long_question_keeps_its_lexical_hits(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "gardening for beginners", "resetting the frobnicator")
    question = (
        "Yesterday evening when we came home we wanted to make supper, and then all of a sudden nothing worked any "
        "more, so could somebody please explain what must be done about a frobnicator that hangs?"
    )
    assert (await texts(world, await find(world, kb, question)))[0] == "resetting the frobnicator"


async def test_words_of_the_conversation_help(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "the price of valves", "the price of pumps")
    hits = await find(world, kb, "and the price?", recent="Tell me about pumps.")
    assert (await texts(world, hits))[0] == "the price of pumps"


async def test_words_of_the_conversation_count_less_than_those_of_the_question(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "pumps pipes hoses tubes", "valves")
    hits = await find(world, kb, "valves", recent="Tell me about pumps, pipes, hoses, and tubes.")
    assert (await texts(world, hits))[0] == "valves"


async def test_a_question_of_function_words_alone_still_searches_by_vector(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["far", "near"], [FAR, NEAR])
    assert (await texts(world, await find(world, kb, "what is it?")))[0] == "near"


async def test_scripts_without_spaces_are_found_by_their_words(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "今天天气很好。", "北京大学位于海淀区。")
    assert (await texts(world, await find(world, kb, "北京大学在哪里?")))[0] == "北京大学位于海淀区。"


async def test_the_title_of_a_document_is_found(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["It takes ten minutes."], title="Replacing a gasket")
    await world.write(await world.document(kb), ["It takes an hour."], title="Painting a fence")
    assert (await texts(world, await find(world, kb, "gasket")))[0] == "It takes ten minutes."


async def test_a_document_that_is_about_the_words_lends_to_its_chunks(world: World) -> None:
    """A long document, cut into chunks, must not lose to one that mentions the word in passing."""
    kb = await world.knowledge_base()
    await world.written(kb, "The turbine spins.", "A turbine has blades.", "Check the turbine.")
    await world.written(kb, "A turbine is shown.", "Bread needs flour.", "Sugar is sweet.")
    first = (await texts(world, await find(world, kb, "turbine")))[:3]
    assert set(first) == {"The turbine spins.", "A turbine has blades.", "Check the turbine."}


async def test_a_summary_that_answers_to_the_question_raises_its_chunks(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["off topic"], [MIDDLING], summary_vector=FAR)
    await world.write(await world.document(kb), ["on topic"], [MIDDLING], summary_vector=NEAR)
    assert await texts(world, await find(world, kb, "unrelated")) == ["on topic", "off topic"]


async def test_a_weak_match_is_no_full_match_even_if_it_is_the_best(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "the pump", "the valve", "the hose")
    (best, *_) = await find(world, kb, "frobnicator gasket turbine manifold carburettor pump")
    assert 0.0 < best["text"] < 1.0


def scattered(count: int) -> list[Vectors]:
    """Directions as an embedder gives them to texts that it can't read: near each other, in no order."""
    rows = np.random.default_rng(5).normal(size=(count, DIMENSION)) / 3 + np.ones(DIMENSION)
    return [towards(*row) for row in rows]


async def unread(world: World) -> tuple[KnowledgeBase, list[UUID]]:
    """A knowledge base whose vectors say nothing of its words; the chunk that holds all words asked stands last."""
    kb = await world.knowledge_base()
    texts = [f"{'valve ' * (n % 5)}{'hose ' * (n % 3)}filler{n} text" for n in range(60)]
    document = await world.document(kb)
    ids = await world.write(document, [*texts, "frobnicator gasket valve hose"], [*scattered(60), -NEAR + MIDDLING])
    assert ids is not None
    return kb, [ids[ordinal] for ordinal in sorted(ids)]


async def test_an_embedder_that_cannot_read_the_texts_is_overruled_by_words(world: World) -> None:
    kb, _ = await unread(world)
    hits = await find(world, kb, "frobnicator gasket valve hose", vector=towards(1, 1, 1, 1))
    assert (await texts(world, hits[:1])) == ["frobnicator gasket valve hose"]
    assert max(hit["vector"] for hit in hits) < 0.5


async def test_scoring_doubts_an_embedder_as_a_search_does(world: World) -> None:
    kb, ids = await unread(world)
    query, vector = "frobnicator gasket valve hose", towards(1, 1, 1, 1)
    searched = {hit["chunkId"]: hit for hit in await find(world, kb, query, vector=vector, limit=100)}
    scored = await (await judged(world, kb, query, vector=vector)).score(ids[:2])
    assert {hit["chunkId"]: hit for hit in scored} == {str(each): searched[str(each)] for each in ids[:2]}


async def test_deleted_documents_are_not_found(world: World) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb)
    await world.write(document, ["gone text"])
    await world.knowledge.delete_document(world.organisation_id, kb.id, document.id)
    assert await find(world, kb, "gone text") == []


async def test_replaced_content_is_not_found(world: World) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb)
    await world.write(document, ["former words", "more former words"])
    renewed, _ = await world.knowledge.renew_document(world.organisation_id, kb.id, document.id, replacement=None)
    assert set(await texts(world, await find(world, kb, "former"))) == {"more former words", "former words"}
    await world.write(renewed, ["current words"])
    assert await texts(world, await find(world, kb, "former")) == ["current words"]
    assert [hit["text"] for hit in await find(world, kb, "former")] == [0.0]


async def test_a_changed_importance_counts_at_once(world: World) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb, importance=0.1)
    await world.write(document, ["text"])
    await world.knowledge.update_document(world.organisation_id, kb.id, document.id, title=None, importance=0.8)
    (hit,) = await find(world, kb, "text")
    assert hit["importance"] == pytest.approx(0.8)


async def test_a_vector_of_another_dimension_is_a_conflict(world: World) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "text")
    with pytest.raises(Conflict):
        await find(world, kb, "text", vector=np.ones(3, np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
async def test_a_vector_without_a_direction_is_a_conflict(world: World, value: float) -> None:
    kb = await world.knowledge_base()
    await world.written(kb, "text")
    with pytest.raises(Conflict):
        await find(world, kb, "text", vector=np.full(4, value, np.float32))


async def test_scoring_given_chunks_gives_the_terms_of_a_search(world: World) -> None:
    kb = await world.knowledge_base()
    ids = await world.written(kb, "the pump leaks", "the pump hums", "the valve is shut")
    searched = {hit["chunkId"]: hit for hit in await find(world, kb, "leaking pump")}
    scored = await (await judged(world, kb, "leaking pump")).score(ids[1:])
    assert {hit["chunkId"]: hit for hit in scored} == {str(each): searched[str(each)] for each in ids[1:]}


async def test_scoring_gives_terms_to_chunks_that_no_search_would_find(world: World) -> None:
    kb = await world.knowledge_base()
    fillers = [f"filler {number}" for number in range(240)]
    document = await world.document(kb)
    ids = await world.write(document, [*fillers, "a leaking pump", "the pump"], [*scattered(240), -NEAR, -NEAR])
    assert ids is not None
    far = [ids[ordinal] for ordinal in sorted(ids)][-30:]
    judgement = await judged(world, kb, "leaking pump")
    all_of_them = {hit["chunkId"]: hit for hit in await find(world, kb, "leaking pump", limit=300)}
    assert {str(each) for each in far} - {hit["chunkId"] for hit in judgement.hits}
    scored = {hit["chunkId"]: hit for hit in await judgement.score(far)}
    assert scored == {str(each): all_of_them[str(each)] for each in far}


async def test_scoring_leaves_out_what_is_gone_or_another_knowledge_bases(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    foreign = await world.written(other, "text")
    scored = await (await judged(world, kb, "text")).score([uuid4(), *foreign])
    assert scored == []


async def test_memory_and_postgresql_doubt_alike(shared_dsn: str) -> None:
    found: list[list[tuple[str, float, float]]] = []
    for dsn in (None, shared_dsn):
        async with open_world(dsn) as world:
            kb, _ = await unread(world)
            hits = await find(world, kb, "gasket valve hose", vector=towards(1, 1, 1, 1), limit=100)
            each = zip(await texts(world, hits), hits, strict=True)
            found.append(sorted((text, hit["vector"], hit["text"]) for text, hit in each))
    assert [text for text, _, _ in found[0]] == [text for text, _, _ in found[1]]
    for first, second in zip(*found, strict=True):
        assert second[1:] == pytest.approx(first[1:], abs=2e-3)


async def test_memory_and_postgresql_give_the_same_terms(shared_dsn: str) -> None:
    found: list[dict[str, tuple[float, float, float]]] = []
    for dsn in (None, shared_dsn):
        async with open_world(dsn) as world:
            kb = await world.knowledge_base()
            first = await world.document(kb, importance=0.3)
            await world.write(first, ["the pump leaks oil", "pumps and more pumps"], [NEAR, FAR], summary_vector=FAR)
            await world.write(await world.document(kb), ["oil is for engines", "valves"], [MIDDLING, NEAR], title="Oil")
            hits = await find(world, kb, "why does a pump leak oil?", recent="Engines have valves.")
            terms = [(hit["vector"], hit["text"], hit["importance"]) for hit in hits]
            found.append(dict(zip(await texts(world, hits), terms, strict=True)))
    assert found[0].keys() == found[1].keys()
    for text, expected in found[0].items():
        assert found[1][text] == pytest.approx(expected, abs=1e-3)


def pictures(*vectors: Vectors, model: str = "local/descriptor") -> ImageVectors:
    return ImageVectors(model, tuple(range(len(vectors))), np.stack(vectors))


async def test_a_chunk_has_as_many_pictures_as_it_likes_and_is_found_once_by_the_best(world: World) -> None:
    kb = await world.knowledge_base()
    images = ImageVectors("local/descriptor", (0, 0, 1, 0), np.stack([FAR, NEAR, MIDDLING, FAR]))
    ids = await world.write(await world.document(kb), ["a", "b"], images=[images])
    assert ids is not None
    found = await world.search.similar_images(
        world.organisation_id, kb.id, vectors=NEAR[None, :], embedding="local/descriptor", limit=10
    )
    assert [chunk_id for chunk_id, _ in found] == [ids[0], ids[1]]
    assert found[0][1] == pytest.approx(1.0, abs=1e-3)


async def test_pictures_come_by_similarity(world: World) -> None:
    kb = await world.knowledge_base()
    ids = await world.write(await world.document(kb), ["a", "b", "c"], images=[pictures(FAR, NEAR, MIDDLING)])
    assert ids is not None
    found = await world.search.similar_images(
        world.organisation_id, kb.id, vectors=NEAR[None, :], embedding="local/descriptor", limit=2
    )
    assert [chunk_id for chunk_id, _ in found] == [ids[1], ids[2]]
    assert found[0][1] == pytest.approx(1.0, abs=1e-3)


async def test_a_picture_counts_by_the_best_of_the_vectors(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["a"], images=[pictures(FAR)])
    ((_, cosine),) = await world.search.similar_images(
        world.organisation_id, kb.id, vectors=np.stack([NEAR, FAR]), embedding="local/descriptor", limit=5
    )
    assert cosine == pytest.approx(1.0, abs=1e-3)


async def test_pictures_of_another_model_are_not_compared(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["a"], images=[pictures(NEAR, model="other")])
    found = await world.search.similar_images(
        world.organisation_id, kb.id, vectors=NEAR[None, :], embedding="local/descriptor", limit=5
    )
    assert found == []


async def test_pictures_of_another_organisation_are_not_found(world: World) -> None:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), ["a"], images=[pictures(NEAR)])
    found = await world.search.similar_images(
        world.other_id, kb.id, vectors=NEAR[None, :], embedding="local/descriptor", limit=5
    )
    assert found == []


async def test_pictures_of_a_replaced_document_are_gone(world: World) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb)
    await world.write(document, ["a"], images=[pictures(NEAR)])
    await world.write(document, ["a"])
    found = await world.search.similar_images(
        world.organisation_id, kb.id, vectors=NEAR[None, :], embedding="local/descriptor", limit=5
    )
    assert found == []


async def test_a_question_of_another_model_with_as_many_dimensions_is_a_conflict(world: World) -> None:
    class Other(PlainEmbedder):
        name = "test/of-the-same-size"

    kb = await world.knowledge_base()
    await world.written(kb, "a")
    asked: dict[str, Any] = {"query": "a", "recent": "", "vector": towards(1), "embedder": Other()}

    with pytest.raises(Conflict):
        await world.search.search(kb.organisation_id, kb.id, **asked, limit=3)
    with pytest.raises(Conflict):
        await world.search.judge(kb.organisation_id, kb.id, **asked, limit=3)
