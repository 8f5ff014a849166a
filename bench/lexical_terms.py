"""Which lexical analysis ranks best: nDCG@10 of BM25 over judged sets, one column an analysis, and its speed.

    python -m bench.lexical_terms --data DIR [--set retrieval/scifact …]

Documents are whole, titles included; at most 600 questions a set. Everything runs in memory, one process.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.judged import read_grades, read_rows
from tributary.text.words import STEM_MARK, terms, words

SETS = (
    *(f"docs_qa/{name}" for name in ("anthropic_docs", "aws_docs", "northwind_pdf")),
    *(f"multihop/{name}" for name in ("hotpotqa100", "musique100")),
    *(f"retrieval/{name}" for name in ("adi", "cisi", "cmrc2018_zh", "code_chunks", "cranfield", "limit_small")),
    *(f"retrieval/{name}" for name in ("med", "scifact", "xquad/de", "xquad/en", "xquad/ru", "xquad/th")),
)
QUESTIONS = 600
Analysis = Callable[[str], list[str]]


def split_at_spaces(text: str) -> list[str]:
    """The baseline: what stands between spaces, without case."""
    return text.casefold().split()


def stems_only(text: str) -> list[str]:
    return [term for term in terms(text) if term[0] == STEM_MARK or not term.isalpha() or not term.isascii()]


ANALYSES: dict[str, Analysis] = {"spaces": split_at_spaces, "words": words, "stems": stems_only, "terms": terms}


class Bm25:
    """Okapi BM25 over term lists: all documents are scored for each question."""

    def __init__(self, documents: Sequence[list[str]], k1: float, b: float) -> None:
        counts = [Counter(document) for document in documents]
        self._column: dict[str, int] = {}
        for count in counts:
            for term in count:
                self._column.setdefault(term, len(self._column))
        rows = np.repeat(np.arange(len(counts)), [len(count) for count in counts])
        columns = np.array([self._column[term] for count in counts for term in count], np.int64)
        frequencies = np.array([frequency for count in counts for frequency in count.values()], np.float64)
        lengths = np.array([len(document) for document in documents], np.float64)
        spread = np.bincount(columns, minlength=len(self._column))
        rarity = np.log(1 + (len(documents) - spread + 0.5) / (spread + 0.5))
        saturation = k1 * (1 - b + b * lengths[rows] / lengths.mean())
        order = np.argsort(columns, kind="stable")
        self._rows = rows[order]
        self._weights = (rarity[columns] * frequencies * (k1 + 1) / (frequencies + saturation))[order]
        self._starts = np.concatenate(([0], np.cumsum(spread)))
        self._size = len(documents)

    def scores(self, question: Sequence[str]) -> NDArray[np.float64]:
        scores = np.zeros(self._size)
        for term in set(question):
            column = self._column.get(term)
            if column is not None:
                part = slice(self._starts[column], self._starts[column + 1])
                scores[self._rows[part]] += self._weights[part]
        return scores


def ndcg(scores: NDArray[np.float64], ids: Sequence[str], grades: dict[str, int]) -> float:
    """nDCG@10 with exponential gain; what shares no term with the question is not returned."""
    best = [int(row) for row in np.argsort(-scores, kind="stable")[:10] if scores[row] > 0]
    gained = sum((2 ** grades.get(ids[row], 0) - 1) / math.log2(rank + 2) for rank, row in enumerate(best))
    ideal = sorted(grades.values(), reverse=True)[:10]
    return float(gained / sum((2**grade - 1) / math.log2(rank + 2) for rank, grade in enumerate(ideal)))


def measure(folder: Path, analysis: Analysis, k1: float, b: float) -> tuple[float, float]:
    """Mean nDCG@10, and megabytes of documents analysed in a second of CPU."""
    rows, grades = read_rows(folder, "corpus"), read_grades(folder)
    ids, texts = [row["id"] for row in rows], [f"{row['title']}\n{row['text']}" for row in rows]
    started = time.process_time()
    documents = [analysis(text) for text in texts]
    speed = sum(len(text.encode("utf8", "replace")) for text in texts) / 1e6 / (time.process_time() - started)
    index = Bm25(documents, k1, b)
    queries = [row for row in read_rows(folder, "queries") if row["id"] in grades][:QUESTIONS]
    gains = [ndcg(index.scores(analysis(row["text"])), ids, grades[row["id"]]) for row in queries]
    return float(np.mean(gains)), speed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the judged sets")
    parser.add_argument("--set", action="append", dest="sets", help="one set, may be repeated; all by default")
    parser.add_argument("--k1", type=float, default=1.2)
    parser.add_argument("--b", type=float, default=0.75)
    options = parser.parse_args()
    print(f"{'nDCG@10':24s}", *(f"{name:>8s}" for name in ANALYSES), "   MB/s")
    total = dict.fromkeys(ANALYSES, 0.0)
    sets = options.sets or SETS
    for name in sets:
        folder = options.data / name
        measured = {key: measure(folder, analysis, options.k1, options.b) for key, analysis in ANALYSES.items()}
        for key, (gain, _) in measured.items():
            total[key] += gain / len(sets)
        print(
            f"{name:24s}",
            *(f"{gain:8.3f}" for gain, _ in measured.values()),
            f"{measured['terms'][1]:7.1f}",
            flush=True,
        )
    print(f"{'mean':24s}", *(f"{gain:8.3f}" for gain in total.values()))


if __name__ == "__main__":
    main()
