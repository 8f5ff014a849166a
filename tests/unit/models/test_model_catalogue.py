from pathlib import Path
from typing import Any

import pytest

from tributary.models.catalogue import Capabilities, Catalogue, read_catalogue, write_catalogue

URL = "https://openrouter.test/models"


def _parse(*entries: Any) -> Catalogue:
    return Catalogue.parse({"data": list(entries)}, url=URL, fetched_at=1.0)


def _entry(**fields: Any) -> dict[str, Any]:
    return {"id": "a/b", "context_length": 8_000, "architecture": {"input_modalities": ["text"]}, **fields}


@pytest.mark.parametrize(
    ("architecture", "images", "pdfs", "audio"),
    [
        ({"input_modalities": ["text", "image"]}, True, False, False),
        ({"input_modalities": ["FILE", "Audio"]}, False, True, True),
        ({"input_modalities": []}, False, False, False),
        ({"input_modalities": None, "modality": "text+image->text+image"}, True, False, False),
        ({"input_modalities": [None, 3], "modality": "text+image->text"}, False, False, False),
        ({"modality": "text->text+image"}, False, False, False),
        ({}, False, False, False),
        (None, False, False, False),
        ("text+image", False, False, False),
    ],
)
def test_modalities_are_read_from_every_shape(architecture: Any, images: bool, pdfs: bool, audio: bool) -> None:
    found = _parse(_entry(architecture=architecture)).find("a/b")

    assert found is not None
    assert (found.images, found.pdfs, found.audio) == (images, pdfs, audio)


@pytest.mark.parametrize(
    ("length", "top", "tokens"),
    [
        (8_000, None, 8_000),
        ("8000", None, 8_000),
        (8_000.0, None, 8_000),
        (None, {"context_length": 9_000}, 9_000),
        (0, {"context_length": 9_000}, 9_000),
        (True, {}, 4_096),
        (float("inf"), {}, 4_096),
        ("many", [], 4_096),
        (-5, {"context_length": -1}, 4_096),
    ],
)
def test_a_window_is_read_from_every_shape(length: Any, top: Any, tokens: int) -> None:
    found = _parse(_entry(context_length=length, top_provider=top)).find("a/b")

    assert found is not None
    assert found.context_tokens == tokens


def test_a_model_is_found_by_id_by_canonical_slug_and_as_a_variant() -> None:
    catalogue = _parse(
        _entry(id="a/b", canonical_slug="a/b-20250101"), _entry(id="a/b:free", context_length=4_000), {"id": 7}, None
    )

    for slug, tokens in (("a/b", 8_000), ("a/b-20250101", 8_000), ("a/b:nitro", 8_000), ("a/b:free", 4_000)):
        found = catalogue.find(slug)
        assert found is not None
        assert found.context_tokens == tokens
    assert catalogue.find("a/c") is None


@pytest.mark.parametrize("body", [None, [], {}, {"data": None}, {"data": []}, {"data": [{"name": "x"}]}])
def test_a_list_without_a_model_is_no_list(body: Any) -> None:
    with pytest.raises(ValueError, match="without a model"):
        Catalogue.parse(body, url=URL, fetched_at=1.0)


def test_a_kept_list_reads_as_it_was_written(tmp_path: Path) -> None:
    catalogue = _parse(_entry(), _entry(id="c/d", top_provider={"max_completion_tokens": 512}))
    path = tmp_path / "deep" / "capabilities.json"

    write_catalogue(path, catalogue)

    assert read_catalogue(path, URL) == catalogue
    assert read_catalogue(path, "https://elsewhere.test/models") is None
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_no_kept_list_is_none(tmp_path: Path) -> None:
    assert read_catalogue(tmp_path / "none.json", URL) is None


def test_text_is_accepted_by_every_model() -> None:
    nothing = Capabilities(images=False, pdfs=False, audio=False, context_tokens=1)

    assert nothing.max_output_tokens is None
