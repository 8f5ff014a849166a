"""How large chunks should be: retrieval quality by target size, over real PDFs and Markdown pages.

    python -m bench.splitting --data DIR [--targets 200 300 400] [--embedder NAME] [--lexical] [--sets …]

`DIR` holds the sets `northwind_pdf` (PDFs in `files/`, judged by page) and `aws_docs` (Markdown, judged by document).
A page or document scores as its best chunk does. Prints nDCG@10 and the share of questions with a right one among the
first five: by BM25, by the embedder's vectors, and by both (reciprocal ranks); and checks every chunk's tokens.
`--lexical` leaves the vectors out, which take minutes.
"""

import argparse
import asyncio
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.datasets import load_set
from nodes.ingest.splitting import embedding_text, split
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.files.parsing.markdown import markdown_title
from tributary.files.parsing.registry import parse_document, title_from
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder
from tributary.settings import E5, Settings
from tributary.text.words import terms

Scores = NDArray[np.float64]
#: Questions whose answer shares less than this with the page they cite are known to cite a wrong one.
DOUBTFUL = 0.5


@dataclass(frozen=True, slots=True)
class Collection:
    name: str
    documents: list[tuple[str, ParsedDocument]]
    questions: list[tuple[str, str]]
    judgements: dict[str, dict[str, int]]


def collection(data: Path, name: str) -> Collection:
    loaded = load_set(data, name)
    questions = [(query.id, query.text) for query in loaded.queries]
    folder = data / name / "files"
    if not folder.is_dir():
        documents = [
            (each.name, ParsedDocument(each.parsed.text, title=markdown_title(each.parsed.text)))
            for each in loaded.documents
        ]
        return Collection(name, documents, questions, loaded.judgements)
    doubtful = set()
    for line in (data / name / "queries.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row.get("gold_overlap", 1) < DOUBTFUL:
            doubtful.add(row["id"])
    files = sorted(folder.iterdir())
    documents = [(path.name, parse_document(path, "application/pdf", path.name)) for path in files]
    return Collection(name, documents, [each for each in questions if each[0] not in doubtful], loaded.judgements)


def lexical_scores(texts: Sequence[str], questions: Sequence[str]) -> Scores:
    """BM25 (k1 1.2, b 0.75): shape `(questions, texts)`."""
    counted = [Counter(terms(text)) for text in texts]
    lengths = np.array([sum(each.values()) for each in counted], float)
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for at, words in enumerate(counted):
        for word, count in words.items():
            postings[word].append((at, count))
    scores = np.zeros((len(questions), len(texts)))
    for row, question in enumerate(questions):
        for word in set(terms(question)) & postings.keys():
            places, counts = (np.array(part) for part in zip(*postings[word], strict=True))
            rarity = math.log(1 + (len(texts) - len(places) + 0.5) / (len(places) + 0.5))
            saturated = counts * 2.2 / (counts + 1.2 * (0.25 + 0.75 * lengths[places] / lengths.mean()))
            scores[row, places] += rarity * saturated
    return scores


async def vector_scores(embedder: TextEmbedder, texts: Sequence[str], questions: Sequence[str]) -> Scores:
    batches = [await embedder.embed_documents(texts[at : at + 64]) for at in range(0, len(texts), 64)]
    asked = np.array([await embedder.embed_query(question) for question in questions])
    return (asked @ np.concatenate(batches).T).astype(np.float64)


def ranked_units(scores: Scores, units: Sequence[str], count: int) -> list[str]:
    ranked = dict.fromkeys(units[at] for at in np.argsort(-scores, kind="stable"))
    return list(ranked)[:count]


def quality(scores: Scores, units: Sequence[str], asked: Collection) -> tuple[float, float]:
    gains, hits = [], []
    for row, (question, _) in zip(scores, asked.questions, strict=True):
        relevant = asked.judgements[question]
        best = ranked_units(row, units, 10)
        ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(relevant))))
        gains.append(sum(1 / math.log2(rank + 2) for rank, unit in enumerate(best) if unit in relevant) / ideal)
        hits.append(any(unit in relevant for unit in best[:5]))
    return float(np.mean(gains)), float(np.mean(hits))


def fused(*each: Scores) -> Scores:
    ranks = [np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) for scores in each]
    total: Scores = np.sum([1 / (60 + rank) for rank in ranks], axis=0)
    return total


async def measure(asked: Collection, embedder: TextEmbedder, target: int, *, lexical_only: bool) -> None:
    started = time.process_time()
    chunks: list[tuple[str, str, ChunkDraft]] = []
    for name, document in asked.documents:
        title = document.title or title_from(name)
        drafts = split(
            document,
            count_tokens=embedder.count_tokens,
            max_tokens=embedder.max_tokens,
            target_tokens=target,
            title=title,
        )
        chunks += [(name, title, draft) for draft in drafts]
    seconds = time.process_time() - started
    texts = [embedding_text(draft, title) for _, title, draft in chunks]
    assert max(embedder.count_tokens(texts)) <= embedder.max_tokens
    units = [name if draft.page is None else f"{name}#page={draft.page}" for name, _, draft in chunks]
    questions = [text for _, text in asked.questions]
    methods = [lexical_scores(texts, questions)]
    if not lexical_only:
        vector = await vector_scores(embedder, texts, questions)
        methods += [vector, fused(methods[0], vector)]
    row = f"{asked.name:14} {target:6} {len(chunks):6} {seconds:6.1f} s"
    for scores in methods:
        ndcg, hit = quality(scores, units, asked)
        row += f" | {ndcg:7.3f} {hit:7.3f}"
    print(row, flush=True)


async def main(data: Path, sets: list[str], targets: list[int], embedding: str, *, lexical_only: bool) -> None:
    embedder = await TextEmbedders(Settings.load()).prepare(embedding)
    print(f"{'set':14} {'target':>6} {'chunks':>6} {'split':>8} | {'BM25':^15} | {'vectors':^15} | {'both':^15}")
    print(f"{'':37} | " + " | ".join([f"{'nDCG@10':>7} {'hit@5':>7}"] * 3))
    for name in sets:
        asked = collection(data, name)
        for target in targets:
            await measure(asked, embedder, target, lexical_only=lexical_only)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=["northwind_pdf", "aws_docs"])
    parser.add_argument("--targets", nargs="+", type=int, default=[200, 300, 400])
    parser.add_argument("--embedder", default=E5)
    parser.add_argument("--lexical", action="store_true")
    given = parser.parse_args()
    asyncio.run(main(given.data, given.sets, given.targets, given.embedder, lexical_only=given.lexical))
