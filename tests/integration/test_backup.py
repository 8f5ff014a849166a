"""Backups of a data folder: of older versions, amid deletes, and such as are cut off, as their restores may be."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID, uuid4

import psycopg
import pytest

from stores.blobs.pins import Pins
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.migrate import head
from tests.support.old_schemas import bring_to, fill_r0003
from tributary.backup.archives import FILES, MANIFEST, ArchiveWriter, members, read_manifest
from tributary.backup.making import make_backup
from tributary.backup.marks import MARK
from tributary.backup.restoring import check_backup, restore_backup
from tributary.domain.errors import Conflict, DamagedFile, DependencyUnavailable, NotFound
from tributary.services import open_database
from tributary.settings import Settings

ACME = UUID(int=1)


@pytest.fixture(scope="module")
def home() -> Iterator[Settings]:
    """A data folder as an early version left it: r0003, with rows and a stored file. Not below pytest's own folder,
    which the embedded server's user may not enter."""
    with tempfile.TemporaryDirectory(prefix="tributary-backup-") as folder:
        settings = Settings(data=Path(folder) / "home", database_url=None)
        settings.data.mkdir()
        with EmbeddedPostgres(settings.data / "postgres") as embedded:
            bring_to(embedded.dsn, "r0003")
            fill_r0003(embedded.dsn, ACME)
            store(settings, "documents/a/1")
            (settings.data / ".demo").touch()
            yield settings


@pytest.fixture(scope="module")
def backup(home: Settings) -> Path:
    path = home.data.parent / "backup.tar"
    make_backup(home, path)
    return path


@pytest.fixture
def elsewhere(home: Settings) -> Settings:
    """Settings of a data folder that is not there yet."""
    return Settings(data=home.data.parent / uuid4().hex, database_url=None)


def store(settings: Settings, key: str) -> Path:
    path = settings.files / "blobs" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"the file")
    return path


def names(path: Path) -> list[str]:
    with members(path) as found:
        return [member.name for member in found]


async def test_an_older_version_s_backup_is_brought_to_this_one_s_schema(
    home: Settings, backup: Path, elsewhere: Settings
) -> None:
    assert read_manifest(backup).schema_revision == "r0003"
    assert backup.stat().st_mode & 0o077 == 0
    await in_thread(lambda: restore_backup(elsewhere, backup))
    assert (elsewhere.files / "blobs/documents/a/1").read_bytes() == b"the file"
    assert (elsewhere.data / ".demo").exists()
    assert not (elsewhere.data / MARK).exists()
    async with open_database(elsewhere) as database, database.organisation(ACME) as connection:
        rows = await (
            await connection.execute(
                "SELECT (SELECT version_num FROM alembic_version) AS revision, current_user AS role, "
                "(SELECT content FROM messages) AS message, (SELECT count(*) FROM chunks) AS chunks"
            )
        ).fetchall()
    assert rows == [{"revision": head(), "role": "tributary_app", "message": "Why?", "chunks": 1}]


def test_a_database_of_a_newer_version_is_not_backed_up(home: Settings, tmp_path: Path) -> None:
    call_schema(home, "r9999")
    try:
        with pytest.raises(Conflict, match="made by a newer version"):
            make_backup(home, tmp_path / "backup.tar")
    finally:
        call_schema(home, "r0003")
    assert list(tmp_path.iterdir()) == []


def call_schema(settings: Settings, revision: str) -> None:
    with EmbeddedPostgres(settings.data / "postgres") as embedded, psycopg.connect(embedded.dsn) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", (revision,))


async def in_thread(work: Callable[[], object]) -> None:
    """Backups run loops of their own."""
    import asyncio

    await asyncio.to_thread(work)


def test_a_newer_version_s_backup_is_refused_before_anything_is_written(
    backup: Path, elsewhere: Settings, tmp_path: Path
) -> None:
    newer = tmp_path / "newer.tar"
    manifest = read_manifest(backup).model_copy(update={"schema_revision": "r9999", "version": "9.9", "files": 0})
    with newer.open("wb") as file:
        writer = ArchiveWriter(file)
        writer.add_bytes(MANIFEST, manifest.model_dump_json(by_alias=True).encode())
        writer.close()
    with pytest.raises(Conflict, match=r"newer version 9\.9"):
        restore_backup(elsewhere, newer)
    assert not elsewhere.data.exists()


def test_a_folder_that_holds_something_is_left_as_it_is(home: Settings, backup: Path, elsewhere: Settings) -> None:
    elsewhere.data.mkdir()
    (elsewhere.data / "letter.txt").write_text("mine")
    for settings in (elsewhere, home):
        before = sorted(settings.data.iterdir())
        with pytest.raises(Conflict, match="is not empty"):
            restore_backup(settings, backup)
        assert sorted(settings.data.iterdir()) == before


def test_a_damaged_backup_leaves_an_empty_folder_empty(backup: Path, elsewhere: Settings, tmp_path: Path) -> None:
    cut = tmp_path / "cut.tar"
    cut.write_bytes(backup.read_bytes()[:-20_000])
    elsewhere.data.mkdir()
    with pytest.raises(DamagedFile):
        restore_backup(elsewhere, cut)
    assert list(elsewhere.data.iterdir()) == []


