"""The knowledge graph in memory: entities and relations as sums over what each document says."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from stores import walking
from stores.memory.knowledge import MemoryKnowledge
from stores.protocols.graph import EntityDraft, GraphDraft, GraphFindings
from tributary.domain.retrieval import EntityFact, RelationFact
from tributary.text.entity_keys import phrase_keys


@dataclass(frozen=True, slots=True)
class _Said:
    """What one document says, and where its chunks are."""

    document_id: UUID
    draft: GraphDraft
    chunk_ids: tuple[UUID, ...]


@dataclass(slots=True)
class _Relation:
    id: str
    source: str
    relation: str
    target: str
    weight: float = 0.0
    description: str = ""
    #: Weight by chunk, with the chunk's document.
    stated: dict[tuple[UUID, UUID], float] = field(default_factory=dict)


class _Sums:
    """A knowledge base's graph, summed up from its documents."""

    def __init__(self, said: Sequence[_Said]) -> None:
        self.names: dict[str, set[str]] = defaultdict(set)
        self.mentions: Counter[str] = Counter()
        self.mentioned: dict[str, set[tuple[UUID, UUID]]] = defaultdict(set)
        self.relations: dict[str, _Relation] = {}
        self._drafts: dict[str, list[tuple[int, EntityDraft]]] = defaultdict(list)
        for each in said:
            self._add(each)
        self.near: dict[str, list[tuple[str, _Relation]]] = defaultdict(list)
        for relation in sorted(self.relations.values(), key=lambda each: (-each.weight, each.id)):
            self.near[relation.source].append((relation.target, relation))
            if relation.source != relation.target:
                self.near[relation.target].append((relation.source, relation))

    def _add(self, said: _Said) -> None:
        counts = Counter(mention.key for mention in said.draft.mentions)
        entities = {entity.key for entity in said.draft.entities if entity.key}
        for entity in said.draft.entities:
            if not entity.key:
                continue
            self._drafts[entity.key].append((counts[entity.key], entity))
            self.mentions[entity.key] += counts[entity.key]
            for name in (entity.key, *entity.aliases):
                self.names[name].add(entity.key)
        for mention in said.draft.mentions:
            if mention.key in entities:
                self.mentioned[mention.key].add((said.chunk_ids[mention.chunk], said.document_id))
        for each in said.draft.relations:
            if each.source in entities and each.target in entities and each.weight > 0:
                key = "\n".join((each.source, each.relation, each.target))
                relation = self.relations.setdefault(key, _Relation(key, each.source, each.relation, each.target))
                place = said.chunk_ids[each.chunk], said.document_id
                relation.stated[place] = relation.stated.get(place, 0.0) + each.weight
                relation.weight += each.weight
                relation.description = relation.description or each.description

    def fact(self, key: str) -> EntityFact:
        drafts = sorted(self._drafts[key], key=lambda item: (-item[0], item[1].name))
        described = [draft.description for _, draft in drafts if draft.description]
        best = drafts[0][1]
        return EntityFact(name=best.name, type=best.type, description=described[0] if described else "")

    def connection(self, relation_id: str) -> RelationFact:
        relation = self.relations[relation_id]
        return RelationFact(
            source=self.fact(relation.source)["name"],
            relation=relation.relation,
            target=self.fact(relation.target)["name"],
            description=relation.description,
        )


class MemoryGraph:
    """`GraphReader` and `GraphWriter` over the documents of a `MemoryKnowledge`."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        self._knowledge = knowledge
        self._said: dict[tuple[UUID, UUID], _Said] = {}

    async def write_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        draft: GraphDraft,
        chunk_ids: Sequence[UUID],
    ) -> None:
        said = _Said(document_id, draft, tuple(chunk_ids))
        if self._current(organisation_id, knowledge_base_id, said):
            self._said[organisation_id, document_id] = said

    async def remove_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        said = self._said.get((organisation_id, document_id))
        if said is not None and self._current(organisation_id, knowledge_base_id, said):
            del self._said[organisation_id, document_id]

    async def search(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        seed_chunks: Sequence[UUID] = (),
        hops: int = 2,
        limit: int = 10,
    ) -> GraphFindings:
        sums = _Sums(
            [
                said
                for (owner, _), said in sorted(self._said.items())
                if owner == organisation_id and self._current(organisation_id, knowledge_base_id, said)
            ]
        )
        seeds = _seeds(sums, query, frozenset(seed_chunks))
        walked = list(_walk(sums, seeds, max(1, min(hops, walking.MAX_HOPS))))
        steps = [step for step in walked if step is not None]
        relations = walking.relation_scores(steps)
        return GraphFindings(
            entities=tuple(sums.fact(key) for key in list(walking.entity_scores(seeds, steps))[:limit]),
            relations=tuple(sums.connection(each) for each in list(relations)[:limit]),
            passages=walking.passages(seeds, _supports(sums, seeds, relations), limit=limit),
            truncated=None in walked,
        )

    def _current(self, organisation_id: UUID, knowledge_base_id: UUID, said: _Said) -> bool:
        """Whether the document still has the chunks that it was written with."""
        for document, content in self._knowledge.contents(organisation_id, knowledge_base_id):
            if document.id == said.document_id:
                return set(said.chunk_ids) <= set(content.chunk_ids)
        return False


def _seeds(sums: _Sums, query: str, chunks: frozenset[UUID]) -> dict[str, float]:
    spans = phrase_keys(query)
    named = [
        walking.Named(key, name, sums.mentions[key]) for name in spans if name in sums.names for key in sums.names[name]
    ]
    seeding = {
        key: sums.mentions[key]
        for key, places in sums.mentioned.items()
        if any(chunk_id in chunks for chunk_id, _ in places)
    }
    return walking.choose_seeds(spans, named, seeding)


def _walk(sums: _Sums, seeds: Mapping[str, float], hops: int) -> Iterator[walking.Step | None]:
    """Each step taken; None where the bound on an entity's relations kept some out."""
    frontier: list[tuple[str, float, tuple[str, ...]]] = [(key, score, (key,)) for key, score in seeds.items()]
    for _ in range(hops):
        reached: list[tuple[str, float, tuple[str, ...]]] = []
        for key, score, path in frontier:
            near = sums.near[key]
            if len(near) > walking.FAN_OUT:
                yield None
            for neighbour, relation in near[: walking.FAN_OUT]:
                if neighbour in path:
                    continue
                lent = score * walking.step_share(relation.weight, len(near))
                yield walking.Step(relation.id, neighbour, lent)
                reached.append((neighbour, lent, (*path, neighbour)))
        frontier = reached


def _supports(sums: _Sums, seeds: Mapping[str, float], relations: Mapping[str, float]) -> Iterator[walking.Support]:
    mentioned: dict[tuple[UUID, UUID], float] = defaultdict(float)
    stated: dict[tuple[UUID, UUID], float] = defaultdict(float)
    for key, score in seeds.items():
        for place in sums.mentioned[key]:
            mentioned[place] += score
    for relation_id, score in relations.items():
        relation = sums.relations[relation_id]
        for place, weight in relation.stated.items():
            stated[place] += score * weight / relation.weight
    for place in mentioned.keys() | stated.keys():
        yield walking.Support(*place, mentioned[place], stated[place])
