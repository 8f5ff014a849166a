"""What a state that somebody edits can reach: nothing of another organisation's."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stores.blobs.disk import DiskBlobs
from tributary.domain.errors import NotFound
from tributary.domain.ids import new_id
from tributary.studio import graphs
from tributary.studio.opened import OpenedServices
from tributary.studio.ports import OwnBlobs, OwnPictures, require_own

MINE, THEIRS = new_id(), new_id()
OWN, OTHER = f"attachments/{MINE}/{new_id()}", f"attachments/{THEIRS}/{new_id()}"


@pytest.fixture
async def blobs(tmp_path: Path) -> OwnBlobs:
    every = DiskBlobs(tmp_path / "files")
    for key in (OWN, OTHER):
        file = tmp_path / "file"
        file.write_bytes(key.encode())
        await every.put_file(key, file)
    return OwnBlobs(every, MINE)


async def test_bytes_are_read_under_the_organisations_keys_alone(blobs: OwnBlobs) -> None:
    assert await blobs.get(OWN) == OWN.encode()
    with pytest.raises(NotFound):
        await blobs.get(OTHER)
    with pytest.raises(NotFound):
        blobs.stream(OTHER)
    with pytest.raises(NotFound):
        await blobs.delete([OWN, OTHER])
    assert await blobs.get(OWN) == OWN.encode(), "nothing is deleted where one key is another's"


async def test_a_picture_that_is_kept_is_given_to_its_own_organisation_alone() -> None:
    class Kept:
        async def prepared(self, key: str, load: Callable[[], Awaitable[bytes]], *, max_bytes: int) -> Any:
            return key

    async def nothing() -> bytes:
        return b""

    pictures = OwnPictures(Kept(), MINE)
    assert await pictures.prepared(OWN, nothing, max_bytes=0) == OWN  # type: ignore[comparison-overlap]
    with pytest.raises(NotFound):
        await pictures.prepared(OTHER, nothing, max_bytes=0)


@pytest.mark.parametrize(
    "key", ["", "x", f"attachments/{MINE}", f"a/{MINE}/../{THEIRS}/x", f"{MINE}/a/b", f"/{MINE}//"], ids=range(6)
)
def test_what_is_no_key_of_ours_is_missing(key: str) -> None:
    with pytest.raises(NotFound):
        require_own(key, MINE)


def runtime(user: object, *, execution: bool) -> Any:
    def ensure_user() -> object:
        if user is None:
            raise PermissionError
        return user

    return SimpleNamespace(user=user, ensure_user=ensure_user, execution_runtime=object() if execution else None)


def test_a_run_works_for_who_signed_in_and_for_nobody_else() -> None:
    user = SimpleNamespace(identity=str(MINE))
    assert graphs._organisation_of(runtime(user, execution=True)) == MINE
    assert graphs._organisation_of(runtime(user, execution=False)) == MINE
    with pytest.raises(PermissionError):
        graphs._organisation_of(runtime(None, execution=True))
    assert graphs._organisation_of(runtime(None, execution=False)).int == 0, "a graph's shape is no secret"


async def test_services_are_opened_once_for_all_and_again_after_a_failure() -> None:
    calls = 0

    @asynccontextmanager
    async def opening(_: Any) -> AsyncIterator[Any]:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError("not yet")
        yield calls

    opened = OpenedServices(opening)
    with pytest.raises(OSError, match="not yet"):
        await opened.get()
    async with opened.closing(None) as services:  # type: ignore[arg-type]
        assert services is await opened.get()
    assert calls == 2
