"""Searching a knowledge graph: what an engine is asked for, in which order, and how its answers become findings. Only
the questions differ between engines; seeds, walk and scores are `stores.walking`'s."""

import asyncio
import unicodedata
from collections import defaultdict
from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple, Protocol, TypeVar

from stores import bridging, linking, misspelling, walking
from stores.bridging import Bridge, Mention, SeedMention
from stores.misspelling import Alike, Parts
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.walking import Bounds, Named, Neighbourhood, Support
from tributary.domain.retrieval import EntityFact, RelationFact
from tributary.text.entity_keys import phrase_keys
from tributary.threads import run

#: Passages of one entity that are looked at, those about it first: a hub's others say little.
MENTIONS = 40
#: Relations whose passages are looked at, the best first. Those behind them lend a passage next to nothing.
MOST_STATED = 80
#: Characters of a question, and of seeding passages, that are read in a thread: for a millisecond or two it is not
#: worth the way there, and the interpreter would let nothing else run meanwhile.
LONG, LONG_PASSAGES = 1000, 20_000
#: Entities of the same name that one leads to.
NAMESAKES = 10


class Walked(NamedTuple):
    """A relation that was walked, with its score and its weight."""

    relation_id: str
    score: float
    weight: float


class Stated(NamedTuple):
    """A passage that states relations: the sum of their scores, of each the part that the passage has in its weight."""

    chunk_id: str
    document_id: str
    score: float


@dataclass(frozen=True, slots=True)
class Facts:
    """Entities and relations by id. `carriers` are some of the passages behind one, of an engine that is not told at
    once what is deleted."""

    entities: Mapping[str, EntityFact]
    relations: Mapping[str, RelationFact]
    carriers: Mapping[str, Collection[str]] = field(default_factory=dict)

    def without(self, gone: frozenset[str]) -> "Facts":
        """Those that are still said when these passages are gone."""
        lost = {each for each, chunks in self.carriers.items() if gone.issuperset(chunks)}
        return Facts(
            {each: fact for each, fact in self.entities.items() if each not in lost},
            {each: fact for each, fact in self.relations.items() if each not in lost},
        )


class GraphSource(Protocol):
    """One knowledge base's graph inside an engine. Each method is one bounded question; none scores anything. Ids of
    entities and relations are the engine's own, those of passages are UUIDs as texts, since few of those that are read
    are given out; those that are unknown, or of another knowledge base, have no answer."""

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        """The entities that these keys name, by name or alias."""
        ...

    async def alike(self, parts: Parts, *, read: int, limit: int) -> Sequence[Alike]:
        """The entities whose key begins with one of the beginnings or ends with one of the endings and has a length
        between theirs; of the first `read` of each, in the order of keys (of keys read backwards), at most `limit`."""
        ...

    async def mentioned_by(self, chunk_ids: Sequence[str]) -> Sequence[SeedMention]:
        """All mentions in these passages."""
        ...

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        """Each of these entities with others that share a name or an alias with it, about `limit` of each."""
        ...

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        """The relations around the entities with these scores: of each entity that a walk leaves from the heaviest,
        ties by id, in both directions. It leaves from these first, then from what it reached, the best first: an
        entity's score is the sum of what the steps to it lent. `degrees` holds every entity that it leaves from; a
        relation of an entity to itself counts once."""
        ...

    async def mentions(self, entities: Sequence[str], about: Sequence[str], *, limit: int) -> Sequence[Mention]:
        """At most `limit` passages of each entity: those about it first, then by chunk id. Of those in `about` only
        the former."""
        ...

    async def stated(self, relations: Sequence[Walked], among: Sequence[str], *, limit: int) -> Sequence[Stated]:
        """What passages state of these relations: the `limit` with the highest scores, where those of 1 and more are
        equal, ties by chunk id; and those `among` that state any."""
        ...

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts: ...

    async def gone(self, chunk_ids: Collection[str], /) -> frozenset[str]:
        """Those of these passages that were deleted and that the engine may not know of."""
        ...


A = TypeVar("A")
B = TypeVar("B")


async def search_graph(
    source: GraphSource, *, query: str, seeds: Sequence[SeedPassage], hops: int, limit: int
) -> GraphFindings:
    """What `GraphReader.search` promises, of one knowledge base."""
    long = len(query) >= LONG
    spans = await run(_spans, query, aside=long)
    named, bridges = await _both(_named(source, query, spans), _bridges(source, query, seeds))
    starts = walking.choose_seeds(spans, named, bridges)
    if not starts:
        return GraphFindings()
    hops = max(1, min(hops, walking.MAX_HOPS))
    asked = walking.choose_seeds(spans, named, {})
    near, (mentions, led) = await _both(
        source.neighbourhood(starts, Bounds(hops=hops)), _mentions(source, asked, bridges, limit)
    )
    entities, relations = _walked(starts, near, hops)
    support, facts = await _both(
        _support(source, asked, _weighted(relations, near), mentions, led, limit),
        source.facts(list(entities)[:limit], list(relations)[: linking.READ * limit]),
    )
    passages = walking.passages(asked, support, limit=limit)
    shown = (str(each.chunk_id) for each in passages)
    gone = await source.gone({*shown, *chain.from_iterable(facts.carriers.values())})
    facts = facts.without(gone)
    linked = await run(linking.linked, query, relations, facts.relations, aside=long)
    return GraphFindings(
        entities=tuple(facts.entities[each] for each in entities if each in facts.entities),
        relations=tuple(facts.relations[each] for each in linked[:limit]),
        passages=tuple(each for each in passages if str(each.chunk_id) not in gone),
        truncated=near.truncated,
    )


