"""How well each sentence answers the question, by words.

A sentence is worth the share of the question's weighted keys that it names itself, that it and its neighbours name,
and that its passage names. The rarer a key among the sentences at hand, the more it weighs. The constants, here and
in the modules beside, are the best found by `bench/extractive_answers.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tributary.models.local.extractive.candidates import Candidate
from tributary.models.local.extractive.prompt import Passage
from tributary.models.local.extractive.question import Question
from tributary.text.words import keys

Scores = NDArray[np.float64]

#: What the neighbourhood and the passage count beside the sentence itself.
_NEAR, _PASSAGE = 1.0, 0.5
#: Sentences to either side that still belong to what is said.
_REACH, _SUPPORT_REACH = 1, 2
#: From so many keys on a sentence says something by itself; shorter ones are mostly titles.
_FULL_LENGTH = 6
#: What is left of a sentence that names nothing of the question and follows none that does: it only stands near.
_BYSTANDER = 0.5
_QUANTITY_BONUS = 0.1
#: Rank matters little: each passage further down is worth so much less.
_RANK = 0.02


@dataclass(frozen=True, slots=True)
class Lexical:
    """By candidate: the score, at most 1; and how much of the question the sentences about it name."""

    scores: Scores
    support: Scores


def score_lexically(question: Question, candidates: Sequence[Candidate], passages: Sequence[Passage]) -> Lexical:
    """Scores of all candidates, shape `(len(candidates),)`. Both are 0 for a question without keys."""
    named = [frozenset(keys(passage.name)) for passage in passages]
    table = _Table(candidates, named, {**question.earlier, **question.own})
    scores = (table.share(0) + _NEAR * table.share(_REACH) + _PASSAGE * table.passage_share()) / (1 + _NEAR + _PASSAGE)
    places = np.array([candidate.passage for candidate in candidates])
    scores = scores * fullness(candidates) * (1 - _RANK * np.minimum(places, 10))
    scores = np.where(table.stands_by(), _BYSTANDER * scores, scores)
    if question.quantity:
        numbers = np.array([any(map(str.isdigit, candidate.text)) for candidate in candidates])
        scores = scores * np.where(numbers, 1 + _QUANTITY_BONUS, 1.0)
    # Whether a question is answered depends on what it asks itself; only where that is nothing, on those before it.
    asked = table if not question.earlier else _Table(candidates, named, question.own or question.earlier)
    return Lexical(scores, asked.share(_SUPPORT_REACH))


def fullness(candidates: Sequence[Candidate]) -> Scores:
    """How far each sentence says something by itself, in (0, 1]."""
    return np.array([min(1.0, max(1, len(candidate.keys)) / _FULL_LENGTH) for candidate in candidates], np.float64)


class _Table:
    """Which candidate names which key. Rows are candidates, columns the question's keys."""

    def __init__(
        self, candidates: Sequence[Candidate], named: Sequence[frozenset[str]], weights: dict[str, float]
    ) -> None:
        self._passages = np.array([candidate.passage for candidate in candidates], np.int64)
        asked = list(weights)
        size = (len(candidates), len(asked))
        self._own = np.array([[key in each.keys for key in asked] for each in candidates], bool).reshape(size)
        # The name of a file says what all its sentences are about.
        self._named = np.array([[key in named[each.passage] for key in asked] for each in candidates], bool).reshape(
            size
        )
        spread = self._own.sum(axis=0)
        rarity = np.log(1 + (len(candidates) + 0.5) / (spread + 0.5))
        self._weights = np.array([weights[key] for key in asked]) * rarity
        self._total = self._weights.sum() or 1.0

    def share(self, reach: int) -> Scores:
        """The weighted share of the keys that the sentences up to `reach` away name within the passage."""
        if not reach:
            return self._weighed(self._own)
        near = self._own | self._named
        for distance in range(1, min(reach, len(near) - 1) + 1):
            same = (self._passages[distance:] == self._passages[:-distance])[:, None]
            near[distance:] |= self._own[:-distance] & same
            near[:-distance] |= self._own[distance:] & same
        return self._weighed(near)

    def stands_by(self) -> NDArray[np.bool_]:
        """Which candidates name no key and follow none of their passage that does."""
        names: NDArray[np.bool_] = self._own.sum(axis=1) > 0
        follows = np.zeros_like(names)
        follows[1:] = names[:-1] & (self._passages[1:] == self._passages[:-1])
        return ~names & ~follows

    def passage_share(self) -> Scores:
        result = np.zeros(len(self._passages))
        for passage in np.unique(self._passages):
            rows = self._passages == passage
            result[rows] = self._weighed((self._own | self._named)[rows].any(axis=0))
        return result

    def _weighed(self, named: NDArray[np.bool_]) -> Scores:
        shares: Scores = named @ self._weights / self._total
        return shares
