"""Work that the branches of one run share."""

import asyncio
import gc
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest

from nodes.retrieval.sharing import QuestionSearch, SharedWork
from nodes.retrieval.state import KnowledgeBaseRef, SearchPlan, WeightsDict
from stores.protocols.search import Judgement
from tests.support.worlds import PlainEmbedder, towards
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.retrieval import Hit
from tributary.models.protocols import TextEmbedder, Vectors

ORGANISATION = uuid4()
BASE = KnowledgeBaseRef(id=str(uuid4()), name="Pumps", embedding="test/plain")


class Nothing:
    """A search that found nothing, and knows nothing of what else there is."""

    hits: Sequence[Hit] = ()

    async def score(self, chunk_ids: Sequence[UUID]) -> Sequence[Hit]:
        return []


class Counted:
    """A search that waits to be let go, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = asyncio.Event()
        self.fails = False

    async def search(self, *args: Any, **kwargs: Any) -> Sequence[Hit]:
        return (await self.judge()).hits

    async def judge(self, *args: Any, **kwargs: Any) -> Judgement:
        self.calls += 1
        await self.go.wait()
        if self.fails:
            raise DependencyUnavailable("it is down")
        return Nothing()

    async def similar_images(self, *args: Any, **kwargs: Any) -> Sequence[Any]:
        return []


class Queries:
    """Embeds, and notes in which spaces; fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.asked: list[str] = []
        self.failures = failures

    def embedder(self, name: str) -> TextEmbedder:
        return PlainEmbedder()

    async def embed_query(self, name: str, text: str) -> Vectors:
        self.asked.append(name)
        if len(self.asked) <= self.failures:
            raise DependencyUnavailable("it is down")
        return towards(1)


def plan(*bases: KnowledgeBaseRef, query: str = "pump") -> SearchPlan:
    weights = WeightsDict(vector=0.6, text=0.25, importance=0.15)
    return SearchPlan(query=query, recent=[], knowledgeBases=[*bases] or [BASE], images=[], weights=weights)


@pytest.fixture
def counted() -> Counted:
    return Counted()


@pytest.fixture
def questions(counted: Counted) -> QuestionSearch:
    return QuestionSearch(counted, Queries())


async def test_the_branches_of_a_run_are_answered_by_one_search(counted: Counted, questions: QuestionSearch) -> None:
    run = plan()
    asked = [asyncio.create_task(questions.hits(ORGANISATION, run, BASE)) for _ in range(2)]
    counted.go.set()
    assert await asyncio.gather(*asked) == [(), ()]
    assert counted.calls == 1


async def test_a_branch_that_comes_when_the_other_is_through_gets_the_same(
    counted: Counted, questions: QuestionSearch
) -> None:
    counted.go.set()
    run = plan()
    await questions.hits(ORGANISATION, run, BASE)
    await questions.hits(ORGANISATION, run, BASE)
    assert counted.calls == 1


async def test_another_run_with_the_same_question_searches_for_itself(
    counted: Counted, questions: QuestionSearch
) -> None:
    counted.go.set()
    await questions.hits(ORGANISATION, plan(), BASE)
    await questions.hits(ORGANISATION, plan(), BASE)
    assert counted.calls == 2


async def test_chunks_that_are_scored_later_cost_no_search(counted: Counted, questions: QuestionSearch) -> None:
    counted.go.set()
    run = plan()
    await questions.hits(ORGANISATION, run, BASE)
    await questions.score(ORGANISATION, run, BASE, [uuid4()])
    assert counted.calls == 1


async def test_a_run_that_is_through_leaves_nothing_behind(counted: Counted, questions: QuestionSearch) -> None:
    counted.go.set()
    run = plan()
    await questions.hits(ORGANISATION, run, BASE)
    questions.forget(run)
    await questions.hits(ORGANISATION, run, BASE)
    assert counted.calls == 2


async def test_other_organisations_and_knowledge_bases_are_searched_for_themselves(
    counted: Counted, questions: QuestionSearch
) -> None:
    counted.go.set()
    run, other = plan(), KnowledgeBaseRef(id=str(uuid4()), name="Valves", embedding="test/plain")
    await questions.hits(ORGANISATION, run, BASE)
    await questions.hits(uuid4(), run, BASE)
    await questions.hits(ORGANISATION, run, other)
    assert counted.calls == 3


