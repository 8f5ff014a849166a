"""What the local extraction makes of a document."""

from nodes.ingest.extracting import extract
from stores.protocols.graph import GraphDraft
from tributary.domain.knowledge import ChunkDraft, ParsedDocument


def drawn(*texts: str) -> GraphDraft:
    """The graph of a document with a chunk for each text."""
    chunks, start = [], 0
    for ordinal, text in enumerate(texts):
        chunks.append(ChunkDraft(ordinal, text, start, start + len(text)))
        start += len(text) + 2
    return extract(ParsedDocument("\n\n".join(texts)), chunks)


def triples(draft: GraphDraft) -> list[tuple[str, str, str]]:
    return [(relation.source, relation.relation, relation.target) for relation in draft.relations]


def test_the_words_between_two_names_name_their_relation() -> None:
    assert triples(drawn("Then Microsoft acquired the Activision Company.")) == [
        ("microsoft", "acquired", "activision company")
    ]


def test_names_that_merely_stand_together_are_related() -> None:
    assert triples(drawn("They saw Paris and London.")) == [("paris", "related to", "london")]


def test_names_of_different_sentences_are_not_related() -> None:
    assert triples(drawn("They saw Paris. Then came London.")) == []


def test_a_long_list_of_names_relates_nothing() -> None:
    assert triples(drawn("They saw Rome, Paris, London, Berlin, Madrid, Lima, Oslo, and Quito.")) == []


def test_neighbours_weigh_more_than_names_further_apart() -> None:
    draft = drawn("They saw Rome, Paris, London.")
    weights = {(relation.source, relation.target): relation.weight for relation in draft.relations}
    assert weights == {("rome", "paris"): 1.0, ("paris", "london"): 1.0, ("rome", "london"): 0.5}


def test_a_relation_is_described_by_its_sentence() -> None:
    (relation,) = drawn("They  saw Paris   and London.").relations
    assert relation.description == "They saw Paris and London."


def test_mentions_know_their_chunk() -> None:
    draft = drawn("They saw Paris.", "They saw London.")
    assert [(mention.key, mention.chunk) for mention in draft.mentions] == [("paris", 0), ("london", 1)]


def test_an_acronym_that_the_text_explains_is_the_same_entity() -> None:
    draft = drawn("They asked the World Health Organization (WHO). Then the WHO answered.")
    (entity,) = draft.entities
    assert (entity.name, entity.aliases, len(draft.mentions)) == ("World Health Organization", ("who",), 3)


def test_brackets_that_hold_another_name_are_no_alias() -> None:
    draft = drawn("They asked the World Health Organization (USA) there.")
    assert all(entity.aliases == () for entity in draft.entities)


def test_a_surname_is_the_person_whom_the_text_names_in_full() -> None:
    draft = drawn("They met Leo Tolstoy. Then they liked Tolstoy.")
    assert {mention.key for mention in draft.mentions} == {"leo tolstoy"}


def test_a_surname_of_two_people_stays_apart() -> None:
    draft = drawn("They met Barack Obama and Michelle Obama. Then they liked Obama.")
    assert {mention.key for mention in draft.mentions} == {"barack obama", "michelle obama", "obama"}


def test_an_entity_is_described_where_a_sentence_says_what_it_is() -> None:
    draft = drawn("They use Amazon Kendra. Amazon Kendra is a search service.")
    (entity,) = draft.entities
    assert entity.description == "Amazon Kendra is a search service."


def test_entities_are_limited_to_those_mentioned_most() -> None:
    many = " ".join(f"They saw Town{chr(65 + n // 26)}{chr(97 + n % 26)} there." for n in range(200))
    draft = drawn(many + " They saw Rome twice. They saw Rome again.")
    assert len(draft.entities) == 30
    assert "rome" in {entity.key for entity in draft.entities}


def test_a_document_without_names_says_nothing() -> None:
    assert drawn("nothing here.") == GraphDraft()
    assert extract(ParsedDocument(""), []) == GraphDraft()
