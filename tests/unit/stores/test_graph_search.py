"""What a search of the knowledge graph asks an engine for."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

import pytest

from stores.bridging import RARE, Mention, SeedMention
from stores.graph_search import Facts, Stated, Walked, search_graph
from stores.misspelling import Alike, Parts
from stores.protocols.graph import SeedPassage
from stores.walking import Bounds, Named, Neighbourhood
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.retrieval import EntityFact

SEED = UUID(int=1)


class Passages:
    """A graph without relations: each entity is named in the seed, and in `others` passages of its own."""

    def __init__(self, entities: Mapping[str, int], others: int = 1) -> None:
        self._entities = entities
        self._others = others
        self.asked: list[tuple[str, ...]] = []

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        return []

    async def alike(self, parts: Parts, *, read: int, limit: int) -> Sequence[Alike]:
        return []

    async def mentioned_by(self, chunk_ids: Sequence[str]) -> Sequence[SeedMention]:
        return [SeedMention(str(SEED), entity, mentions, 0, False) for entity, mentions in self._entities.items()]

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        return []

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        return Neighbourhood({}, dict.fromkeys(scores, 0))

    async def mentions(self, entities: Sequence[str], about: Sequence[str], *, limit: int) -> Sequence[Mention]:
        self.asked.append(tuple(entities))
        return [
            Mention(entity, str(UUID(int=100 * int(entity) + n)), str(UUID(int=0)), False)
            for entity in entities
            for n in range(self._others)
        ]

    async def stated(self, relations: Sequence[Walked], among: Sequence[str], *, limit: int) -> Sequence[Stated]:
        return []

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts:
        return Facts({}, {})

    async def gone(self, _chunk_ids: Collection[str]) -> frozenset[str]:
        return frozenset()


async def test_what_would_fall_behind_the_limit_is_not_asked_for() -> None:
    source = Passages({str(n): n for n in range(1, RARE)})
    found = await search_graph(source, query="who?", seeds=[SeedPassage(SEED, 1.0)], hops=2, limit=3)
    assert source.asked == [("1", "2", "3", "4", "5", "6")]
    assert [passage.chunk_id.int for passage in found.passages] == [100, 200, 300]


async def test_where_the_best_lead_to_too_few_passages_the_others_are_asked_too() -> None:
    source = Passages({str(n): n for n in range(1, RARE)}, others=0)
    await search_graph(source, query="who?", seeds=[SeedPassage(SEED, 1.0)], hops=2, limit=3)
    assert sum(map(len, source.asked)) == RARE - 1


@pytest.mark.parametrize(("mentions", "asked"), [(RARE, ("1",)), (RARE + 1, ())])
async def test_passages_that_only_name_a_common_entity_are_not_asked_for(mentions: int, asked: tuple[str, ...]) -> None:
    source = Passages({"1": mentions})
    await search_graph(source, query="who?", seeds=[SeedPassage(SEED, 1.0)], hops=2, limit=3)
    assert source.asked == [asked]


def test_a_fact_is_said_as_long_as_one_of_its_passages_is_left() -> None:
    entities = {each: EntityFact(name=each, type="name", description="") for each in ("a", "b", "c")}
    facts = Facts(entities, {}, {"a": ["1", "2"], "b": ["2"]})
    assert list(facts.without(frozenset("2")).entities) == ["a", "c"]


class Failing(Passages):
    async def mentioned_by(self, chunk_ids: Sequence[str]) -> Sequence[SeedMention]:
        raise DependencyUnavailable("gone")


async def test_what_fails_is_raised_as_it_is() -> None:
    with pytest.raises(DependencyUnavailable):
        await search_graph(Failing({}), query="who?", seeds=[SeedPassage(SEED, 1.0)], hops=2, limit=3)