async def test_one_who_gives_up_does_not_take_the_answer_from_the_other(
    counted: Counted, questions: QuestionSearch
) -> None:
    run = plan()
    hasty, patient = (asyncio.create_task(questions.hits(ORGANISATION, run, BASE)) for _ in range(2))
    while not counted.calls:
        await asyncio.sleep(0)
    hasty.cancel()
    await asyncio.wait({hasty})
    counted.go.set()
    assert await patient == ()


async def test_a_failure_reaches_all_who_wait_and_another_try_searches_again(
    counted: Counted, questions: QuestionSearch
) -> None:
    counted.fails = True
    run = plan()
    asked = [asyncio.create_task(questions.hits(ORGANISATION, run, BASE)) for _ in range(2)]
    counted.go.set()
    for each in asked:
        with pytest.raises(DependencyUnavailable):
            await each
    counted.fails = False
    assert await questions.hits(ORGANISATION, run, BASE) == ()
    assert counted.calls == 2


async def test_what_a_cut_off_run_left_behind_is_dropped() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("work")

    shared, run = SharedWork(kept=0.0), plan()
    await shared.once(run, ("work",), work)
    await shared.once(plan(), ("work",), work)
    await shared.once(run, ("work",), work)
    assert done == ["work"] * 3


def test_runs_on_other_event_loops_do_their_own_work() -> None:
    done: list[str] = []

    async def work() -> None:
        done.append("work")

    shared, run = SharedWork(), plan()

    async def once() -> None:
        await shared.once(run, ("work",), work)

    asyncio.run(once())
    asyncio.run(once())
    assert done == ["work"] * 2


async def test_a_question_that_is_prepared_is_embedded_once_in_each_space_and_found_under_way() -> None:
    queries = Queries()
    questions = QuestionSearch(Counted(), queries)
    others = [KnowledgeBaseRef(id=str(uuid4()), name="Valves", embedding=each) for each in ("test/plain", "test/other")]
    run = plan(BASE, *others)
    questions.prepare(run)
    await asyncio.sleep(0)
    assert sorted(queries.asked) == ["test/other", "test/plain"]
    for base in run["knowledgeBases"]:
        await questions.vector(run, base["embedding"])
    assert sorted(queries.asked) == ["test/other", "test/plain"]


async def test_a_question_without_words_is_not_embedded_ahead() -> None:
    queries = Queries()
    QuestionSearch(Counted(), queries).prepare(plan(query=" "))
    await asyncio.sleep(0)
    assert queries.asked == []


async def test_an_embedding_that_failed_ahead_is_asked_for_again_and_complains_to_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queries = Queries(failures=1)
    questions = QuestionSearch(Counted(), queries)
    run = plan()
    questions.prepare(run)
    while not queries.asked:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    gc.collect()
    assert (await questions.vector(run, "test/plain")).tolist() == towards(1).tolist()
    assert len(queries.asked) == 2
    assert not caplog.records


class Seen:
    """A blob store and an image embedder that count what they are asked for."""

    name, dimension = "test/images", 8

    def __init__(self) -> None:
        self.read: list[str] = []
        self.embedded: list[Sequence[bytes]] = []

    async def get(self, key: str) -> bytes:
        self.read.append(key)
        return key.encode()

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        self.embedded.append(images)
        return np.stack([towards(1, each) for each in range(len(images))])


async def test_pictures_are_read_and_embedded_once_for_all_knowledge_bases(questions: QuestionSearch) -> None:
    run, seen = plan() | {"images": ["one", "two"]}, Seen()
    asked: Any = (questions.picture_vectors(run, seen, seen) for _ in range(3))  # type: ignore[arg-type]
    vectors = await asyncio.gather(*asked)
    assert (seen.read, seen.embedded) == (["one", "two"], [[b"one", b"two"]])
    assert [each.tolist() for each in vectors] == 3 * [[towards(1, 0).tolist(), towards(1, 1).tolist()]]


async def test_pictures_are_embedded_for_each_space(questions: QuestionSearch) -> None:
    run, seen, other = plan() | {"images": ["one"]}, Seen(), Seen()
    other.name = "test/others"
    for each in (seen, other):
        await questions.picture_vectors(run, each, each)  # type: ignore[arg-type]
    assert seen.embedded == other.embedded == [[b"one"]]
