"""Where a walk through a knowledge graph starts, and how its findings are weighed."""

from collections.abc import Iterator
from random import Random
from uuid import UUID

import pytest

from stores.bridging import Bridge
from stores.walking import (
    CHUNK_SEED,
    FAN_OUT,
    MAX_SEEDS,
    WALKED,
    Bounds,
    Named,
    Neighbourhood,
    Side,
    Step,
    Support,
    Way,
    choose_seeds,
    entity_scores,
    passages,
    relation_scores,
    step_share,
    walk,
)

A, B = (str(UUID(int=n)) for n in (1, 2))
DOCUMENTS = {A: A, B: B}


def test_a_name_inside_a_longer_one_that_was_found_is_no_seed() -> None:
    spans = {"new york times": (0, 14), "york": (4, 8)}
    seeds = choose_seeds(spans, [Named("york", "york", 1), Named("times", "new york times", 1)], {})
    assert seeds == {"times": 1.0}


def test_two_entities_of_one_name_are_both_seeds() -> None:
    spans = {"mercury": (0, 7)}
    seeds = choose_seeds(spans, [Named("planet", "mercury", 1), Named("metal", "mercury", 1)], {})
    assert set(seeds) == {"planet", "metal"}


def test_a_rare_name_says_more_than_a_common_one() -> None:
    spans = {"rare": (0, 4), "common": (5, 11)}
    seeds = choose_seeds(spans, [Named("common", "common", 500), Named("rare", "rare", 1)], {})
    assert seeds["rare"] == 1.0 > seeds["common"] > 0.0


def test_entities_of_seeding_passages_count_less_than_named_ones() -> None:
    seeds = choose_seeds({"named": (0, 5)}, [Named("named", "named", 1)], {"shown": Bridge(1, 1.0, {})})
    assert seeds == {"named": 1.0, "shown": CHUNK_SEED}


def test_the_number_of_seeds_is_bounded() -> None:
    assert len(choose_seeds({}, [], {f"entity{n}": Bridge(1, 1.0, {}) for n in range(100)})) == MAX_SEEDS


def test_nothing_found_is_no_seed() -> None:
    assert choose_seeds({}, [], {}) == {}


def test_a_step_out_of_a_hub_keeps_less() -> None:
    assert step_share(1.0, 1) > step_share(1.0, 50) > 0.0


def test_a_step_along_a_heavier_relation_keeps_more() -> None:
    assert step_share(1.0, 3) < step_share(5.0, 3) < 1.0


def test_an_entity_that_two_ways_lead_to_counts_more() -> None:
    scores = entity_scores({"a": 1.0}, [Step("r1", "b", 0.2), Step("r2", "c", 0.25), Step("r3", "b", 0.2)])
    assert list(scores) == ["a", "b", "c"]


def test_facts_that_are_noise_are_left_out() -> None:
    assert list(relation_scores([Step("r1", "b", 1.0), Step("r2", "c", 0.001)])) == ["r1"]


def test_a_passage_that_mentions_all_that_was_asked_counts_far_more_than_one_that_mentions_half() -> None:
    found = passages({"x": 1.0, "y": 1.0}, Support(DOCUMENTS, {A: 1.0, B: 2.0}), limit=5)
    assert [passage.evidence for passage in found] == [pytest.approx(0.5 * WALKED), pytest.approx(0.125 * WALKED)]


def test_evidence_of_a_walk_is_bounded() -> None:
    (passage,) = passages({"x": 1.0}, Support(DOCUMENTS, {A: 1.0}, {A: 40.0}), limit=5)
    assert passage.evidence == WALKED


def test_what_other_passages_lead_to_counts_more_than_what_was_walked() -> None:
    (passage,) = passages({"x": 1.0}, Support(DOCUMENTS, {A: 1.0}, {A: 40.0}, {A: 0.9}), limit=5)
    assert passage.evidence == 0.9


def test_passages_with_equal_evidence_come_by_id() -> None:
    found = passages({"x": 1.0}, Support(DOCUMENTS, {B: 1.0, A: 1.0}), limit=5)
    assert [str(passage.chunk_id) for passage in found] == [A, B]