def test_a_dump_that_postgresql_does_not_take_leaves_nothing_behind(
    backup: Path, elsewhere: Settings, tmp_path: Path
) -> None:
    wrong = tmp_path / "wrong.tar"
    manifest = read_manifest(backup).model_copy(update={"files": 0})
    with wrong.open("wb") as file:
        writer = ArchiveWriter(file)
        writer.add_bytes(MANIFEST, manifest.model_dump_json(by_alias=True).encode())
        writer.add_bytes("database/000000", b"no dump" * 100_000)
        writer.close()
    with pytest.raises(DependencyUnavailable, match="pg_restore failed"):
        restore_backup(elsewhere, wrong)
    assert not elsewhere.data.exists()


async def test_a_folder_whose_restore_was_cut_off_is_not_served_from(elsewhere: Settings, backup: Path) -> None:
    elsewhere.data.mkdir()
    (elsewhere.data / MARK).touch()
    with pytest.raises(Conflict, match="was cut off"):
        async with open_database(elsewhere):
            pass
    with pytest.raises(Conflict, match="is not empty"):
        restore_backup(elsewhere, backup)


def test_a_backup_that_is_killed_leaves_no_file_of_that_name(home: Settings, tmp_path: Path) -> None:
    target = tmp_path / "killed.tar"
    script = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from tributary.backup.making import make_backup\nfrom tributary.settings import Settings\n"
        "def told(what):\n    if what.startswith('Writing file'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "make_backup(Settings(data=Path(sys.argv[1]), database_url=None), Path(sys.argv[2]), told=told)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, home.data, target], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    make_backup(home, target)
    assert check_backup(target).files == 1


def test_a_backup_that_fails_leaves_nothing_behind(
    home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set((home.files / "incoming").iterdir())
    monkeypatch.setattr(ArchiveWriter, "add_database", full_disk)
    with pytest.raises(DependencyUnavailable, match="No space left"):
        make_backup(home, tmp_path / "full.tar")
    assert list(tmp_path.iterdir()) == []
    assert set((home.files / "incoming").iterdir()) == before


def full_disk(*_: object) -> None:
    raise OSError(28, os.strerror(28))


def test_a_target_that_can_not_be_written_or_exists_is_told(home: Settings, backup: Path, tmp_path: Path) -> None:
    with pytest.raises(DependencyUnavailable, match="can't be written"):
        make_backup(home, tmp_path / "missing" / "backup.tar")
    data = backup.read_bytes()
    with pytest.raises(Conflict, match="overwrites nothing"):
        make_backup(home, backup)
    assert backup.read_bytes() == data


def test_what_is_not_the_embedded_default_is_refused(home: Settings, tmp_path: Path, elsewhere: Settings) -> None:
    external = Settings(data=home.data, database_url="postgresql://somewhere/else")
    with pytest.raises(Conflict, match="use pg_dump"):
        make_backup(external, tmp_path / "backup.tar")
    with pytest.raises(Conflict, match="use pg_restore"):
        restore_backup(external, tmp_path / "backup.tar")
    with pytest.raises(Conflict, match="nothing to back up"):
        make_backup(elsewhere, tmp_path / "backup.tar")
    with pytest.raises(NotFound):
        restore_backup(elsewhere, tmp_path / "none.tar")


def test_a_document_that_is_deleted_while_the_backup_looks_is_in_it_whole_or_not_at_all(
    home: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is deleted between the moment of the database and the look at its files, as its row is."""
    key, pin = "documents/a/fleeting", Pins.pin
    rounds: list[set[str]] = []
    path = store(home, key)
    with EmbeddedPostgres(home.data / "postgres") as embedded, psycopg.connect(embedded.dsn, autocommit=True) as rows:
        rows.execute("UPDATE documents SET storage_key = %s", (key,))

        def pin_late(self: Pins, keys: Iterator[str]) -> set[str]:
            if not rounds:
                rows.execute("UPDATE documents SET storage_key = 'documents/a/1'")
                path.unlink()
            rounds.append(pin(self, keys))
            return rounds[-1]

        monkeypatch.setattr(Pins, "pin", pin_late)
        manifest = make_backup(home, tmp_path / "backup.tar")
    assert rounds == [{key}, set()]
    assert manifest.missing == []
    assert [name for name in names(tmp_path / "backup.tar") if name.startswith(FILES)] == ["files/documents/a/1"]


def test_a_file_that_was_lost_before_is_told_and_holds_nothing_up(home: Settings, tmp_path: Path) -> None:
    path = store(home, "documents/a/1")
    path.rename(tmp_path / "taken")
    try:
        manifest = make_backup(home, tmp_path / "backup.tar")
    finally:
        (tmp_path / "taken").rename(path)
    assert manifest.missing == ["documents/a/1"]
    assert check_backup(tmp_path / "backup.tar").files == 0
