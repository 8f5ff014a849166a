"""The ports of the ingestion graph that need no model: parsing, summaries and extraction on this machine."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from nodes.ingest.extract import Tell
from nodes.ingest.products import Digest
from nodes.ingest.state import Place
from stores.protocols.blobs import BlobStore
from stores.protocols.graph import GraphDraft
from tributary.domain.knowledge import ChunkDraft, Document, ParsedDocument
from tributary.files.parsing.limits import PARSE_SECONDS
from tributary.files.sandbox import Sandbox
from tributary.ingestion import inside
from tributary.ingestion.fetching import fetched

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

#: Texts above this many characters are analysed in a child process: in a thread they would hold the interpreter, and
#: with it every chat, for too long.
LONG_TEXT = 10_000
#: Seconds for the analysis of one document.
ANALYSIS_SECONDS = 300.0


class SandboxParser:
    """`DocumentParser`: brings the file to `folder`, beside what is staged of the document, and reads it in a child."""

    def __init__(self, *, blobs: BlobStore, sandbox: Sandbox, folder: Path) -> None:
        self._blobs = blobs
        self._sandbox = sandbox
        self._folder = folder

    async def parse(self, document: Document) -> ParsedDocument:
        beside = self._folder / str(document.id) / str(document.revision)
        async with fetched(self._blobs, document, beside) as path:
            return await self._sandbox.run(
                inside.read, path, document.content_type, document.filename, document.title, timeout=PARSE_SECONDS
            )


class LocalSummariser:
    """`Summariser` by the words of the text and the file's name."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def summarise(self, text: str, *, title: str, filename: str) -> Digest:  # noqa: ARG002 - the port's
        summary, topics, kind = await _off_the_loop(self._sandbox, len(text), inside.digest, text, filename)
        return Digest(summary=summary, topics=topics, type=kind, extracted=True)


class LocalExtractor:
    """`GraphExtractor` by the words of the text."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def extract(
        self,
        document: ParsedDocument,
        chunks: Sequence[ChunkDraft],
        *,
        place: Place,  # noqa: ARG002 - the port's
        tell: Tell,  # noqa: ARG002
    ) -> GraphDraft:
        return await _off_the_loop(self._sandbox, len(document.text), inside.extract_entities, document, tuple(chunks))


async def _off_the_loop(sandbox: Sandbox, size: int, function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    if size > LONG_TEXT:
        return await sandbox.run(function, *arguments, timeout=ANALYSIS_SECONDS)
    return await asyncio.to_thread(function, *arguments)
