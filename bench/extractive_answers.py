"""How well `local/extractive` answers and refuses, with contexts as the chat graph would give them.

    python -m bench.extractive_answers --data DIR [--model-cache DIR] [--questions 100] [--show]

For a question with an answer the context is its gold page or paragraph and the four others that BM25 ranks highest; for
one without, the five highest. The sets of reading comprehension are also asked without their gold paragraph: those
are the hard refusals, five paragraphs about the right thing that don't hold the answer. `ru over en` asks in Russian
over English paragraphs. With `--model-cache` meanings are compared by the local embedder, which is prepared there.
"""

import argparse
import asyncio
import re
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from langchain_core.messages import HumanMessage, SystemMessage

from bench.judged import read_grades, read_rows
from bench.lexical_terms import Bm25
from tributary.models.local.e5.embedder import E5Embedder
from tributary.models.local.extractive.model import ExtractiveChatModel
from tributary.models.local.extractive.reply import NOTHING_FOUND, NOTICE
from tributary.text.words import keys, terms

CONTEXT = 5
PAGED = "docs_qa/northwind_pdf"
READING = (
    "retrieval/xquad/en",
    "retrieval/xquad/de",
    "retrieval/xquad/ru",
    "retrieval/xquad/th",
    "retrieval/cmrc2018_zh",
)
#: Below this share of the reference answer's words on the cited page, the set's own citation is doubtful.
SOUND_CITATION = 0.5
_MARK = re.compile(r" \[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Case:
    """A question over pages; `gold` are the numbers of those that answer it."""

    question: str
    pages: tuple[tuple[str, str], ...]
    gold: frozenset[int]
    answers: tuple[str, ...]


class Corpus:
    """The units of a set, and which of them words find first."""

    def __init__(self, folder: Path) -> None:
        rows = read_rows(folder, "corpus")
        self.ids = [row["id"] for row in rows]
        self.texts = [row["text"] for row in rows]
        self._index = Bm25([terms(text) for text in self.texts], 1.2, 0.75)

    def case(self, question: str, gold: Collection[str], answers: Sequence[str], *, asked: str = "") -> Case:
        """`asked` is the question that is put where that isn't the one that is searched with."""
        scores = self._index.scores(terms(question))
        wanted = [row for row, name in enumerate(self.ids) if name in gold][:1]
        others = [int(row) for row in np.argsort(-scores, kind="stable") if row not in wanted]
        rows = sorted([*wanted, *others[: CONTEXT - len(wanted)]], key=lambda row: -scores[row])
        pages = tuple((self.ids[row].partition("#")[0], self.texts[row]) for row in rows)
        numbers = frozenset(number for number, row in enumerate(rows, start=1) if self.ids[row] in gold)
        return Case(asked or question, pages, numbers, tuple(answers))

    def without(self, question: str, gold: Collection[str], *, asked: str = "") -> Case:
        """The same question over pages that don't answer it."""
        scores = self._index.scores(terms(question))
        rows = [int(row) for row in np.argsort(-scores, kind="stable") if self.ids[row] not in gold][:CONTEXT]
        pages = tuple((self.ids[row].partition("#")[0], self.texts[row]) for row in rows)
        return Case(asked or question, pages, frozenset(), ())


def context_of(case: Case) -> str:
    passages = "\n\n".join(
        f"[{number}] Source: Knowledge ({name}) | Relevance: {90 - 10 * number}%\n{text.strip()}"
        for number, (name, text) in enumerate(case.pages, start=1)
    )
    return f"---KNOWLEDGE BASE CONTEXT---\n{passages}\n---END KNOWLEDGE BASE CONTEXT---"


async def ask(model: ExtractiveChatModel, case: Case) -> str:
    """The reply without its last line; "" for a refusal."""
    message = await model.ainvoke([SystemMessage(context_of(case)), HumanMessage(case.question)])
    reply = str(message.content).removesuffix(NOTICE).strip()
    return "" if reply.startswith(NOTHING_FOUND) else reply


async def paged(model: ExtractiveChatModel, data: Path, *, show: bool) -> None:
    folder = data / PAGED
    corpus = Corpus(folder)
    rows = [row for row in read_rows(folder, "queries") if row["gold_overlap"] >= SOUND_CITATION]
    gold = {row["id"]: [f"{each['file']}#page={each['page']}" for each in row["citations"]] for row in rows}
    cases = [corpus.case(row["text"], gold[row["id"]], [row["answer"]]) for row in rows]
    asked = [(case, await ask(model, case)) for case in cases]
    cited = [_cites_gold(reply, case) for case, reply in asked]
    overlap = [_overlap(reply, case.answers[0]) for case, reply in asked]
    both = [page and share >= 0.5 for page, share in zip(cited, overlap, strict=True)]
    print(
        f"{PAGED}: {len(asked)} with an answer: answered {_share(reply for _, reply in asked)},"
        f" gold page cited {_share(cited)}, half of the reference's words quoted"
        f" {_share(share >= 0.5 for share in overlap)}, both {_share(both)};"
        f" words of the reference quoted {np.mean(overlap):.3f}"
    )
    unanswerable = [row["text"] for row in read_rows(folder, "unanswerable")]
    replies = [await ask(model, corpus.case(question, (), ())) for question in unanswerable]
    print(f"{PAGED}: {len(replies)} without: refused {_share(not reply for reply in replies)}", flush=True)
    if show:
        wrong = [f"  answered: {question}" for question, reply in zip(unanswerable, replies, strict=True) if reply]
        wrong += [f"  refused: {case.question}" for case, reply in asked if not reply]
        print("\n".join(wrong))


async def reading(
    model: ExtractiveChatModel, name: str, folder: Path, count: int, *, asked: Path | None = None
) -> None:
    """`asked`: the folder of the same questions in the language they are put in."""
    corpus, gold = Corpus(folder), read_grades(folder)
    translated = {row["id"]: row["text"] for row in read_rows(asked, "queries")} if asked else {}
    rows = [row for row in read_rows(folder, "queries") if row["id"] in gold and (not asked or row["id"] in translated)]
    rows = rows[:: max(1, len(rows) // count)][:count]
    found, cited, refused, sentences = [], [], [], []
    for row in rows:
        put = translated.get(row["id"], "")
        case = corpus.case(row["text"], gold[row["id"]], row["answers"], asked=put)
        reply = await ask(model, case)
        found.append(any(_plain(answer) in _plain(reply) for answer in case.answers))
        cited.append(_cites_gold(reply, case))
        refused.append(not await ask(model, corpus.without(row["text"], gold[row["id"]], asked=put)))
        sentences.append(len(_MARK.findall(reply)))
    print(
        f"{name}: {len(rows)} questions: answer quoted {_share(found)}, gold cited {_share(cited)}, sentences"
        f" {np.mean(sentences):.1f}; refused without the gold paragraph {_share(refused)}",
        flush=True,
    )


def _cites_gold(reply: str, case: Case) -> bool:
    return bool({int(mark) for mark in _MARK.findall(reply)} & case.gold)


def _overlap(reply: str, reference: str) -> float:
    wanted = frozenset(keys(reference))
    return len(wanted & frozenset(keys(_MARK.sub("", reply)))) / max(1, len(wanted)) if reply else 0.0


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", _MARK.sub("", text).casefold())


def _share(values: Iterable[object]) -> str:
    return f"{np.mean([bool(value) for value in values]):.3f}"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the judged sets")
    parser.add_argument("--model-cache", type=Path, help="where the embedder is or will be prepared")
    parser.add_argument("--questions", type=int, default=100, help="questions of each set of reading comprehension")
    parser.add_argument("--show", action="store_true", help="print the questions that went wrong")
    options = parser.parse_args()
    embedder = E5Embedder(options.model_cache) if options.model_cache else None
    model = ExtractiveChatModel(embedder=embedder)
    started = time.perf_counter()
    await paged(model, options.data, show=options.show)
    for name in READING:
        await reading(model, name, options.data / name, options.questions)
    if embedder:
        russian, english = options.data / "retrieval/xquad/ru", options.data / "retrieval/xquad/en"
        await reading(model, "ru over en", english, options.questions, asked=russian)
        await embedder.aclose()
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    asyncio.run(main())
