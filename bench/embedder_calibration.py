"""How cosines of the local text embedders become similarities: fits the logistic curve that stands in the code.

    python -m bench.embedder_calibration --data DIR [--cache DIR]

In each set, the cosines of questions with their answers' documents are set against those with other documents: three
quarters drawn at random, one quarter the nearest wrong ones, which are near the answer's subject and should not pass
for one. Both sides, and all sets, weigh the same.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets import load_set
from tributary.models.local.e5.embedder import E5Embedder
from tributary.models.local.minilm.embedder import MiniLmEmbedder
from tributary.models.local.text_embedder import LocalTextEmbedder

ENGLISH = ("retrieval/xquad/en", "retrieval/scifact", "docs_qa/anthropic_docs")
SETS = {"local/multilingual-e5-small": (*ENGLISH, "retrieval/xquad/ru", "retrieval/xquad/th"), "local/minilm": ENGLISH}
NEAREST_SHARE = 0.25

Samples = dict[str, NDArray[np.float64]]


async def cosines(embedder: LocalTextEmbedder, data: Path, name: str, questions: int) -> Samples:
    """Cosines of one set, by kind of pair."""
    judged = load_set(data, name, limit=questions)
    wanted = {unit for query in judged.queries for unit in judged.judgements[query.id]}
    documents = sorted(judged.documents, key=lambda each: each.unit_of(None) not in wanted)[: 2 * questions]
    vectors = await embedder.embed_documents([document.parsed.text for document in documents])
    asked = np.stack(await asyncio.gather(*(embedder.embed_query(query.text) for query in judged.queries)))
    samples: dict[str, list[float]] = {"answers": [], "others": [], "nearest": []}
    draw = np.random.default_rng(0)
    for query, row in zip(judged.queries, asked @ vectors.T, strict=True):
        relevant = np.array([each.unit_of(None) in judged.judgements[query.id] for each in documents])
        samples["answers"] += row[relevant].tolist()
        samples["others"] += draw.choice(row[~relevant], 20).tolist()
        samples["nearest"] += np.sort(row[~relevant])[-3:].tolist()
    return {kind: np.array(values) for kind, values in samples.items()}


def fit_logistic(sets: list[Samples]) -> tuple[float, float]:
    """Middle and slope of the curve that tells answers from the rest, by Newton's method."""
    shares = {"answers": 1.0, "others": 1 - NEAREST_SHARE, "nearest": NEAREST_SHARE}
    parts = [(kind, values) for samples in sets for kind, values in samples.items()]
    x = np.concatenate([values for _, values in parts])
    y = np.concatenate([np.full(len(values), float(kind == "answers")) for kind, values in parts])
    weight = np.concatenate([np.full(len(values), 1000 * shares[kind] / len(values)) for kind, values in parts])
    inputs = np.stack([np.ones_like(x), (x - x.mean()) / x.std()], axis=1)
    beta = np.zeros(2)
    for _ in range(50):
        p = 1 / (1 + np.exp(-inputs @ beta))
        hessian = (inputs * (weight * p * (1 - p))[:, None]).T @ inputs
        beta += np.linalg.solve(hessian, inputs.T @ (weight * (y - p)))
    return float(x.mean() - beta[0] / beta[1] * x.std()), float(beta[1] / x.std())


async def measure(options: argparse.Namespace, cache: Path) -> None:
    for embedder in (E5Embedder(cache), MiniLmEmbedder()):
        sets = []
        print(f"{embedder.name:40s} {'5 %':>7s} median  95 %   cosines")
        for name in SETS[embedder.name]:
            sets.append(await cosines(embedder, options.data, name, options.questions))
            for kind, values in sets[-1].items():
                print(f"  {name:28s} {kind:10s}", *(f"{at:6.3f}" for at in np.percentile(values, [5, 50, 95])))
        middle, slope = fit_logistic(sets)
        print(f"  middle {middle:.3f}, slope {slope:.1f}")
        for kind in sets[0]:
            pooled = np.concatenate([samples[kind] for samples in sets])
            similarities = 1 / (1 + np.exp(-slope * (np.percentile(pooled, [5, 50, 95]) - middle)))
            print(f"  similarity of {kind:25s}", *(f"{at:6.3f}" for at in similarities))
        await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the judged sets")
    parser.add_argument("--cache", type=Path, help="where the prepared model is kept; a new folder by default")
    parser.add_argument("--questions", type=int, default=100, help="questions of a set")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        asyncio.run(measure(options, options.cache or Path(folder)))


if __name__ == "__main__":
    main()
