"""Reading what a chat model says of passages, and the graph that is made of it."""

import json
from typing import Any

import pytest

from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft
from tributary.domain.knowledge import ChunkDraft
from tributary.ingestion.model_facts import NamedEntity, PassageFacts, StatedRelation, draw, read_answer


def answer(*passages: dict[str, Any]) -> str:
    return json.dumps({"passages": list(passages)})


def entity(name: str, *aliases: str, description: str = "") -> NamedEntity:
    return NamedEntity(name=name, type="person", description=description, aliases=list(aliases))


def drawn(text: str, *entities: NamedEntity, relations: tuple[StatedRelation, ...] = ()) -> GraphDraft:
    """The graph of one chunk that stands 10 characters into its document."""
    chunk = ChunkDraft(0, text, 10, 10 + len(text))
    return draw([chunk], {0: PassageFacts(entities=list(entities), relations=list(relations))}, GraphDraft())


BURTON = {"name": "Tim Burton", "type": "person"}


def test_an_answer_is_read_by_passage() -> None:
    facts = read_answer(answer({"number": 2, "entities": [BURTON], "relations": []}), 2, cut=False)
    assert facts == {2: PassageFacts(entities=[NamedEntity(name="Tim Burton", type="person")])}


@pytest.mark.parametrize("wrapped", ["```json\n{}\n```", "Here it is:\n{}", "Sure!\n```json\n{}\n```\nAnything else?"])
def test_what_stands_around_the_json_is_no_hindrance(wrapped: str) -> None:
    text = wrapped.replace("{}", answer({"number": 1, "entities": [BURTON]}))
    assert read_answer(text, 1, cut=False)[1].entities[0].name == "Tim Burton"


@pytest.mark.parametrize(
    "nonsense", ["", "I can't do that.", "[]", "{}", '{"passages": 3}', '{"passages": [1, null]}', "{" * 50, "null"]
)
def test_nonsense_says_nothing(nonsense: str) -> None:
    assert read_answer(nonsense, 3, cut=False) == {}


def test_numbers_of_no_passage_are_left_out() -> None:
    given = answer({"number": 0}, {"number": 4}, {"number": "1"}, {"number": 1})
    assert set(read_answer(given, 3, cut=False)) == {1}


def test_entities_of_another_form_are_left_out() -> None:
    given = answer({"number": 1, "entities": [BURTON, {"label": "x"}, "y", {"name": 3}], "relations": "none"})
    assert [each.name for each in read_answer(given, 1, cut=False)[1].entities] == ["Tim Burton"]


def test_the_last_passage_of_an_answer_that_was_cut_is_not_taken() -> None:
    given = answer({"number": 1, "entities": [BURTON]}, {"number": 2, "entities": [BURTON]})
    assert set(read_answer(given[:-30], 2, cut=True)) == {1}


def test_an_entity_is_mentioned_wherever_the_passage_names_it() -> None:
    draft = drawn("Tim Burton met tim  burton.", entity("Tim Burton"))
    assert [(mention.start, mention.end) for mention in draft.mentions] == [(10, 20), (25, 36)]


def test_an_entity_that_the_passage_does_not_name_is_left_out() -> None:
    assert drawn("Nobody was there.", entity("Tim Burton")) == GraphDraft()


def test_a_part_of_a_word_is_no_mention() -> None:
    assert drawn("They repainted it.", entity("paint")) == GraphDraft()


def test_names_of_scripts_without_spaces_are_found_within_a_sentence() -> None:
    assert len(drawn("请问北京大学在哪里", entity("北京大学")).mentions) == 1


def test_an_alias_counts_as_its_entity() -> None:
    draft = drawn("IBM grew.", entity("International Business Machines", "IBM"))
    assert [each.aliases for each in draft.entities] == [("ibm",)]
    assert [mention.key for mention in draft.mentions] == ["international business machine"]


def test_what_one_passage_calls_by_its_alias_is_the_entity_of_the_other() -> None:
    chunks = [ChunkDraft(0, "IBM grew.", 0, 9), ChunkDraft(1, "International Business Machines, or IBM.", 11, 51)]
    facts = {
        0: PassageFacts(entities=[entity("IBM")]),
        1: PassageFacts(entities=[entity("International Business Machines", "IBM")]),
    }
    draft = draw(chunks, facts, GraphDraft())
    assert [each.name for each in draft.entities] == ["International Business Machines"]
    assert {mention.chunk for mention in draft.mentions} == {0, 1}


def test_a_relation_needs_both_of_its_entities_in_the_passage() -> None:
    stated = StatedRelation(source="Tim Burton", relation="DIRECTED", target="Big Eyes", description="He made it.")
    unknown = StatedRelation(source="Tim Burton", relation="knows", target="Nobody")
    draft = drawn("Tim Burton: Big Eyes", entity("Tim Burton"), entity("Big Eyes"), relations=(stated, unknown))
    [relation] = draft.relations
    assert (relation.source, relation.relation, relation.target) == ("tim burton", "directed", "big eye")
    assert relation.description == "He made it."


def test_what_can_not_be_stored_is_taken_out_of_names_and_descriptions() -> None:
    [found] = drawn("Tim Burton", entity("Tim Burton", description="a\0b\n\nc \ud800")).entities
    assert found.description == "ab c ?"


def test_chunks_without_facts_keep_what_the_local_extractor_found() -> None:
    chunks = [ChunkDraft(0, "Tim Burton", 0, 10), ChunkDraft(1, "Rome", 12, 16), ChunkDraft(2, "Oslo", 18, 22)]
    local = GraphDraft(
        entities=(EntityDraft("rome", "Rome", "name"), EntityDraft("oslo", "Oslo", "name")),
        mentions=(MentionDraft("rome", 1, 12, 16), MentionDraft("oslo", 2, 18, 22)),
    )
    facts = {0: PassageFacts(entities=[entity("Tim Burton")]), 2: PassageFacts()}
    draft = draw(chunks, facts, local)
    assert [each.key for each in draft.entities] == ["tim burton", "rome"]
    assert [(each.key, each.chunk) for each in draft.mentions] == [("tim burton", 0), ("rome", 1)]
