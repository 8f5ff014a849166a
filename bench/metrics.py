"""Measures of ranked lists, and whether a difference between two systems is more than chance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


def ndcg_at_k(ranked: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """Normalised discounted cumulative gain with exponential gain, in [0, 1]. `ranked`: ids, best first."""
    ideal = _discounted(sorted(grades.values(), reverse=True)[:k])
    return _discounted([grades.get(identifier, 0) for identifier in ranked[:k]]) / ideal if ideal else 0.0


def recall_at_k(ranked: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """The share of the relevant ids that are among the first k."""
    relevant = {identifier for identifier, grade in grades.items() if grade > 0}
    return len(relevant.intersection(ranked[:k])) / len(relevant) if relevant else 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better the second system is, its 95 % interval, and the chance of a difference of that sign or none
    if the questions had been others (one-sided)."""

    mean: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    first: Sequence[float], second: Sequence[float], *, samples: int = 10_000, seed: int = 0
) -> Difference:
    """Compares two systems question by question, by drawing the questions again with replacement."""
    differences = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    draws = np.random.default_rng(seed).integers(0, len(differences), size=(samples, len(differences)))
    means = differences[draws].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    mean = float(differences.mean())
    against = (means <= 0) if mean > 0 else (means >= 0)
    return Difference(mean, float(low), float(high), float(against.mean()))


def _discounted(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades))
