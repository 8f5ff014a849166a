"""How much of what was found goes to a model with a small window."""

from uuid import UUID, uuid4

from nodes.chat.fitting import fit_context
from nodes.chat.prompt import number_sources, render_context
from nodes.retrieval.state import KnowledgeGraphFacts
from tributary.domain.knowledge import Chunk
from tributary.domain.retrieval import EntityFact, KnowledgeMap, MapEntry, RankedHit, Source
from tributary.models.tokens import estimate_tokens

KB = str(uuid4())
MAPS = [
    KnowledgeMap(
        knowledgeBaseId=KB,
        name="Plant",
        documentCount=1,
        documents=[MapEntry(title="Guide", topics=["pumps"], summary="how it works " * 30)],
    )
]
FACTS = [
    KnowledgeGraphFacts(entities=[EntityFact(name="Pump", type="device", description="water " * 30)], relations=[])
]


def found(count: int) -> tuple[list[Source], list[Chunk]]:
    """Passages of about a hundred tokens each."""
    chunks = [
        Chunk(
            id=uuid4(),
            knowledge_base_id=UUID(KB),
            document_id=uuid4(),
            filename=f"{number}.pdf",
            text="word " * 80,
            start=0,
            end=400,
            page=None,
            importance=0.5,
        )
        for number in range(count)
    ]
    hits = [
        RankedHit(
            chunkId=str(each.id),
            documentId=str(each.document_id),
            knowledgeBaseId=KB,
            vector=0.9,
            text=0.5,
            importance=0.5,
            evidence=0.0,
            branches=["text"],
            score=0.8,
        )
        for each in chunks
    ]
    return number_sources(hits, chunks, {KB: "Plant"}), chunks


def test_a_usual_window_gets_all_that_was_found() -> None:
    sources, chunks = found(5)
    assert fit_context(sources, chunks, MAPS, FACTS, window=32_768) == (
        sources,
        render_context(sources, chunks, MAPS, FACTS),
    )


def test_a_small_window_gets_the_best_passages_and_no_more_than_its_half() -> None:
    sources, chunks = found(5)
    kept, context = fit_context(sources, chunks, [], [], window=800)
    assert [source["number"] for source in kept] == [1, 2, 3]
    assert estimate_tokens(context) <= 400
    assert "[3] Source" in context
    assert "[4] Source" not in context


def test_the_best_passage_goes_along_however_small_the_window_is() -> None:
    sources, chunks = found(3)
    kept, context = fit_context(sources, chunks, MAPS, FACTS, window=100)
    assert kept == sources[:1]
    assert context == render_context(kept, chunks, [], [])


def test_the_list_of_documents_is_left_out_before_the_facts() -> None:
    sources, chunks = found(1)
    alone = estimate_tokens(render_context(sources, chunks, [], []))
    with_facts = estimate_tokens(render_context(sources, chunks, [], FACTS))
    _, context = fit_context(sources, chunks, MAPS, FACTS, window=2 * with_facts)
    assert ("KNOWLEDGE GRAPH" in context, "AVAILABLE KNOWLEDGE" in context) == (True, False)
    _, context = fit_context(sources, chunks, MAPS, FACTS, window=2 * alone)
    assert ("KNOWLEDGE GRAPH" in context, "AVAILABLE KNOWLEDGE" in context) == (False, False)


def test_nothing_found_is_no_context() -> None:
    assert fit_context([], [], [], [], window=512) == ([], "")
