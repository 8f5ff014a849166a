"""How fast are documents ingested beside the bare embedder, and does chat notice?

    python -m bench.ingestion --data DIR [--documents 1000] [--rounds 5] [--mixture mixed|short|long]
    python -m bench.ingestion --data DIR --chat [--documents 1000] [--turns 100]

DIR holds the judged sets; their texts become files: Markdown pages of manuals and plain texts of abstracts, half and
half, or one kind alone. `tributary serve` runs in a process of its own, with PostgreSQL embedded;
files go in over HTTP. Without `--chat`, rounds of ingestion and of embedding the very chunks it made take turns, so
that both meet the same other load. With it, chat turns are timed alone and then while all documents are ingested.
"""

import argparse
import asyncio
import itertools
import re
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.datasets import load_set
from bench.server import Server, serving
from nodes.ingest.window import embedding_text
from tributary.domain.knowledge import ChunkDraft
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder
from tributary.settings import E5, Settings

#: Documents of each set that follow each other.
LONG = (("docs_qa/aws_docs", ".md", 2), ("docs_qa/anthropic_docs", ".md", 1))
SHORT = (("retrieval/scifact", ".txt", 2), ("retrieval/cranfield", ".txt", 1))
MIXTURES = {"mixed": LONG + SHORT, "long": LONG, "short": SHORT}
#: Files of one request, and texts of one call of the bare embedder.
FILES, TEXTS = 20, 32
POLL = 0.5
BOUND = 0.85
console = Console()


@dataclass(frozen=True)
class File:
    name: str
    content: str


@dataclass
class Sums:
    """What the rounds came to."""

    documents: int = 0
    chunks: int = 0
    ingesting: float = 0.0
    embedding: float = 0.0
    embedding_processor: float = 0.0
    processor: dict[str, float] = field(default_factory=dict)


def files(data: Path, count: int, mixture: str = "mixed") -> list[File]:
    """The first `count` of a mixture."""
    sources = [(iter(load_set(data, name).documents), ending, share) for name, ending, share in MIXTURES[mixture]]
    return list(itertools.islice(_mixed(sources), count))


def _mixed(sources: Sequence[tuple[Iterator[Any], str, int]]) -> Iterator[File]:
    """In turn, until all sources have come to their end."""
    for number in itertools.count():
        turn = [(each, ending) for documents, ending, share in sources for each in itertools.islice(documents, share)]
        if not turn:
            return
        for document, ending in turn:
            name = re.sub(r"[^\w.-]+", "_", document.name)[-100:].removesuffix(ending)
            title = f"{document.parsed.title}\n\n" if ending == ".txt" else ""
            yield File(f"{number}-{name}{ending}", title + document.parsed.text)


async def new_base(server: Server, name: str) -> str:
    answer = await server.client.post("/knowledge/kb", json={"name": name})
    return str(answer.raise_for_status().json()["id"])


async def send(server: Server, base: str, chosen: Sequence[File]) -> None:
    for group in _batched(chosen, FILES):
        parts = [("files", (file.name, file.content.encode(), "text/plain")) for file in group]
        (await server.client.post(f"/knowledge/kb/{base}/documents", files=parts)).raise_for_status()


