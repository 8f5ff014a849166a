"""Where passages that another search found lead."""

from uuid import UUID

import pytest

from stores.bridging import (
    MAX_BRIDGES,
    NAMED_TOO,
    RARE,
    Bridge,
    Mention,
    SeedMention,
    find_bridges,
    led_to,
    most_by_name,
    widen,
)
from stores.protocols.graph import SeedPassage

A, B, C = (str(UUID(int=n)) for n in (1, 2, 3))
TEXT = "The film was directed by Burton. A critic called Ebert liked the music."


def names(entity: str, start: int = 25, *, chunk: str = A, mentions: int = 1, subject: bool = False) -> SeedMention:
    return SeedMention(chunk, entity, mentions, start, subject)


def test_the_words_of_the_question_around_a_name_make_it_lead_on() -> None:
    bridges = find_bridges(
        "who directed the film?", [SeedPassage(UUID(A), 1.0, TEXT)], [names("burton"), names("ebert", 49)]
    )
    assert bridges["burton"].leads == {A: 1.0}
    assert "ebert" not in bridges


def test_what_stands_above_a_passage_counts_as_said_in_each_of_its_sentences() -> None:
    seed = SeedPassage(UUID(A), 1.0, TEXT, above="The film that they directed")
    assert find_bridges("who directed the film?", [seed], [names("ebert", 49)])["ebert"].leads == {A: 1.0}


def test_offsets_are_those_of_the_document() -> None:
    seed = SeedPassage(UUID(A), 1.0, TEXT, start=500)
    assert find_bridges("who directed the film?", [seed], [names("burton", 525)])["burton"].strength == 1.0


def test_a_passage_without_a_text_leads_on_by_all_its_names() -> None:
    assert find_bridges("anything", [SeedPassage(UUID(A), 0.4)], [names("burton")])["burton"].leads == {A: 0.4}


def test_half_of_the_question_leads_on_by_more_than_half() -> None:
    bridges = find_bridges("directed film of Norway in winter", [SeedPassage(UUID(A), 1.0, TEXT)], [names("burton")])
    assert 0.5 < bridges["burton"].strength < 1.0


def test_what_a_passage_is_about_does_not_lead_on_from_it() -> None:
    mentions = [names("burton", subject=True), names("burton", 49)]
    [bridge] = find_bridges("who directed the film?", [SeedPassage(UUID(A), 1.0, TEXT)], mentions).values()
    assert bridge.leads == {}
    assert bridge.strength > 0.0


def test_the_number_of_entities_that_lead_on_is_bounded() -> None:
    mentions = [names(f"entity{n}") for n in range(2 * MAX_BRIDGES)]
    assert len(find_bridges("anything", [SeedPassage(UUID(A), 1.0)], mentions)) == MAX_BRIDGES


@pytest.mark.parametrize(
    ("mentions", "subject", "expected"),
    [(1, True, 1.0), (10 * RARE, True, 1.0), (1, False, NAMED_TOO), (RARE + 1, False, None)],
)
def test_a_passage_about_what_is_named_counts_most(mentions: int, subject: bool, expected: float | None) -> None:
    found = led_to({"e": Bridge(mentions, 1.0, {A: 1.0})}, [Mention("e", B, B, subject)])
    assert found.get(B) == expected


def test_a_passage_does_not_support_itself() -> None:
    bridge = Bridge(1, 1.0, {A: 1.0, B: 0.25})
    found = led_to({"e": bridge}, [Mention("e", A, A, True), Mention("e", B, B, True)])
    assert found[A] == pytest.approx(0.25 * found[B])


def test_the_strongest_way_to_a_passage_counts() -> None:
    bridges = {"weak": Bridge(1, 0.2, {A: 0.2}), "strong": Bridge(1, 0.9, {B: 0.9})}
    assert led_to(bridges, [Mention("weak", C, C, True), Mention("strong", C, C, True)]) == {C: 0.9}


def test_a_namesake_is_led_to_as_well() -> None:
    weak, strong = Bridge(1, 0.2, {A: 0.2}), Bridge(1, 0.9, {B: 0.9})
    widened = widen({"a": weak, "b": strong}, [("a", "x"), ("b", "x"), ("a", "b")])
    assert widened == {"a": weak, "b": strong, "x": strong}


def test_where_many_passages_are_about_what_is_named_each_is_meant_less() -> None:
    bridges = {"e": Bridge(1, 1.0, {A: 1.0})}
    several = led_to(bridges, [Mention("e", str(UUID(int=n)), B, True) for n in range(2, 12)])
    assert all(0.2 < evidence < 0.5 for evidence in several.values())


def test_a_list_of_names_leads_on_by_each_of_them_less() -> None:
    text = "They like " + ", ".join(f"Thing{n}" for n in range(12))
    listed = [names(f"thing{n}", text.index(f"Thing{n}")) for n in range(12)]
    bridges = find_bridges("who may like Thing3?", [SeedPassage(UUID(A), 1.0, text)], listed)
    alone = find_bridges("who may like Thing3?", [SeedPassage(UUID(A), 1.0, text)], listed[:1])
    assert bridges["thing0"].strength == pytest.approx(0.5 * alone["thing0"].strength)


@pytest.mark.parametrize("mentions", [1, 7, RARE, RARE + 1])
def test_what_a_name_says_at_most_is_what_it_says_for_a_passage_that_is_no_seed(mentions: int) -> None:
    bridge = Bridge(mentions, 1.0, {A: 0.4, B: 0.9})
    assert led_to({"e": bridge}, [Mention("e", C, C, False)]).get(C, 0.0) == pytest.approx(most_by_name(bridge))


def test_a_question_of_words_that_have_no_stem_is_found_as_said() -> None:
    seed = SeedPassage(UUID(A), 1.0, "Burton counted 4711 of them. Ebert counted 42.")
    bridges = find_bridges("4711?", [seed], [names("burton", 0), names("ebert", 29)])
    assert {entity: bridge.strength for entity, bridge in bridges.items()} == {"burton": 1.0}


def test_an_entity_that_is_named_twice_leads_on_by_the_sentence_that_says_more() -> None:
    mentions = [names("burton", 49), names("burton"), names("burton", 49)]
    [bridge] = find_bridges("who directed the film?", [SeedPassage(UUID(A), 1.0, TEXT)], mentions).values()
    assert bridge.leads == {A: 1.0}
