"""Which texts can be kept, and what becomes of the others."""

from typing import Any

import pytest

from stores.postgres.jsonb import as_jsonb
from stores.texts import require_storable, storable
from tributary.domain.errors import InvalidRequest


@pytest.mark.parametrize("text", ["", "ß 💧 \u202e \x01", "\ufffd", r"\u0000"])
def test_text_that_can_be_kept_passes_unchanged(text: str) -> None:
    require_storable(text)
    assert storable(text) == text


@pytest.mark.parametrize("text", ["a\x00", "\ud83d", "\udca7 alone"])
def test_nul_and_half_a_surrogate_pair_are_the_callers_error(text: str) -> None:
    with pytest.raises(InvalidRequest):
        require_storable("fine", text)


def test_what_can_not_be_kept_is_marked_wherever_it_stands() -> None:
    value = {"a\x00": ["\ud800", {"b": ("c\x00", 1, None, True, 0.5)}]}
    assert storable(value) == {"a�": ["�", {"b": ["c�", 1, None, True, 0.5]}]}


def dumped(value: Any) -> bytes:
    parameter = as_jsonb(value)
    assert parameter.dumps is not None
    written = parameter.dumps(value)
    assert isinstance(written, bytes)
    return written


def test_json_is_written_with_marks_for_what_can_not_be_kept() -> None:
    assert dumped({"a": "x\x00"}) == '{"a":"x�"}'.encode()
    assert dumped(["\ud800"]) == '["�"]'.encode()


def test_json_that_speaks_of_nul_is_left_as_it_is() -> None:
    assert dumped([r"\u0000"]) == rb'["\\u0000"]'


def test_a_value_that_is_no_json_is_a_bug() -> None:
    with pytest.raises(TypeError):
        dumped({"a": object()})
