"""Multipart bodies, cut anywhere."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request

from tributary.domain.errors import InvalidRequest, TooManyFiles
from tributary.routes.multipart import Form, receive_form

BOUNDARY = "xxBOUNDARYxx"


def part(disposition: str, content: bytes) -> bytes:
    return f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"


def request(body: bytes, size: int = 7, content_type: str = f"multipart/form-data; boundary={BOUNDARY}") -> Request:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": pieces.pop(0) if pieces else b"", "more_body": bool(pieces)}

    return Request({"type": "http", "headers": [(b"content-type", content_type.encode())]}, receive)


async def read(
    folder: Path, *parts: bytes, size: int = 7, end: bytes = f"--{BOUNDARY}--\r\n".encode(), max_files: int = 3
) -> Form:
    return await receive_form(request(b"".join(parts) + end, size), folder, max_files=max_files, max_bytes=100)


async def test_files_and_fields_are_read_in_order(tmp_path: Path) -> None:
    form = await read(
        tmp_path,
        part('name="title"', "Größe".encode()),
        part('name="files"; filename="a.txt"', b"first"),
        part('name="files"; filename="b.txt"', b"--" + BOUNDARY.encode()[:5] + b"\r\n second"),
    )
    assert form.fields == {"title": "Größe"}
    assert [file.filename for file in form.files] == ["a.txt", "b.txt"]
    assert [file.path.read_bytes() for file in form.files] == [b"first", b"--xxBOU\r\n second"]
    form.discard()
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(min_size=1, max_size=60), size=st.integers(1, 40))
async def test_bytes_come_through_however_the_body_was_cut(tmp_path: Path, content: bytes, size: int) -> None:
    form = await read(tmp_path, part('name="files"; filename="a"', content), size=size)
    assert form.files[0].path.read_bytes() == content
    form.discard()


async def test_a_file_over_the_limit_is_refused_alone(tmp_path: Path) -> None:
    form = await read(
        tmp_path, part('name="files"; filename="big"', b"x" * 101), part('name="files"; filename="ok"', b"y" * 100)
    )
    assert [file.error.code if file.error else "" for file in form.files] == ["file_too_large", ""]
    assert [path.name for path in tmp_path.iterdir()] == [form.files[1].path.name]


async def test_an_empty_file_does_not_swallow_the_one_behind_it(tmp_path: Path) -> None:
    form = await read(tmp_path, part('name="files"; filename="e"', b""), part('name="files"; filename="f"', b"x"))
    assert [file.error.code if file.error else "" for file in form.files] == ["empty_file", ""]


async def test_too_many_files_are_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(TooManyFiles, match="At most 3 files at a time; 5 were sent"):
        await read(tmp_path, *(part(f'name="files"; filename="{n}"', b"x") for n in range(5)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("disposition", "shown"),
    [
        ('name="files"; filename="a%22b.txt"', 'a"b.txt'),
        ("name=\"files\"; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt", "grüße.txt"),
        ('name="files"; filename="../x/y.txt"', "y.txt"),
        ('name="files"; filename=""', "file"),
    ],
)
async def test_names_are_read_as_clients_write_them(tmp_path: Path, disposition: str, shown: str) -> None:
    assert (await read(tmp_path, part(disposition, b"x"))).files[0].filename == shown


async def test_a_body_that_ends_too_early_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="ends before its last part"):
        await read(tmp_path, part('name="files"; filename="a"', b"x"), end=b"")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data", "multipart/mixed; boundary=x"])
async def test_another_content_type_is_refused(tmp_path: Path, content_type: str) -> None:
    with pytest.raises(InvalidRequest):
        await receive_form(request(b"{}", content_type=content_type), tmp_path, max_files=1, max_bytes=1)


async def test_a_form_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="no file in the field"):
        await read(tmp_path, part('name="title"', b"x"))
    with pytest.raises(InvalidRequest, match="belong in the field"):
        await read(tmp_path, part('name="other"; filename="a"', b"x"))


async def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    async def receive() -> dict[str, Any]:
        if not started:
            started.append(True)
            return {"type": "http.request", "body": part('name="files"; filename="a"', b"x")[:-2], "more_body": True}
        return {"type": "http.disconnect"}

    started: list[bool] = []
    headers = [(b"content-type", f"multipart/form-data; boundary={BOUNDARY}".encode())]
    with pytest.raises(ClientDisconnect):
        await receive_form(Request({"type": "http", "headers": headers}, receive), tmp_path, max_files=1, max_bytes=99)
    assert list(tmp_path.iterdir()) == []
