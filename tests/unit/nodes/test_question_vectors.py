"""The vector that a question is searched by, with a conversation before it and without."""

import numpy as np
import pytest

from nodes.retrieval.question_vectors import blend, question_vector
from nodes.retrieval.state import SearchPlan
from tests.support.worlds import PlainEmbedder, towards
from tributary.models.protocols import TextEmbedder, Vectors

ALONE, ENHANCED = towards(1), towards(0, 1)


class Queries:
    """Knows the question alone by one vector and anything longer by another; remembers what it was asked."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.asked: list[str] = []

    def embedder(self, name: str) -> TextEmbedder:
        return PlainEmbedder()

    async def embed_query(self, name: str, text: str) -> Vectors:
        self.asked.append(text)
        return ALONE if text == self.question else ENHANCED


def plan(query: str, recent: list[str]) -> SearchPlan:
    weights = {"vector": 0.6, "text": 0.25, "importance": 0.15}
    return SearchPlan(query=query, recent=recent, knowledgeBases=[], images=[], weights=weights)  # type: ignore[typeddict-item]


async def test_without_a_conversation_the_question_is_embedded_once_as_it_is() -> None:
    queries = Queries("which pump leaks?")
    assert (await question_vector(plan(queries.question, []), "test/plain", queries)).tolist() == ALONE.tolist()
    assert queries.asked == [queries.question]


async def test_a_conversation_draws_a_full_question_only_a_little() -> None:
    queries = Queries("Which steel pumps of the northern plant leaked oil last winter?")
    vector = await question_vector(plan(queries.question, ["Let us talk about valves."]), "test/plain", queries)
    assert vector @ ALONE > 0.95
    assert vector @ ENHANCED > 0.0


async def test_a_question_that_names_nothing_follows_the_conversation() -> None:
    queries = Queries("And why?")
    vector = await question_vector(plan(queries.question, ["Let us talk about valves."]), "test/plain", queries)
    assert vector.tolist() == pytest.approx(ENHANCED.tolist())


def test_a_blend_has_unit_length() -> None:
    assert np.linalg.norm(blend(ALONE, ENHANCED, 0.3)) == pytest.approx(1.0)


def test_opposite_directions_leave_the_question() -> None:
    assert blend(ALONE, -ALONE, 0.5).tolist() == ALONE.tolist()
