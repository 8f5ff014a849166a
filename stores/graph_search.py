"""Searching a knowledge graph: what an engine is asked for, in which order, and how its answers become findings. Only
the questions differ between engines; seeds, walk and scores are `stores.walking`'s."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from stores import bridging, walking
from stores.bridging import Bridge, Mention, SeedMention
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.walking import Bounds, Named, Neighbourhood, Support
from tributary.domain.retrieval import EntityFact, RelationFact
from tributary.text.entity_keys import phrase_keys

#: Passages of one entity that are looked at, those about it first: a hub's others say little.
MENTIONS = 40
#: Entities of the same name that one leads to.
NAMESAKES = 10


@dataclass(frozen=True, slots=True)
class Statement:
    """A passage that states a relation; `share` in (0, 1] is its part of the relation's weight."""

    relation_id: str
    chunk_id: UUID
    document_id: UUID
    share: float


class GraphSource(Protocol):
    """One knowledge base's graph inside an engine. Each method is one bounded question; none scores anything. Ids are
    the engine's own; those that are unknown, or of another knowledge base, have no answer."""

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        """The entities that these keys name, by name or alias."""
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

    async def mentions(self, entities: Sequence[str], *, limit: int) -> Sequence[Mention]:
        """At most `limit` passages of each entity: those about it first, then by chunk id."""
        ...

    async def statements(self, relations: Sequence[str]) -> Sequence[Statement]: ...

    async def entity_facts(self, entities: Sequence[str]) -> Mapping[str, EntityFact]: ...

    async def relation_facts(self, relations: Sequence[str]) -> Mapping[str, RelationFact]: ...


async def search_graph(
    source: GraphSource, *, query: str, seeds: Sequence[SeedPassage], hops: int, limit: int
) -> GraphFindings:
    """What `GraphReader.search` promises, of one knowledge base."""
    spans = await asyncio.to_thread(phrase_keys, query)
    named = await source.named(list(spans)) if spans else ()
    bridges = await _bridges(source, query, seeds)
    starts = walking.choose_seeds(spans, named, bridges)
    if not starts:
        return GraphFindings()
    hops = max(1, min(hops, walking.MAX_HOPS))
    near = await source.neighbourhood(starts, Bounds(hops=hops))
    entities, relations = await asyncio.to_thread(_walked, starts, near, hops)
    mentions = await source.mentions(list(starts | dict.fromkeys(bridges, 0.0)), limit=MENTIONS)
    statements = await source.statements(list(relations)) if relations else ()
    asked = walking.choose_seeds(spans, named, {})
    supports = _supports(asked, relations, bridging.led_to(bridges, mentions), mentions, statements)
    entity_facts = await source.entity_facts(list(entities)[:limit])
    relation_facts = await source.relation_facts(list(relations)[:limit]) if relations else {}
    return GraphFindings(
        entities=tuple(entity_facts[each] for each in entities if each in entity_facts),
        relations=tuple(relation_facts[each] for each in relations if each in relation_facts),
        passages=walking.passages(asked, supports, limit=limit),
        truncated=near.truncated,
    )


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


def _supports(
    seeds: Mapping[str, float],
    relations: Mapping[str, float],
    led: Mapping[UUID, float],
    mentions: Sequence[Mention],
    statements: Sequence[Statement],
) -> Iterator[Support]:
    """What speaks for each passage."""
    documents: dict[UUID, UUID] = {}
    mentioned: dict[UUID, float] = defaultdict(float)
    stated: dict[UUID, float] = defaultdict(float)
    for mention in mentions:
        documents[mention.chunk_id] = mention.document_id
        mentioned[mention.chunk_id] += seeds.get(mention.entity_id, 0.0)
    for statement in statements:
        documents[statement.chunk_id] = statement.document_id
        stated[statement.chunk_id] += relations[statement.relation_id] * statement.share
    for chunk_id, document_id in documents.items():
        yield Support(chunk_id, document_id, mentioned[chunk_id], stated[chunk_id], led.get(chunk_id, 0.0))
