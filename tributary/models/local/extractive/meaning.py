"""Similarity of meaning: what an embedder adds to the words that a question and a sentence share."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tributary.models.local.extractive.candidates import Candidate
from tributary.models.local.extractive.prompt import Passage
from tributary.models.local.extractive.question import Question
from tributary.models.local.extractive.scoring import Lexical, Scores
from tributary.models.protocols import TextEmbedder, Vectors
from tributary.settings import E5
from tributary.text.languages import language_of

#: Sentences that are embedded: few where words tell which may matter, more where they can't.
_FEW, _MANY = 10, 48
#: So much of the question named by sentences side by side needs no second opinion.
CERTAIN = 0.8
#: Log odds of the similarity at which a sentence counts half, within a language and between two, where
#: the same meaning comes out less similar; and how steeply.
_MIDDLE, _MIDDLE_BETWEEN, _SLOPE = 2.0, -1.0, 1.5
_WEIGHT = 0.4
#: What log odds add to the support by words; and the odds that suffice between two languages, which share no words.
_SUPPORT_WEIGHT = 0.15
_ENOUGH_BETWEEN = -1.6
#: Share of the question that must be supported, without and with an embedder.
_SUPPORTED, _SUPPORTED_WITH_MEANING = 0.42, 0.65
_ODDS_BOUND = 9.0
#: From cosine to log odds, as middle and slope, for the embedder that all these figures were found with. The curve
#: of its `similarity` is tuned for another end, percentages beside a hit, and only stands in where none is known.
_CURVES = {E5: (0.82, 40.0)}


@dataclass(frozen=True, slots=True)
class Meaning:
    """By candidate: the log odds of its similarity to the question, -inf where it was not embedded; and whether it
    is in another language than the question."""

    odds: Scores
    foreign: NDArray[np.bool_]

    def raise_scores(self, scores: Scores, full: Scores) -> Scores:
        """Scores with the similarity added, in proportion to how `full` a sentence is."""
        middle = np.where(self.foreign, _MIDDLE_BETWEEN, _MIDDLE)
        raised: Scores = scores + _WEIGHT * full / (1 + np.exp(-_SLOPE * (self.odds - middle)))
        return raised


def is_supported(lexical: Lexical, meaning: Meaning | None) -> bool:
    """Whether anything among the candidates answers the question."""
    support = float(lexical.support.max(initial=0.0))
    if meaning is None:
        return support >= _SUPPORTED
    best = float(meaning.odds.max(initial=-_ODDS_BOUND))
    between = float(meaning.odds[meaning.foreign].max(initial=-_ODDS_BOUND))
    return support + _SUPPORT_WEIGHT * best >= _SUPPORTED_WITH_MEANING or between >= _ENOUGH_BETWEEN


def shortlist(
    question: Question, candidates: Sequence[Candidate], passages: Sequence[Passage], lexical: Lexical
) -> tuple[list[int], NDArray[np.bool_]]:
    """The candidates worth embedding, best first, none where words are certain; and which are foreign."""
    asked = language_of(question.text)
    languages = [language_of(passage.text) for passage in passages]
    differs = [bool(asked and language and asked != language) for language in languages]
    foreign = np.array([differs[candidate.passage] for candidate in candidates], bool)
    if lexical.support.max(initial=0.0) >= CERTAIN:
        return [], foreign
    count = _MANY if foreign.any() or not lexical.scores.any() else _FEW
    # Where words don't tell, one sentence of each passage after the other.
    turn = np.array([candidate.place for candidate in candidates])
    order = np.lexsort((turn, -lexical.scores))
    return [int(number) for number in order[:count]], foreign


async def compare(
    embedder: TextEmbedder,
    text: str,
    candidates: Sequence[Candidate],
    chosen: Sequence[int],
    foreign: NDArray[np.bool_],
) -> Meaning:
    """The meaning of the chosen candidates beside the question's. Errors are the embedder's."""
    vectors = await embedder.embed_documents([candidates[number].text for number in chosen])
    asked = await embedder.embed_query(text)
    odds = np.full(len(candidates), -np.inf)
    odds[list(chosen)] = np.clip(_odds(embedder, vectors @ asked), -_ODDS_BOUND, _ODDS_BOUND)
    return Meaning(odds, foreign)


def _odds(embedder: TextEmbedder, cosine: Vectors) -> Scores:
    if embedder.name in _CURVES:
        middle, slope = _CURVES[embedder.name]
        return slope * (cosine.astype(np.float64) - middle)
    similarity = np.clip(embedder.similarity(cosine).astype(np.float64), 1e-6, 1 - 1e-6)
    odds: Scores = np.log(similarity / (1 - similarity))
    return odds
