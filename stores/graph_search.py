"""Searching a knowledge graph: what an engine is asked for, in which order, and how its answers become findings. Only
the questions differ between engines; seeds, walk and scores are `stores.walking`'s."""

import asyncio
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol
from uuid import UUID

from stores import bridging, linking, misspelling, walking
from stores.bridging import Bridge, Mention, SeedMention
from stores.misspelling import Alike, Parts
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.walking import Bounds, Named, Neighbourhood, Support
from tributary.domain.retrieval import EntityFact, RelationFact
from tributary.text.entity_keys import phrase_keys

#: Passages of one entity that are looked at, those about it first: a hub's others say little.
MENTIONS = 40
#: Relations whose passages are looked at, the best first. Those behind them lend a passage next to nothing.
MOST_STATED = 200
#: Characters of a question that is taken apart in a thread: a short one takes less than the way there.
LONG = 1000
#: Entities of the same name that one leads to.
NAMESAKES = 10


class Walked(NamedTuple):
    """A relation that was walked, with its score and its weight."""

    relation_id: str
    score: float
    weight: float


class Stated(NamedTuple):
    """A passage that states relations: the sum of their scores, of each the part that the passage has in its weight."""

    chunk_id: UUID
    document_id: UUID
    score: float


@dataclass(frozen=True, slots=True)
class Facts:
    """Entities and relations by id, those that are still said."""

    entities: Mapping[str, EntityFact]
    relations: Mapping[str, RelationFact]


class GraphSource(Protocol):
    """One knowledge base's graph inside an engine. Each method is one bounded question; none scores anything. Ids are
    the engine's own; those that are unknown, or of another knowledge base, have no answer."""

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        """The entities that these keys name, by name or alias."""
        ...

    async def alike(self, parts: Parts, *, read: int, limit: int) -> Sequence[Alike]:
        """The entities whose key begins with one of the beginnings or ends with one of the endings and has a length
        between theirs; of the first `read` of each, in the order of keys (of keys read backwards), at most `limit`."""
        ...

    async def mentioned_by(self, chunk_ids: Sequence[UUID]) -> Sequence[SeedMention]:
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

    async def stated(self, relations: Sequence[Walked], among: Sequence[UUID], *, limit: int) -> Sequence[Stated]:
        """What passages state of these relations: the `limit` with the highest scores, where those of 1 and more are
        equal, ties by chunk id; and those `among` that state any."""
        ...

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts: ...


async def search_graph(
    source: GraphSource, *, query: str, seeds: Sequence[SeedPassage], hops: int, limit: int
) -> GraphFindings:
    """What `GraphReader.search` promises, of one knowledge base."""
    spans = phrase_keys(query) if len(query) < LONG else await asyncio.to_thread(phrase_keys, query)
    named = await _named(source, query, spans) if spans else ()
    bridges = await _bridges(source, query, seeds)
    starts = walking.choose_seeds(spans, named, bridges)
    if not starts:
        return GraphFindings()
    hops = max(1, min(hops, walking.MAX_HOPS))
    near = await source.neighbourhood(starts, Bounds(hops=hops))
    entities, relations = await asyncio.to_thread(_walked, starts, near, hops)
    asked = walking.choose_seeds(spans, named, {})
    supports = await _supports(source, asked, _weighted(relations, near), bridges, limit)
    facts = await source.facts(list(entities)[:limit], list(relations)[: linking.READ * limit])
    linked = await asyncio.to_thread(linking.linked, query, relations, facts.relations)
    return GraphFindings(
        entities=tuple(facts.entities[each] for each in entities if each in facts.entities),
        relations=tuple(facts.relations[each] for each in linked[:limit]),
        passages=walking.passages(asked, supports, limit=limit),
        truncated=near.truncated,
    )


async def _named(source: GraphSource, query: str, spans: Mapping[str, tuple[int, int]]) -> Sequence[Named]:
    """The entities that the question names; also with a wrong spelling, where what it writes is nobody's name."""
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
    mentions = await source.mentioned_by([seed.chunk_id for seed in seeds]) if seeds else ()
    if not mentions:
        return {}
    bridges = await asyncio.to_thread(bridging.find_bridges, query, seeds, mentions)
    return bridging.widen(bridges, await source.namesakes(list(bridges), limit=NAMESAKES))


def _walked(seeds: Mapping[str, float], near: Neighbourhood, hops: int) -> tuple[dict[str, float], dict[str, float]]:
    """The scores of entities and of relations, best first."""
    steps = list(walking.walk(seeds, near, hops))
    return walking.entity_scores(seeds, steps), walking.relation_scores(steps)


def _weighted(relations: Mapping[str, float], near: Neighbourhood) -> list[Walked]:
    """The best relations with their weights."""
    weights = {side.relation_id: side.weight for sides in near.sides.values() for side in sides}
    return [Walked(each, score, weights[each]) for each, score in islice(relations.items(), MOST_STATED)]


async def _supports(
    source: GraphSource,
    asked: Mapping[str, float],
    relations: Sequence[Walked],
    bridges: Mapping[str, Bridge],
    limit: int,
) -> list[Support]:
    """What speaks for each passage that something speaks for. The many that say nothing are not even read: those that
    only name a common entity too, and those that state little and mention nothing of the question."""
    mentions = await _mentions(source, asked, bridges, limit)
    mentioned: dict[UUID, float] = defaultdict(float)
    for mention in mentions:
        if mention.entity_id in asked:
            mentioned[mention.chunk_id] += asked[mention.entity_id]
    stated = await source.stated(relations, list(mentioned), limit=limit) if relations else ()
    said = {each.chunk_id: each.score for each in stated}
    led = bridging.led_to(bridges, mentions)
    documents = {each.chunk_id: each.document_id for each in mentions}
    documents |= {each.chunk_id: each.document_id for each in stated}
    return [
        Support(chunk, documents[chunk], mentioned.get(chunk, 0.0), said.get(chunk, 0.0), led.get(chunk, 0.0))
        for chunk in mentioned.keys() | said.keys() | led.keys()
    ]


async def _mentions(
    source: GraphSource, asked: Mapping[str, float], bridges: Mapping[str, Bridge], limit: int
) -> list[Mention]:
    """The passages that mention what is asked, those about bridges, and those that only name a bridge too: of the
    bridges that say most by a name, and of the others only where these don't fill the `limit`."""
    leading = {each: bridge for each, bridge in bridges.items() if bridge.leads}
    naming = {each: most for each, bridge in leading.items() if (most := bridging.most_by_name(bridge)) > 0.0}
    ordered = sorted(naming.keys() - asked.keys(), key=lambda each: (-naming[each], each))
    first, others = ordered[: 2 * limit], ordered[2 * limit :]
    whole = [*asked, *first]
    found = list(await source.mentions(whole, sorted(leading.keys() - {*whole}), limit=MENTIONS))
    if others:
        better = sum(said > naming[others[0]] for said in bridging.led_to(leading, found).values())
        if better < limit:
            found += await source.mentions(others, (), limit=MENTIONS)
    return list(dict.fromkeys(found))
