"""Does the main job work on real documents? Asks the questions of two public sets over their own documents, in
conversations, and checks that a numbered source names the file and page that the set cites.

    python -m bench.conversation --data DIR [--questions 60] [--pages 300]

DIR holds `docs_qa/northwind_pdf` (PDFs, questions with cited pages) and `docs_qa/aws_docs` (Markdown pages). Of the
latter the cited pages are taken and as many others as `--pages` allows.
"""

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from rich.console import Console
from rich.progress import track
from rich.table import Table

from bench.service import bot, knowledge_base, opened, organisation
from nodes.chat.state import ChatResponse
from tributary.services import Services
from tributary.turns.runner import TurnRequest

#: Questions of one conversation.
TURNS = 5
console = Console()


@dataclass(frozen=True)
class Question:
    text: str
    answer: str
    filename: str
    page: int | None


@dataclass
class Score:
    """What a set's questions came to."""

    asked: int = 0
    gold_first: int = 0
    gold_in_sources: int = 0
    gold_cited: int = 0
    supported: int = 0
    opened: int = 0
    seconds: float = 0.0


def northwind(data: Path, limit: int) -> tuple[list[Path], list[Question]]:
    folder = data / "docs_qa" / "northwind_pdf"
    rows = [row for row in _rows(folder / "queries.jsonl") if row["gold_overlap"] >= 0.5 and row["citations"]]
    questions = [
        Question(row["text"], row["answer"], row["citations"][0]["file"], row["citations"][0]["page"])
        for row in rows[:: max(1, len(rows) // limit)]
    ]
    return sorted((folder / "files").glob("*.pdf")), questions[:limit]


def aws(data: Path, folder: Path, limit: int, pages: int) -> tuple[list[Path], list[Question]]:
    source = data / "docs_qa" / "aws_docs"
    gold = dict(line.split("\t")[:2] for line in (source / "qrels.tsv").read_text().strip().split("\n")[1:])
    documents = {row["id"]: row["text"] for path in sorted(source.glob("corpus*.jsonl")) for row in _rows(path)}
    rows = [row for row in _rows(source / "queries.jsonl") if row["id"] in gold][:limit]
    wanted = {gold[row["id"]] for row in rows}
    others = [name for name in documents if name not in wanted][: max(0, pages - len(wanted))]
    files = [_written(folder, name, documents[name]) for name in (*wanted, *others)]
    return files, [Question(row["text"], row["answer"], _filename(gold[row["id"]]), None) for row in rows]


def _rows(path: Path) -> list[dict]:  # type: ignore[type-arg] # rows of JSON as the sets have them
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _filename(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)[-150:]


def _written(folder: Path, name: str, text: str) -> Path:
    path = folder / _filename(name)
    path.write_text(text, encoding="utf-8")
    return path


async def ask_all(services: Services, owner: UUID, bot_id: UUID, questions: Sequence[Question], name: str) -> Score:
    score = Score()
    conversation: str | None = None
    for number, question in enumerate(track(questions, description=name, console=console)):
        if number % TURNS == 0:
            conversation = None
        began = time.perf_counter()
        turn = services.turns.start(
            TurnRequest(organisation_id=owner, bot_id=str(bot_id), message=question.text, conversation_id=conversation)
        )
        await turn.wait()
        score.seconds += time.perf_counter() - began
        if turn.response is None:
            raise RuntimeError(f"no answer to {question.text!r}: {turn.problem}")
        conversation = turn.response["conversationId"]
        await _judge(services, owner, turn.response, question, score)
    return score


async def _judge(services: Services, owner: UUID, response: ChatResponse, question: Question, score: Score) -> None:
    score.asked += 1
    gold = [
        source
        for source in response["sources"]
        if source["filename"] == question.filename and question.page in (None, source["page"])
    ]
    score.gold_in_sources += bool(gold)
    score.gold_first += any(source["number"] == 1 for source in gold)
    score.gold_cited += any(source["cited"] for source in gold)
    passages = []
    for source in response["sources"]:
        text = await services.knowledge.document_text(
            owner, UUID(source["knowledgeBaseId"]), UUID(source["documentId"])
        )
        passages.append(text.text[source["start"] : source["end"]])
    score.opened += all(
        " ".join(passage.split()).startswith(source["text"].rstrip("…").rstrip())
        for passage, source in zip(passages, response["sources"], strict=True)
    )
    cited = [p for p, source in zip(passages, response["sources"], strict=True) if source["cited"]]
    score.supported += _share(question.answer, " ".join(cited)) >= 0.5


def _share(answer: str, text: str) -> float:
    """The share of the reference answer's longer words that the text holds."""
    words = set(re.findall(r"\w{4,}", answer.lower()))
    return len(words & set(re.findall(r"\w{4,}", text.lower()))) / len(words) if words else 1.0


def table(scores: dict[str, Score]) -> Table:
    made = Table(
        "set",
        "questions",
        "gold source first",
        "gold among sources",
        "gold cited",
        "answer's words in cited",
        "sources open",
        "s a turn",
    )
    for name, score in scores.items():
        shares = (score.gold_first, score.gold_in_sources, score.gold_cited, score.supported, score.opened)
        made.add_row(
            name,
            str(score.asked),
            *(f"{share / score.asked:.0%}" for share in shares),
            f"{score.seconds / score.asked:.3f}",
        )
    return made


async def main(data: Path, questions: int, pages: int) -> None:
    scores: dict[str, Score] = {}
    with tempfile.TemporaryDirectory() as folder:
        sets: Iterator[tuple[str, tuple[list[Path], list[Question]]]] = iter(
            (
                ("northwind_pdf", northwind(data, questions)),
                ("aws_docs", aws(data, Path(folder), questions, pages)),
            )
        )
        async with opened() as services:
            owner = await organisation(services)
            for name, (files, asked) in sets:
                base = await knowledge_base(services, owner, name, files)
                made = await bot(services, owner, [base])
                scores[name] = await ask_all(services, owner, made.id, asked, name)
    console.print(table(scores))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--pages", type=int, default=300)
    options = parser.parse_args()
    asyncio.run(main(options.data, options.questions, options.pages))
