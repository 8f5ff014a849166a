"""The knowledge graph in memory: entities and relations as sums over what each document says."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from stores.bridging import Mention, SeedMention
from stores.graph_search import Facts, Stated, Walked, search_graph
from stores.memory.knowledge import MemoryKnowledge
from stores.misspelling import Alike, Parts
from stores.protocols.graph import EntityDraft, GraphDraft, GraphFindings, MentionDraft, SeedPassage
from stores.walking import Bounds, Named, Neighbourhood, Side, Way
from tributary.domain.retrieval import EntityFact, RelationFact


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
        self._names_of: dict[str, set[str]] = defaultdict(set)
        self.mentions: Counter[str] = Counter()
        #: By entity and passage (chunk and document), whether the passage is about the entity.
        self.mentioned: dict[str, dict[tuple[UUID, UUID], bool]] = defaultdict(dict)
        self.said_in: dict[UUID, list[MentionDraft]] = defaultdict(list)
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
                self._names_of[entity.key].add(name)
        for mention in said.draft.mentions:
            if mention.key in entities:
                place = said.chunk_ids[mention.chunk], said.document_id
                passages = self.mentioned[mention.key]
                passages[place] = mention.subject or passages.get(place, False)
                self.said_in[place[0]].append(mention)
        for each in said.draft.relations:
            if each.source in entities and each.target in entities and each.weight > 0:
                key = "\n".join((each.source, each.relation, each.target))
                relation = self.relations.setdefault(key, _Relation(key, each.source, each.relation, each.target))
                place = said.chunk_ids[each.chunk], said.document_id
                relation.stated[place] = relation.stated.get(place, 0.0) + each.weight
                relation.weight += each.weight
                relation.description = relation.description or each.description

    def namesakes(self, key: str) -> set[str]:
        return set().union(*(self.names[name] for name in self._names_of[key])) - {key}

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
        seeds: Sequence[SeedPassage] = (),
        hops: int = 2,
        limit: int = 10,
    ) -> GraphFindings:
        sums = self._summed(organisation_id, knowledge_base_id)
        return await search_graph(MemoryGraphSource(sums), query=query, seeds=seeds, hops=hops, limit=limit)

    async def remove_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        for said in self._said_in(organisation_id, knowledge_base_id):
            del self._said[organisation_id, said.document_id]

    def _summed(self, organisation_id: UUID, knowledge_base_id: UUID) -> _Sums:
        return _Sums(self._said_in(organisation_id, knowledge_base_id))

    def _said_in(self, organisation_id: UUID, knowledge_base_id: UUID) -> list[_Said]:
        """What the knowledge base's documents say, by document id."""
        return [
            said
            for (owner, _), said in sorted(self._said.items(), key=lambda item: item[0])
            if owner == organisation_id and self._current(organisation_id, knowledge_base_id, said)
        ]

    def _current(self, organisation_id: UUID, knowledge_base_id: UUID, said: _Said) -> bool:
        """Whether the document still has the chunks that it was written with."""
        for document, content in self._knowledge.contents(organisation_id, knowledge_base_id):
            if document.id == said.document_id:
                return set(said.chunk_ids) <= set(content.chunk_ids)
        return False


class MemoryGraphSource:
    """`GraphSource` over summed documents. An entity's id is its key."""

    def __init__(self, sums: _Sums) -> None:
        self._sums = sums

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        sums = self._sums
        return [Named(key, name, sums.mentions[key]) for name in keys if name in sums.names for key in sums.names[name]]

    async def alike(self, parts: Parts, *, read: int, limit: int) -> Sequence[Alike]:
        found: dict[str, None] = {}
        for forwards, wanted in ((True, parts.beginnings), (False, parts.endings)):
            keys = sorted(self._sums.mentions if forwards else (key[::-1] for key in self._sums.mentions))
            for text, shortest, longest in wanted:
                start = text if forwards else text[::-1]
                seen = [key for key in keys if key.startswith(start)][:read]
                fitting = [key for key in seen if shortest <= len(key) <= longest][:limit]
                found |= dict.fromkeys(fitting if forwards else [key[::-1] for key in fitting])
        return [Alike(key, key, self._sums.mentions[key]) for key in found]

    async def mentioned_by(self, chunk_ids: Sequence[str]) -> Sequence[SeedMention]:
        counts, said_in = self._sums.mentions, self._sums.said_in
        return [
            SeedMention(chunk_id, each.key, counts[each.key], each.start, each.subject)
            for chunk_id in dict.fromkeys(chunk_ids)
            for each in said_in.get(UUID(chunk_id), ())
        ]

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        shared = self._sums.namesakes
        return [(entity, namesake) for entity in entities for namesake in sorted(shared(entity))[:limit]]

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        near = self._sums.near
        way = Way(scores, bounds)
        while entities := way.ahead():
            sides = {
                entity: [Side(each.id, neighbour, each.weight) for neighbour, each in near[entity][: bounds.fan_out]]
                for entity in entities
            }
            way.leave({entity: len(near[entity]) for entity in entities}, sides)
        return way.neighbourhood()

    async def mentions(self, entities: Sequence[str], about: Sequence[str], *, limit: int) -> Sequence[Mention]:
        found = [
            Mention(entity, str(chunk_id), str(document_id), subject)
            for entity in (*entities, *about)
            for (chunk_id, document_id), subject in self._passages(entity)[:limit]
        ]
        wanted = set(entities)
        return [each for each in found if each.subject or each.entity_id in wanted]

    def _passages(self, entity: str) -> list[tuple[tuple[UUID, UUID], bool]]:
        return sorted(self._sums.mentioned[entity].items(), key=lambda item: (not item[1], item[0]))

    async def stated(self, relations: Sequence[Walked], among: Sequence[str], *, limit: int) -> Sequence[Stated]:
        scores: dict[tuple[UUID, UUID], float] = defaultdict(float)
        for relation_id, score, weight in relations:
            for place, said in self._sums.relations[relation_id].stated.items():
                scores[place] += score * said / weight
        ordered = sorted(scores, key=lambda place: (-min(1.0, scores[place]), place[0]))
        kept = dict.fromkeys(ordered[:limit]) | dict.fromkeys(each for each in ordered if str(each[0]) in set(among))
        return [Stated(str(chunk), str(document), scores[chunk, document]) for chunk, document in kept]

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts:
        return Facts(
            {entity: self._sums.fact(entity) for entity in entities},
            {relation: self._sums.connection(relation) for relation in relations},
        )

    async def gone(self, _chunk_ids: Collection[str]) -> frozenset[str]:
        return frozenset()