def _batched(items: Sequence[File], size: int) -> Iterator[Sequence[File]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


async def rows(server: Server, statement: str, **parameters: object) -> list[dict[str, Any]]:
    async with server.database.organisation(server.organisation.id) as connection:
        return await (await connection.execute(statement, parameters)).fetchall()


async def until_settled(server: Server, base: str, count: int) -> None:
    """Raises `RuntimeError` where one failed."""
    statement = """
    SELECT status, count(*) AS count, min(error::text) AS error FROM documents
    WHERE knowledge_base_id = %(base)s GROUP BY status
    """
    while True:
        found = {row["status"]: row for row in await rows(server, statement, base=base)}
        if "failed" in found:
            raise RuntimeError(f"{found['failed']['count']} documents failed: {found['failed']['error']}")
        if "ready" in found and found["ready"]["count"] == count:
            return
        await asyncio.sleep(POLL)


async def chunk_texts(server: Server, base: str) -> list[str]:
    """What was embedded, in order of the documents."""
    statement = """
    SELECT c.*, d.title FROM chunks c JOIN documents d ON d.id = c.document_id
    WHERE c.knowledge_base_id = %(base)s ORDER BY c.document_id, c.ordinal
    """
    found = await rows(server, statement, base=base)
    return [
        embedding_text(ChunkDraft(row["ordinal"], row["content"], 0, 0, heading=row["heading"]), row["title"])
        for row in found
    ]


async def bare(embedder: TextEmbedder, texts: Sequence[str]) -> tuple[float, float]:
    """Seconds and processor seconds of embedding alone."""
    began, used = time.perf_counter(), time.process_time()
    for start in range(0, len(texts), TEXTS):
        await embedder.embed_documents(texts[start : start + TEXTS])
    return time.perf_counter() - began, time.process_time() - used


async def one_round(server: Server, embedder: TextEmbedder, name: str, chosen: Sequence[File], sums: Sums) -> None:
    base = await new_base(server, name)
    before, began = server.processor_seconds(), time.perf_counter()
    await send(server, base, chosen)
    await until_settled(server, base, len(chosen))
    sums.ingesting += time.perf_counter() - began
    for part, seconds in server.processor_seconds().items():
        sums.processor[part] = sums.processor.get(part, 0.0) + seconds - before[part]
    texts = await chunk_texts(server, base)
    seconds, processor = await bare(embedder, texts)
    sums.embedding += seconds
    sums.embedding_processor += processor
    sums.documents += len(chosen)
    sums.chunks += len(texts)
    console.print(f"{name}: ratio so far {sums.embedding / sums.ingesting:.3f}")


async def throughput(chosen: Sequence[File], rounds: int, environment: Mapping[str, str]) -> None:
    embedders = TextEmbedders(Settings.load())
    embedder = await embedders.prepare(E5)
    sums = Sums()
    async with serving(**environment) as server:
        base = await new_base(server, "warm")
        await send(server, base, [File("warm.txt", "A first document loads the model.")])
        await until_settled(server, base, 1)
        size = -(-len(chosen) // rounds)
        for number, part in enumerate(_batched(chosen, size)):
            await one_round(server, embedder, f"round {number + 1}", part, sums)
    await embedders.aclose()
    report(sums)


def report(sums: Sums) -> None:
    table = Table(title=f"{sums.documents} documents, {sums.chunks} chunks")
    for column in ("", "seconds", "documents/s", "chunks/s", "processor s"):
        table.add_column(column, justify="right" if column else "left")
    for name, seconds, processor in (
        ("ingestion", sums.ingesting, sum(sums.processor.values())),
        ("bare embedder", sums.embedding, sums.embedding_processor),
    ):
        rates = f"{sums.documents / seconds:.2f}", f"{sums.chunks / seconds:.2f}"
        table.add_row(name, f"{seconds:.1f}", *rates, f"{processor:.1f}")
    for name, processor in sums.processor.items():
        table.add_row(f"  of it {name}", "", "", "", f"{processor:.1f}")
    console.print(table)
    ratio = sums.embedding / sums.ingesting
    of_processor = sums.embedding_processor / sum(sums.processor.values())
    console.print(
        f"throughput {ratio:.3f} of the bare embedder's (bound {BOUND}); of processor time {of_processor:.3f}"
    )


async def timed_turn(server: Server, bot: str, question: str) -> float:
    began = time.perf_counter()
    answer = await server.client.post(f"/api/bots/{bot}/chat", json={"message": question})
    answer.raise_for_status()
    return time.perf_counter() - began


async def chat(data: Path, count: int, turns: int, environment: Mapping[str, str]) -> None:
    chosen = files(data, count)
    questions = [query.text for query in load_set(data, "retrieval/scifact").queries]
    async with serving(**environment) as server:
        base = await new_base(server, "read")
        await send(server, base, chosen[:60])
        await until_settled(server, base, len(chosen[:60]))
        made = await server.client.post("/api/bots", json={"name": "bench", "knowledgeBaseIds": [base]})
        bot = str(made.raise_for_status().json()["id"])
        asked = itertools.cycle(questions)
        for _ in range(5):
            await timed_turn(server, bot, next(asked))
        quiet = [await timed_turn(server, bot, next(asked)) for _ in range(turns)]
        filling, began = await new_base(server, "filled"), time.perf_counter()

        async def fill() -> None:
            await send(server, filling, chosen)
            await until_settled(server, filling, len(chosen))

        ingesting = asyncio.create_task(fill())
        busy: list[float] = []
        while not ingesting.done():
            busy.append(await timed_turn(server, bot, next(asked)))
        await ingesting
        took = time.perf_counter() - began
    table = Table(title=f"chat turns while {len(chosen)} documents are ingested in {took:.0f} s")
    for column in ("", "turns", "p50 ms", "p95 ms"):
        table.add_column(column, justify="right" if column else "left")
    for name, times in (("quiet", quiet), ("while ingesting", busy)):
        table.add_row(name, str(len(times)), f"{percentile(times, 50):.0f}", f"{percentile(times, 95):.0f}")
    console.print(table)
    console.print(f"p95 {percentile(busy, 95) / percentile(quiet, 95):.2f} times the quiet one (bound 2)")


def percentile(times: Sequence[float], share: int) -> float:
    """In milliseconds."""
    return 1000 * statistics.quantiles(times, n=100, method="inclusive")[share - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mixture", choices=sorted(MIXTURES), default="mixed")
    parser.add_argument("--chat", action="store_true")
    parser.add_argument("--turns", type=int, default=100)
    options = parser.parse_args()
    if options.chat:
        asyncio.run(chat(options.data, options.documents, options.turns, {}))
    else:
        asyncio.run(throughput(files(options.data, options.documents, options.mixture), options.rounds, {}))


if __name__ == "__main__":
    main()