def near(*edges: tuple[str, str], degrees: dict[str, int] | None = None) -> Neighbourhood:
    """Relations of weight 1; every entity can be left from."""
    counted = {entity: sum(entity in edge for edge in edges) for entity in {each for edge in edges for each in edge}}
    degrees = degrees or counted
    sides = {
        entity: [
            Side("-".join((source, target)), target if source == entity else source, 1.0)
            for source, target in edges
            if entity in (source, target)
        ]
        for entity in degrees
    }
    return Neighbourhood(sides, degrees)


def left(scores: dict[str, float], *edges: tuple[str, str], most_left: int = 60) -> tuple[list[list[str]], bool]:
    """The entities that a way leaves from, step by step, and whether it was cut."""
    whole, steps, way = near(*edges), [], Way(scores, Bounds(most_left=most_left))
    while ahead := way.ahead():
        steps.append(ahead)
        way.leave(
            {entity: whole.degrees.get(entity, 0) for entity in ahead},
            {entity: whole.sides.get(entity, [])[:FAN_OUT] for entity in ahead},
        )
    return steps, way.neighbourhood().cut


def test_a_way_leaves_from_its_seeds_and_then_from_the_best_that_it_reached() -> None:
    edges = ("a", "x"), ("b", "x"), ("b", "y"), ("x", "z")
    assert left({"a": 1.0, "b": 0.5}, *edges) == ([["a", "b"], ["x", "y"]], False)


def test_a_way_leaves_from_nothing_that_could_only_lend_noise() -> None:
    assert left({"a": 1.0, "b": 0.01}, ("a", "x"), ("b", "y")) == ([["a"], ["x"]], False)
    hub = [("hub", f"spoke{n}") for n in range(300)]
    assert left({"hub": 1.0}, *hub)[0] == [["hub"]]


def test_a_way_that_could_leave_from_more_entities_says_so() -> None:
    edges = ("a", "x"), ("a", "y"), ("a", "z")
    steps, cut = left({"a": 1.0}, *edges, most_left=3)
    assert (steps, cut) == ([["a"], ["x", "y"]], True)


def test_a_walk_follows_relations_in_both_directions() -> None:
    steps = walk({"b": 1.0}, near(("a", "b"), ("b", "c")), hops=1)
    assert {step.reached for step in steps} == {"a", "c"}


def test_a_walk_goes_no_further_than_its_hops() -> None:
    steps = walk({"a": 1.0}, near(("a", "b"), ("b", "c"), ("c", "d")), hops=2)
    assert [step.reached for step in steps] == ["b", "c"]


def test_a_walk_comes_to_no_entity_twice() -> None:
    steps = walk({"a": 1.0}, near(("a", "b"), ("b", "a"), ("a", "a")), hops=2)
    assert [step.relation_id for step in steps] == ["a-b", "b-a"]


def ways(entity: str, score: float, path: tuple[str, ...], whole: Neighbourhood, hops: int) -> Iterator[Step]:
    """The steps of each way, one by one."""
    for relation_id, neighbour, weight in whole.sides.get(entity, ()) if hops else ():
        if neighbour not in path:
            lent = score * step_share(weight, whole.degrees[entity])
            yield Step(relation_id, neighbour, lent)
            yield from ways(neighbour, lent, (*path, neighbour), whole, hops - 1)


@pytest.mark.parametrize("seed", range(20))
def test_a_walk_lends_what_all_its_ways_lend_together(seed: int) -> None:
    random = Random(seed)
    entities = [f"e{n}" for n in range(12)]
    drawn = ((random.choice(entities), random.choice(entities)) for _ in range(40))
    whole, starts = near(*dict.fromkeys(drawn)), {each: random.random() for each in entities[:3]}
    taken = [step for each, score in starts.items() for step in ways(each, score, (each,), whole, 2)]
    walked = list(walk(starts, whole, 2))
    assert relation_scores(walked) == pytest.approx(relation_scores(taken))
    assert entity_scores(starts, walked) == pytest.approx(entity_scores(starts, taken))


def test_a_walk_leaves_no_entity_whose_relations_were_not_asked_for() -> None:
    steps = walk({"a": 1.0}, near(("a", "b"), ("b", "c"), degrees={"a": 1}), hops=2)
    assert [step.reached for step in steps] == ["b"]


def test_a_walk_leaves_an_entity_by_a_bounded_number_of_relations() -> None:
    hub = near(*(("hub", f"spoke{n}") for n in range(FAN_OUT + 5)))
    assert len(list(walk({"hub": 1.0}, hub, hops=1))) == FAN_OUT
    assert hub.truncated
