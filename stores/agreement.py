"""How far a question's cosines are to be doubted: an embedder that can't read a language still ranks its chunks.

Where words find much of what was asked, a seeing embedder puts the same chunks near the question, and the more so the
more words they hold. A blind one does not, and nothing stands out among what it calls near. See docs/search.md.
"""

import numpy as np
from numpy.typing import NDArray

#: The best chunks of either side that are looked at.
SAMPLE = 100
#: Correlation of words and cosines from which there is no doubt. Seeing embedders reach it for most questions.
FULL_AGREEMENT = 0.5
#: How many chunks the place of the best one by words counts for beside the correlation, so that a few odd ones prove
#: little and a word that stands in one chunk alone proves something.
PRIOR = 5
#: From this share of the ideal lexical score on, words are sure enough to doubt the embedder by.
SURE_WORDS = 0.15
#: Fewer nearest chunks than this show no shape.
_LEAST_NEAREST = 20

Values = NDArray[np.float64]


def doubt(lexical: Values, cosines: Values, ideal: float) -> float:
    """From 0, trust the cosines, to 1, they say nothing.

    `lexical` and `cosines` of the candidates, in the same order; the best `SAMPLE` of the knowledge base by each side
    must be among them, what else is there changes nothing. `ideal` is the score of a text with every word asked.
    """
    if ideal <= 0.0 or not len(lexical):
        return 0.0
    sureness = min(1.0, float(lexical.max()) / (SURE_WORDS * ideal))
    return sureness * (1.0 - agreement(lexical, cosines)) * (1.0 - prominence(cosines))


def agreement(lexical: Values, cosines: Values) -> float:
    """Whether the chunks with the words asked are nearer the more of them they hold: from 0, no, to 1."""
    worded = np.argsort(-lexical, kind="stable")[:SAMPLE]
    worded = worded[lexical[worded] > 0.0]
    words, nearness = lexical[worded], cosines[worded]
    expected, weight = PRIOR * FULL_AGREEMENT * _place(lexical, cosines), PRIOR
    spread = float(words.std() * nearness.std()) if len(worded) else 0.0
    # Two chunks always lie on a line, and what is all the same lies on any.
    if spread > 0.0 and len(worded) > 2:
        correlation = float(((words - words.mean()) * (nearness - nearness.mean())).mean()) / spread
        expected, weight = expected + (len(worded) - 2) * correlation, weight + len(worded) - 2
    return float(np.clip(expected / weight / FULL_AGREEMENT, 0.0, 1.0)) ** 2


def _place(lexical: Values, cosines: Values) -> float:
    """Where the best chunk by words lies between the last of the nearest, 0, and the first, 1."""
    nearest = -np.sort(-cosines)[:SAMPLE]
    if len(nearest) < _LEAST_NEAREST or nearest[0] <= nearest[-1]:
        return 1.0
    best = cosines[lexical == lexical.max()].max()
    return float(np.clip((best - nearest[-1]) / (nearest[0] - nearest[-1]), 0.0, 1.0))


def prominence(cosines: Values) -> float:
    """Whether the nearest chunk stands out from what is near by chance: from 0, no, to 1.

    Chance leaves the nearest about as far above the tenth as that is above the hundredth, whatever the size of the
    knowledge base; three times as far is no chance.
    """
    nearest = -np.sort(-cosines)[:SAMPLE]
    if len(nearest) < _LEAST_NEAREST:
        return 0.0
    tenth, last = nearest[9], nearest[-1]
    return float(np.clip(((nearest[0] - tenth) / (tenth - last) - 1.0) / 2.0, 0.0, 1.0)) if tenth > last else 0.0
