"""What a walk through a knowledge graph starts from, how far it goes, and how its findings are weighed; shared by
all graph stores, so that they answer alike."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import NamedTuple
from uuid import UUID

from stores.bridging import Bridge
from stores.protocols.graph import Passage

#: Relations followed from one entity in one step, the heaviest first.
FAN_OUT = 20
#: Entities that a walk starts from.
MAX_SEEDS = 20
MAX_HOPS = 2
#: Longer labels of relations are sentences; they are cut, being part of an index.
MAX_RELATION_LENGTH = 100
#: What one step costs an entity's score, before the weight of the relation and the size of a hub.
STEP = 0.5
#: What an entity of a seeding passage counts beside one that the question names.
CHUNK_SEED = 0.5
#: What a passage counts that mentions or states what was walked, beside one that another passage leads to.
WALKED = 0.25
#: Facts below this share of the best are noise.
_FLOOR = 0.02
#: Entities that a walk leaves from, the best first.
MOST_LEFT = 40


@dataclass(frozen=True, slots=True)
class Named:
    """An entity that a key of the question names. `mentions` says how common it is in the knowledge base, `share` in
    (0, 1] how surely it is meant."""

    entity_id: str
    key: str
    mentions: int
    share: float = 1.0


class Side(NamedTuple):
    """A relation as seen from one of its ends, whichever it goes out from. `weight` is summed over its sources."""

    relation_id: str
    neighbour: str
    weight: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a neighbourhood reaches: `hops` steps; from each entity its `fan_out` heaviest relations; from at most
    `most_left` entities, and from none whose score is below `least`: what a step from there lends is noise."""

    hops: int = MAX_HOPS
    fan_out: int = FAN_OUT
    least: float = _FLOOR / STEP
    most_left: int = MOST_LEFT


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The part of a graph that a walk may see: of each entity that it can leave from the heaviest relations, heaviest
    first and ties by id (`sides`), and the number of relations that it has in all (`degrees`). `cut`: it could have
    left from more entities."""

    sides: Mapping[str, Sequence[Side]]
    degrees: Mapping[str, int]
    cut: bool = False

    @property
    def truncated(self) -> bool:
        """Whether a bound kept relations out."""
        return self.cut or any(degree > FAN_OUT for degree in self.degrees.values())


class Step(NamedTuple):
    """A relation that a walk took: it lends `score` to the entity that it reached."""

    relation_id: str
    reached: str
    score: float


@dataclass(frozen=True, slots=True)
class Support:
    """What speaks for passages, each by its id: the scores of the seeds it mentions, and of the walked relations it
    states; and how strongly seeding passages lead to it, in [0, 1]. `documents` are those of all of them."""

    documents: Mapping[str, str]
    mentioned: Mapping[str, float] = field(default_factory=dict)
    stated: Mapping[str, float] = field(default_factory=dict)
    led: Mapping[str, float] = field(default_factory=dict)


def choose_seeds(
    spans: Mapping[str, tuple[int, int]], named: Iterable[Named], seeding: Mapping[str, Bridge]
) -> dict[str, float]:
    """Where to start, with scores in (0, 1], the best 1. A name inside a longer one that was found is not meant;
    rare names say more than common ones. `seeding` are the entities of seeding passages."""
    scores: dict[str, float] = {}
    covered: list[tuple[int, int]] = []
    for each in sorted(named, key=lambda each: spans[each.key][0] - spans[each.key][1]):
        span = spans[each.key]
        if any(first <= span[0] and span[1] <= behind and (first, behind) != span for first, behind in covered):
            continue
        covered.append(span)
        scores[each.entity_id] = max(scores.get(each.entity_id, 0.0), each.share * _specificity(each.mentions))
    for entity_id, bridge in seeding.items():
        score = CHUNK_SEED * bridge.strength * _specificity(bridge.mentions)
        scores[entity_id] = max(scores.get(entity_id, 0.0), score)
    best = max(scores.values(), default=1.0)
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:MAX_SEEDS]
    return {entity_id: score / best for entity_id, score in ordered}


def step_share(weight: float, degree: int) -> float:
    """What a step along a relation of this weight keeps, out of an entity with `degree` relations. The first
    relations of an entity are all close to it; those of a hub have little to do with each other."""
    return weight / (weight + 1.0) * leaving_share(degree)


def leaving_share(degree: int) -> float:
    """What the heaviest of steps keeps, out of an entity with `degree` relations."""
    return STEP / (1.0 + math.log(max(1, degree)))


class Way:
    """Finds out, step by step, which entities a walk leaves from, for engines that are asked once a step."""

    def __init__(self, scores: Mapping[str, float], bounds: Bounds) -> None:
        self._bounds = bounds
        self._steps = 0
        self._scores = dict(scores)
        self._degrees: dict[str, int] = {}
        self._sides: dict[str, Sequence[Side]] = {}
        self._cut = False

    def ahead(self) -> list[str]:
        """The entities to leave from next, the best first, ties by id; none at the end."""
        if self._steps == self._bounds.hops:
            return []
        self._steps += 1
        new = {entity: score for entity, score in self._scores.items() if entity not in self._degrees}
        worth = sorted((each for each in new if new[each] >= self._bounds.least), key=lambda each: (-new[each], each))
        room = self._bounds.most_left - len(self._degrees)
        self._cut = self._cut or len(worth) > room
        return worth[:room]

    def leave(self, degrees: Mapping[str, int], sides: Mapping[str, Sequence[Side]]) -> None:
        """Takes in the heaviest relations of these entities, which have so many in all."""
        self._degrees |= degrees
        self._sides |= sides
        lent: dict[str, float] = defaultdict(float)
        for entity, ways in sides.items():
            leaving = self._scores[entity] * leaving_share(degrees[entity])
            for _, neighbour, weight in ways:
                lent[neighbour] += leaving * weight / (weight + 1.0)
        self._scores = lent

    def neighbourhood(self) -> Neighbourhood:
        return Neighbourhood(self._sides, self._degrees, self._cut)


def walk(seeds: Mapping[str, float], near: Neighbourhood, hops: int) -> Iterator[Step]:
    """The steps of all ways of up to `hops` relations (at most `MAX_HOPS`) that start at a seed and come to no entity
    twice. A way leaves an entity by the heaviest of its relations, in either direction. Ways that share their last
    step are one, with the sum of what they lend."""
    # What ways brought to an entity, by the entity that they came from: two steps don't turn back, and so come to no
    # entity twice. That ways are summed and not told apart keeps the work in the size of what is seen.
    brought: dict[str, dict[str, float]] = {seed: {seed: score} for seed, score in seeds.items()}
    for _ in range(hops):
        further: dict[str, dict[str, float]] = {}
        for entity, ways in brought.items():
            sides = near.sides.get(entity, ())[:FAN_OUT]
            whole, share = sum(ways.values()), leaving_share(near.degrees.get(entity, 1))
            for relation_id, neighbour, weight in sides:
                score = (whole - ways.get(neighbour, 0.0)) * share * weight / (weight + 1.0)
                if neighbour != entity and score > 0.0:
                    yield Step(relation_id, neighbour, score)
                    lent = further.setdefault(neighbour, {})
                    lent[entity] = lent.get(entity, 0.0) + score
        brought = further


def entity_scores(seeds: Mapping[str, float], steps: Iterable[Step]) -> dict[str, float]:
    """The score of each entity reached, best first: entities that several ways lead to are meant most."""
    scores = dict(seeds)
    for _, reached, score in steps:
        scores[reached] = scores.get(reached, 0.0) + score
    return _best_first(scores)


def relation_scores(steps: Iterable[Step]) -> dict[str, float]:
    """The score of each relation walked, best first."""
    scores: dict[str, float] = {}
    for relation_id, _, score in steps:
        scores[relation_id] = scores.get(relation_id, 0.0) + score
    return _best_first(scores)


def passages(seeds: Mapping[str, float], support: Support, *, limit: int) -> tuple[Passage, ...]:
    """Passages with their evidence, best first, ties by id: what seeding passages lead to; and, counting less, how
    much of what the question names (`seeds`) a passage mentions (all of it counts far more than some), and what it
    states about what was walked."""
    whole = sum(seeds.values()) or 1.0
    evidence = dict(support.led)
    for chunk_id in support.mentioned.keys() | support.stated.keys():
        mentioned, stated = support.mentioned.get(chunk_id, 0.0), support.stated.get(chunk_id, 0.0)
        walked = WALKED * (0.5 * min(1.0, mentioned / whole) ** 2 + 0.5 * min(1.0, stated))
        evidence[chunk_id] = max(walked, evidence.get(chunk_id, 0.0))
    best = nsmallest(limit, ((-value, chunk_id) for chunk_id, value in evidence.items()))
    return tuple(Passage(UUID(chunk_id), UUID(support.documents[chunk_id]), -value) for value, chunk_id in best)


def _specificity(mentions: int) -> float:
    return 1.0 / (1.0 + math.log(max(1, mentions)))


def _best_first(scores: Mapping[str, float]) -> dict[str, float]:
    floor = _FLOOR * max(scores.values(), default=0.0)
    kept = [item for item in scores.items() if item[1] >= floor]
    return dict(sorted(kept, key=lambda item: (-item[1], item[0])))