@lru_cache(maxsize=64)
def _spans(query: str) -> Mapping[str, tuple[int, int]]:
    """The phrases of a question. A turn asks the same of several knowledge bases."""
    return phrase_keys(query)


async def _both(one: Awaitable[A], other: Awaitable[B]) -> tuple[A, B]:
    """What two questions find that need not wait for each other. Where one fails, the other has ended too."""
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second


async def _named(source: GraphSource, query: str, spans: Mapping[str, tuple[int, int]]) -> Sequence[Named]:
    """The entities that the question names; also with a wrong spelling, where what it writes is nobody's name."""
    if not spans:
        return ()
    named = await source.named(list(spans))
    text = unicodedata.normalize("NFKC", query)
    unknown = misspelling.unknown_phrases(text, spans, [each.key for each in named])
    if not unknown:
        return named
    alike = await source.alike(misspelling.parts_of(unknown), read=misspelling.READ, limit=misspelling.GIVEN)
    meant = [
        Named(each.entity_id, phrase, each.mentions, misspelling.SHARE)
        for phrase in unknown
        for each in alike
        if misspelling.is_misspelt(phrase, each.key)
    ]
    return [*named, *sorted(meant, key=lambda each: (each.key, each.entity_id))]


async def _bridges(source: GraphSource, query: str, seeds: Sequence[SeedPassage]) -> dict[str, Bridge]:
    mentions = await source.mentioned_by([str(seed.chunk_id) for seed in seeds]) if seeds else ()
    if not mentions:
        return {}
    long = len(query) >= LONG or sum(len(seed.text) for seed in seeds) >= LONG_PASSAGES
    bridges = await run(bridging.find_bridges, query, seeds, mentions, aside=long)
    return bridging.widen(bridges, await source.namesakes(list(bridges), limit=NAMESAKES))


def _walked(seeds: Mapping[str, float], near: Neighbourhood, hops: int) -> tuple[dict[str, float], dict[str, float]]:
    """The scores of entities and of relations, best first."""
    steps = list(walking.walk(seeds, near, hops))
    return walking.entity_scores(seeds, steps), walking.relation_scores(steps)


def _weighted(relations: Mapping[str, float], near: Neighbourhood) -> list[Walked]:
    """The best relations with their weights."""
    weights = {side.relation_id: side.weight for sides in near.sides.values() for side in sides}
    return [Walked(each, score, weights[each]) for each, score in islice(relations.items(), MOST_STATED)]


async def _support(
    source: GraphSource,
    asked: Mapping[str, float],
    relations: Sequence[Walked],
    mentions: Sequence[Mention],
    led: Mapping[str, float],
    limit: int,
) -> Support:
    """What speaks for each passage that something speaks for. The many that say nothing are not even read: those that
    only name a common entity too, and those that state little and mention nothing of the question."""
    mentioned: dict[str, float] = defaultdict(float)
    for entity_id, chunk_id, _, _ in mentions:
        if entity_id in asked:
            mentioned[chunk_id] += asked[entity_id]
    stated = await source.stated(relations, list(mentioned), limit=limit) if relations else ()
    documents = {chunk_id: document_id for _, chunk_id, document_id, _ in mentions}
    documents |= {chunk_id: document_id for chunk_id, document_id, _ in stated}
    return Support(documents, mentioned, {chunk_id: score for chunk_id, _, score in stated}, led)


async def _mentions(
    source: GraphSource, asked: Mapping[str, float], bridges: Mapping[str, Bridge], limit: int
) -> tuple[Sequence[Mention], Mapping[str, float]]:
    """The passages that mention what is asked, those about bridges, and those that only name a bridge too: of the
    bridges that say most by a name, and of the others only where these don't fill the `limit`. With what the bridges
    say for each passage."""
    leading = {each: bridge for each, bridge in bridges.items() if bridge.leads}
    naming = {each: most for each, bridge in leading.items() if (most := bridging.most_by_name(bridge)) > 0.0}
    ordered = sorted(naming.keys() - asked.keys(), key=lambda each: (-naming[each], each))
    first, others = ordered[: 2 * limit], ordered[2 * limit :]
    whole = [*asked, *first]
    found = await source.mentions(whole, sorted(leading.keys() - {*whole}), limit=MENTIONS)
    led = bridging.led_to(leading, found)
    if others and sum(said > naming[others[0]] for said in led.values()) < limit:
        further = await source.mentions(others, (), limit=MENTIONS)
        for chunk_id, said in bridging.led_to(leading, further).items():
            led[chunk_id] = max(said, led.get(chunk_id, 0.0))
        found = [*found, *further]
    return found, led
