"""The retrieval graph on in-memory stores: fan-out, join, and branches that fail."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from graphs.ports import RetrievalPorts
from graphs.retrieval import build_retrieval_graph
from nodes.chat.state import Context
from nodes.retrieval.state import KnowledgeBaseRef, RetrievalOutput, SearchPlan, WeightsDict
from stores.memory.blobs import MemoryBlobs
from stores.memory.graph_engine import MemoryGraphEngine
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.search import MemoryJudgement, MemorySearch
from stores.protocols.graph import EntityDraft, GraphDraft, GraphFindings, MentionDraft, Passage, SeedPassage
from tests.support.worlds import PlainEmbedder, World, towards
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.knowledge import KnowledgeBase
from tributary.models.protocols import TextEmbedder, Vectors


@dataclass
class Queries:
    """Embeds every question to the same vector, and counts the calls."""

    asked: list[str] = field(default_factory=list)

    def embedder(self, name: str) -> TextEmbedder:
        return PlainEmbedder()

    async def embed_query(self, name: str, text: str) -> Vectors:
        self.asked.append(text)
        return towards(1)


class Images:
    name = "test/images"
    dimension = 4

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        return np.stack([towards(1) for _ in images])

    def similarity(self, cosine: Vectors) -> Vectors:
        return cosine

    def image_embedder(self, embedding: str) -> "Images":
        """It is its own registry."""
        return self

    def shared_embedder(self, embedding: str) -> None:
        return None


class Spoilt:
    """A port whose every method does what `fault` does, after it was called."""

    def __init__(self, fault: Any) -> None:
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **kwargs: Any) -> Any:
            return await self._fault()

        return call


async def down() -> None:
    raise DependencyUnavailable("it is down")


async def hang() -> None:
    await asyncio.Event().wait()


async def bug() -> None:
    raise KeyError("a bug")


@dataclass
class Watched:
    """A graph reader that remembers its seeds."""

    seeds: list[list[UUID]] = field(default_factory=list)

    async def search(self, *args: Any, seeds: Sequence[SeedPassage] = (), **kwargs: Any) -> GraphFindings:
        self.seeds.append([seed.chunk_id for seed in seeds])
        return GraphFindings()


@dataclass
class Bench:
    world: World
    ports: dict[str, Any]

    async def run(
        self, *bases: KnowledgeBase, images: Sequence[str] = (), query: str = "pump", **spoilt: Any
    ) -> RetrievalOutput:
        _, output = await self.watch(*bases, images=images, query=query, **spoilt)
        return output

    async def watch(
        self, *bases: KnowledgeBase, images: Sequence[str] = (), query: str = "pump", **spoilt: Any
    ) -> tuple[Counter[str], RetrievalOutput]:
        """How often each node ran, and the output."""
        ports = RetrievalPorts(**{**self.ports, "branch_timeout": 5.0, **spoilt})
        graph = build_retrieval_graph(ports).compile()
        plan = SearchPlan(
            query=query,
            recent=[],
            knowledgeBases=[KnowledgeBaseRef(id=str(kb.id), name=kb.name, embedding=kb.embedding) for kb in bases],
            images=list(images),
            weights=WeightsDict(vector=0.6, text=0.25, importance=0.15),
        )
        ran, output = Counter[str](), RetrievalOutput()
        chunk: Any
        async for mode, chunk in graph.astream(
            {"plan": plan},
            context=Context(organisation_id=str(self.world.organisation_id)),
            stream_mode=["tasks", "values"],
        ):
            if mode == "values":
                output = chunk
            elif "triggers" in chunk:
                ran[chunk["name"]] += 1
        return ran, output


@pytest.fixture
def bench() -> Bench:
    knowledge = MemoryKnowledge()
    search, graph = MemorySearch(knowledge), MemoryGraphEngine(knowledge)
    world = World(knowledge, search, graph, uuid4(), uuid4())
    ports = {
        "caller": lambda runtime: UUID(runtime.context.organisation_id),
        "knowledge": knowledge,
        "search": search,
        "graph": graph,
        "blobs": MemoryBlobs(),
        "queries": Queries(),
        "images": Images(),
    }
    return Bench(world, ports)


def branches(output: RetrievalOutput) -> set[str]:
    return {each["branch"] for each in output["degraded"]}


async def test_the_hits_of_all_knowledge_bases_meet_in_one_ranking(bench: Bench) -> None:
    first, second = await bench.world.knowledge_base("first"), await bench.world.knowledge_base("second")
    await bench.world.written(first, "the pump is blue")
    await bench.world.written(second, "the pump is red", "the pump is green")
    output = await bench.run(first, second)
    assert len(output["ranked"]) == 3
    assert {hit["knowledgeBaseId"] for hit in output["ranked"]} == {str(first.id), str(second.id)}
    assert [hit["score"] for hit in output["ranked"]] == sorted((h["score"] for h in output["ranked"]), reverse=True)
    assert {each["name"] for each in output["maps"]} == {"first", "second"}
    assert output["degraded"] == []


async def test_no_knowledge_base_is_no_hit_and_no_error(bench: Bench) -> None:
    output = await bench.run()
    assert (output["ranked"], output["maps"], output["degraded"]) == ([], [], [])


@pytest.mark.parametrize("fault", [down, hang])
async def test_a_branch_that_fails_does_not_stop_its_siblings(bench: Bench, fault: Any) -> None:
    base = await bench.world.knowledge_base()
    await bench.world.written(base, "the pump is blue")
    output = await bench.run(base, graph=Spoilt(fault), branch_timeout=0.3)
    assert len(output["ranked"]) == 1
    assert [(each["branch"], each["knowledgeBaseId"]) for each in output["degraded"]] == [("graph", str(base.id))]
    assert output["degraded"][0]["reason"] in ("it is down", "too slow")


async def test_when_every_branch_fails_the_answer_still_says_so(bench: Bench) -> None:
    base = await bench.world.knowledge_base()
    spoilt = Spoilt(down)
    output = await bench.run(base, images=["k"], search=spoilt, knowledge=spoilt, graph=spoilt, blobs=spoilt)
    assert output["ranked"] == []
    assert branches(output) == {"text", "image", "map", "graph"}


async def test_a_bug_in_a_branch_is_not_taken_for_a_failure_of_a_dependency(bench: Bench) -> None:
    base = await bench.world.knowledge_base()
    with pytest.raises(KeyError):
        await bench.run(base, graph=Spoilt(bug))


async def test_a_failed_image_search_does_not_take_the_graph_search_along(bench: Bench) -> None:
    base = await bench.world.knowledge_base()
    watched = Watched()
    output = await bench.run(base, images=["gone"], graph=watched, blobs=Spoilt(down))
    assert branches(output) == {"image"}
    assert watched.seeds == [[]]


async def test_what_an_image_finds_seeds_the_graph_search(bench: Bench) -> None:
    found, chunk = bench.world, uuid4()

    class Finds(MemorySearch):
        async def similar_images(self, *args: Any, **kwargs: Any) -> Sequence[tuple[UUID, float]]:
            return [(chunk, 0.9)]

    base = await found.knowledge_base()
    [chunk] = await found.written(base, "a picture of a pump")
    blobs, watched = bench.ports["blobs"], Watched()
    blobs._blobs["picture"] = b"x"
    output = await bench.run(base, images=["picture"], graph=watched, search=Finds(found.knowledge), query="")  # type: ignore[arg-type]
    assert watched.seeds == [[chunk]]
    [hit] = output["ranked"]
    assert (hit["chunkId"], hit["branches"]) == (str(chunk), ["image"])
    assert hit["vector"] == pytest.approx(0.9)


@pytest.mark.parametrize("pictures", [[], ["picture"]])
@pytest.mark.parametrize("faulty", ["", "search", "blobs", "graph", "knowledge"])
async def test_branches_meet_once_whatever_becomes_of_them(bench: Bench, pictures: list[str], faulty: str) -> None:
    bases = [await bench.world.knowledge_base(name) for name in ("first", "second")]
    for base in bases:
        await bench.world.written(base, "the pump is blue")
    bench.ports["blobs"]._blobs["picture"] = b"x"
    spoilt: dict[str, Any] = {faulty: Spoilt(down)} if faulty else {}
    ran, output = await bench.watch(*bases, images=pictures, **spoilt)
    assert ran["merge_and_rerank"] == 1
    assert ran["search_graph"] == len(bases)
    assert "ranked" in output


async def test_a_run_starts_without_the_hits_of_the_last_one(bench: Bench) -> None:
    base = await bench.world.knowledge_base()
    await bench.world.written(base, "the pump is blue")
    first, second = await bench.run(base), await bench.run(base)
    assert len(first["ranked"]) == len(second["ranked"]) == 1


async def test_hits_that_only_another_branch_found_get_their_missing_terms(bench: Bench) -> None:
    base = await bench.world.knowledge_base()
    [chunk] = await bench.world.written(base, "the pump is blue")
    [document] = await bench.world.knowledge.list_documents(bench.world.organisation_id, base.id, after=None, limit=5)

    class OnlyScores(MemorySearch):
        async def judge(self, *args: Any, **kwargs: Any) -> MemoryJudgement:
            return replace(await super().judge(*args, **kwargs), limit=0)

    class Evidence(Watched):
        async def search(self, *args: Any, **kwargs: Any) -> GraphFindings:
            return GraphFindings(passages=(Passage(chunk, document.id, 0.5),))

    output = await bench.run(base, graph=Evidence(), search=OnlyScores(bench.world.knowledge))  # type: ignore[arg-type]
    [hit] = output["ranked"]
    assert hit["text"] > 0
    assert hit["vector"] > 0.5


async def test_what_the_texts_say_seeds_the_graph_search_with_one_search_for_both(bench: Bench) -> None:
    base = await bench.world.knowledge_base()
    [chunk] = await bench.world.written(base, "the pump is blue")
    searched: list[str] = []

    class Counts(MemorySearch):
        async def judge(self, *args: Any, **kwargs: Any) -> MemoryJudgement:
            searched.append(kwargs["query"])
            return await super().judge(*args, **kwargs)

    watched = Watched()
    await bench.run(base, graph=watched, search=Counts(bench.world.knowledge))  # type: ignore[arg-type]
    assert watched.seeds == [[chunk]]
    assert searched == ["pump"]


@pytest.mark.parametrize("fault", [down, hang])
async def test_the_graph_still_has_the_names_of_the_question_when_the_text_search_fails(
    bench: Bench, fault: Any
) -> None:
    class Fails(MemorySearch):
        async def judge(self, *args: Any, **kwargs: Any) -> MemoryJudgement:
            await fault()
            raise AssertionError

    base = await bench.world.knowledge_base()
    watched = Watched()
    output = await bench.run(base, graph=watched, search=Fails(bench.world.knowledge), branch_timeout=0.5)  # type: ignore[arg-type]
    assert watched.seeds == [[]]
    assert branches(output) == {"text"}


@pytest.mark.parametrize("fault", [down, hang])
async def test_passages_of_the_graph_keep_what_they_have_where_the_text_search_cannot_judge_them(
    bench: Bench, fault: Any
) -> None:
    base = await bench.world.knowledge_base()
    [chunk] = await bench.world.written(base, "the pump is blue")
    [document] = await bench.world.knowledge.list_documents(bench.world.organisation_id, base.id, after=None, limit=5)

    class Fails(MemorySearch):
        async def judge(self, *args: Any, **kwargs: Any) -> MemoryJudgement:
            await fault()
            raise AssertionError

    class Evidence(Watched):
        async def search(self, *args: Any, **kwargs: Any) -> GraphFindings:
            return GraphFindings(passages=(Passage(chunk, document.id, 0.5),))

    search = Fails(bench.world.knowledge)  # type: ignore[arg-type]
    output = await bench.run(base, graph=Evidence(), search=search, branch_timeout=0.2)
    assert [hit["chunkId"] for hit in output["ranked"]] == [str(chunk)]
    assert branches(output) == {"text"}


async def test_a_passage_that_only_another_one_leads_to_is_among_the_best(bench: Bench) -> None:
    base = await bench.world.knowledge_base()
    first, second = "Pump 7 was made by Tim Burton.", "He was born in Burbank."
    for text, draft in (
        (
            first,
            GraphDraft(
                (EntityDraft("tim burton", "Tim Burton", "name"),), (), (MentionDraft("tim burton", 0, 19, 29),)
            ),
        ),
        (
            second,
            GraphDraft(
                (EntityDraft("tim burton", "Tim Burton", "title"),),
                (),
                (MentionDraft("tim burton", 0, 0, 0, subject=True),),
            ),
        ),
    ):
        document = await bench.world.document(base)
        written = await bench.world.write(document, [text])
        assert written is not None
        await bench.world.graph.write_document(bench.world.organisation_id, base.id, document.id, draft, [written[0]])
    for n in range(10):
        await bench.world.written(base, f"valve number {n}")
    output = await bench.run(base, query="who made the pump, and where was he from?")
    hits = {hit["chunkId"]: hit for hit in output["ranked"]}
    chunks = await bench.world.knowledge.chunks(bench.world.organisation_id, [UUID(each) for each in hits])
    found = {chunk.text: hits[str(chunk.id)] for chunk in chunks}
    assert "graph" in found[second]["branches"]
    assert found[second]["vector"] > found[second]["text"]
    assert {entity["name"] for facts in output["facts"] for entity in facts["entities"]} == {"Tim Burton"}
