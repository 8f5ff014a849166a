"""What chunks are about."""

from nodes.ingest.extracting import extract
from stores.protocols.graph import GraphDraft
from tributary.domain.knowledge import ChunkDraft, ParsedDocument


def drawn(title: str, *texts: str, headings: tuple[str, ...] = ()) -> GraphDraft:
    """The graph of a document with a chunk for each text, under a heading each where there are any."""
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        heading = headings[ordinal] if headings else ""
        chunks.append(ChunkDraft(ordinal, text, start, start + len(text), heading=heading))
        start += len(text) + 2
    return extract(ParsedDocument("\n\n".join(texts), title=title), chunks)


def subjects(draft: GraphDraft) -> set[tuple[str, int]]:
    return {(mention.key, mention.chunk) for mention in draft.mentions if mention.subject}


def test_the_title_is_what_all_chunks_are_about() -> None:
    assert subjects(drawn("Pump manual", "it turns.", "it stops.")) == {("pump manual", 0), ("pump manual", 1)}


def test_a_subject_that_a_chunk_does_not_name_stands_empty_at_its_start() -> None:
    [first, second] = drawn("Pump manual", "it turns.", "it stops.").mentions
    assert (first.start, first.end) == (0, 0)
    assert second.start == second.end > 0


def test_a_subject_that_a_chunk_names_stands_where_it_is_named() -> None:
    draft = drawn("Tim Burton", "They met Tim Burton there.")
    [mention] = draft.mentions
    assert (mention.start, mention.end, mention.subject) == (9, 19, True)


def test_other_names_are_no_subjects() -> None:
    assert subjects(drawn("Tim Burton", "Tim Burton met Johnny Depp.")) == {("tim burton", 0)}


def test_what_tells_a_title_from_its_namesakes_is_no_part_of_the_short_name() -> None:
    [entity] = drawn("L'Amour (music venue)", "It closed.").entities
    assert (entity.name, entity.aliases) == ("L'Amour (music venue)", ("l amour",))
    [entity] = drawn("Young, New South Wales", "It grew.").entities
    assert entity.aliases == ("young",)


def test_a_list_in_a_title_tells_nothing_apart() -> None:
    for title in ("Systems, Services, and Centers", "Buzz, neglecting viscosity", "Elections, 1967"):
        [entity] = drawn(title, "It closed.").entities
        assert not {"system", "buzz", "election"} & {*entity.aliases}


def test_the_short_name_of_the_title_is_the_title() -> None:
    draft = drawn("Brother (Pearl Jam song)", "They wrote Brother in Seattle.")
    assert {(mention.key, mention.subject) for mention in draft.mentions} == {
        ("brother pearl jam song", True),
        ("seattle", False),
    }
    assert {relation.source for relation in draft.relations} == {"brother pearl jam song"}


def test_a_heading_is_no_subject() -> None:
    draft = drawn("Notes", "They use Amazon Kendra.", headings=("Services > Amazon Kendra",))
    assert subjects(draft) == {("note", 0)}


def test_a_title_that_is_a_sentence_names_nothing() -> None:
    assert drawn("why " * 40, "it turns.").entities == ()


def test_a_document_without_a_title_has_no_subject() -> None:
    assert subjects(drawn("", "They met Tim Burton there.")) == set()
