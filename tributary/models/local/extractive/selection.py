"""Choosing the sentences of an answer: the best, what goes on from them, nothing twice."""

from collections.abc import Sequence

import numpy as np

from tributary.models.local.extractive.candidates import Candidate
from tributary.models.local.extractive.scoring import Scores

MOST_SENTENCES = 5
#: Characters of all sentences together, the first one apart.
_BUDGET = 1_100
#: A sentence below this share of the best one's score adds nothing.
_RELATIVE = 0.55
#: What the sentence behind a chosen one is worth more: it goes on with what was said. And what each is worth less
#: for every chosen one of its passage.
_CONTINUES, _CROWDED = 0.8, 0.05
#: Sentences that share so much of what they name say the same.
_SAME = 0.6


def select(candidates: Sequence[Candidate], scores: Scores) -> list[Candidate]:
    """At most `MOST_SENTENCES`, at least the best one: passages in the order of their best sentence, the sentences
    of each in their own order."""
    chosen: list[int] = []
    left = np.array(scores)
    size = 0
    while len(chosen) < MOST_SENTENCES and left.size:
        worth = _worth(candidates, left, chosen)
        best = int(worth.argmax())
        if worth[best] <= 0 or (chosen and worth[best] < _RELATIVE * scores[chosen[0]]):
            break
        left[best] = 0.0
        size += len(candidates[best].text)
        if chosen and (size > _BUDGET or _repeats(candidates[best], [candidates[other] for other in chosen])):
            size -= len(candidates[best].text)
            continue
        chosen.append(best)
    order = list(dict.fromkeys(candidates[number].passage for number in chosen))
    return [candidates[n] for n in sorted(chosen, key=lambda n: (order.index(candidates[n].passage), n))]


def _worth(candidates: Sequence[Candidate], left: Scores, chosen: Sequence[int]) -> Scores:
    worth = left.copy()
    for number in chosen:
        after = number + 1
        if after < len(candidates) and candidates[after].passage == candidates[number].passage:
            worth[after] = left[after] * (1 + _CONTINUES)
    taken = [candidates[number].passage for number in chosen]
    crowd = np.array([taken.count(candidate.passage) for candidate in candidates])
    crowded: Scores = worth * np.maximum(0.0, 1 - _CROWDED * crowd)
    return crowded


def _repeats(candidate: Candidate, chosen: Sequence[Candidate]) -> bool:
    """Whether one of `chosen` says the same; chunks overlap, and documents have near copies."""
    if any(candidate.text == other.text for other in chosen):
        return True
    return any(
        len(candidate.keys & other.keys) > _SAME * len(candidate.keys | other.keys) for other in chosen if other.keys
    )
