"""`tributary ingest` and `tributary worker`."""

import asyncio
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn

from tributary.cli.figures import figures_of
from tributary.cli.options import console
from tributary.domain.errors import CallerError
from tributary.domain.knowledge import Document, DocumentStatus
from tributary.files.names import display_name
from tributary.services import Services, open_services
from tributary.settings import Settings

#: Documents that are followed at once.
FOLLOWED = 8


async def ingest(settings: Settings, *, organisation: str, name: str, paths: Sequence[Path]) -> int:
    """Puts files into the knowledge base of that name and waits for each; how many failed.

    Documents are ingested by this process, and by the workers of a server on the same database.
    """
    files = _files(paths)
    async with open_services(settings) as services, services.worker.working():
        owner = await services.identity.ensure_organisation(organisation)
        base = await services.knowledge.knowledge_base_named(owner.id, name)
        if base is None:
            base = await services.knowledge_bases.create(owner.id, name=name)
            console.print(f"Made knowledge base {name}: {base.id}", soft_wrap=True)
        failures = await ingest_all(services, owner.id, base.id, files)
    for file, reason in failures:
        console.print(f"failed {file}: {reason}", style="red", soft_wrap=True)
    console.print(f"{len(files) - len(failures)} of {len(files)} documents are searchable in {name}", soft_wrap=True)
    return len(failures)


def _files(paths: Sequence[Path]) -> list[Path]:
    """The files named, and those of folders named: hidden ones left out, in order of their paths."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = (each for each in sorted(path.rglob("*")) if each.is_file())
            found += [each for each in inside if not any(part.startswith(".") for part in each.relative_to(path).parts)]
        else:
            found.append(path)
    return list(dict.fromkeys(found))


async def ingest_all(
    services: Services, organisation_id: UUID, base_id: UUID, files: Sequence[Path]
) -> list[tuple[Path, str]]:
    """Ingests the files under a progress bar; those that failed, with their reasons."""
    failures: list[tuple[Path, str]] = []
    slots = asyncio.Semaphore(FOLLOWED)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        overall = progress.add_task(f"{len(files)} documents", total=float(len(files)))

        async def one(path: Path) -> None:
            async with slots:
                reason = await _ingest_one(services, organisation_id, base_id, path, progress, overall)
            if reason:
                failures.append((path, reason))

        async with asyncio.TaskGroup() as group:
            for path in files:
                group.create_task(one(path))
    return failures


async def _ingest_one(
    services: Services, organisation_id: UUID, base_id: UUID, path: Path, progress: Progress, overall: TaskID
) -> str:
    """Follows one document to its end; the reason where it failed."""
    done = 0.0
    reason = ""
    try:
        document = await _add(services, organisation_id, base_id, path)
        async for state in services.documents.progress(organisation_id, base_id, document.id):
            progress.advance(overall, max(0.0, state.progress - done))
            done = max(done, state.progress)
            if state.status is DocumentStatus.FAILED:
                reason = (state.error or {}).get("detail", "unknown")
    except CallerError as error:
        reason = error.detail
    progress.advance(overall, 1.0 - done)
    return reason


async def _add(services: Services, organisation_id: UUID, base_id: UUID, path: Path) -> Document:
    with tempfile.TemporaryDirectory(dir=services.uploads.incoming) as work:
        copy = Path(work) / "file"
        await asyncio.to_thread(shutil.copyfile, path, copy)
        return await services.documents.add(organisation_id, base_id, display_name(path.name), copy)


async def work(settings: Settings) -> None:
    """Ingests documents until the process is told to stop."""
    async with open_services(settings) as services, figures_of(services):
        console.print("Waiting for documents to ingest; Ctrl-C stops")
        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as group:
                group.create_task(services.indexing.run(), name="indexing")
                group.create_task(services.worker.run(), name="ingestion worker")
