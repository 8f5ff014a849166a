"""Answers in pieces: whole characters, and nothing that can't be stored, wherever they were cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.models.pieces import PieceJoiner


def joined(*pieces: str) -> list[str]:
    joiner = PieceJoiner()
    return [*(joiner.feed(piece) for piece in pieces), joiner.finish()]


@pytest.mark.parametrize(
    ("pieces", "given_out"),
    [
        (("plain", " text"), ["plain", " text", ""]),
        (("Hi \ud83d", "\ude00 there"), ["Hi ", "😀 there", ""]),
        (("\ud83d", "", "\ude00"), ["", "", "😀", ""]),
        (("alone \ud83d", "x"), ["alone ", "�x", ""]),
        (("end \ud83d",), ["end ", "�"]),
        (("low \ude00",), ["low �", ""]),
        (("NUL\x00",), ["NUL�", ""]),
        (("whole 😀 and ü",), ["whole 😀 and ü", ""]),
        (("\ud83d\ude00\ud83d", "\ude01"), ["😀", "😁", ""]),
    ],
)
def test_halves_are_put_together_and_what_stays_alone_is_marked(pieces: tuple[str, ...], given_out: list[str]) -> None:
    assert joined(*pieces) == given_out


@given(st.lists(st.sampled_from(["a", "ü", "😀", "\ud83d", "\ude00", "\x00"]), max_size=12), st.data())
def test_the_text_does_not_depend_on_where_it_was_cut(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = "".join(joined(text))
    assert "".join(joined(*pieces)) == whole
    whole.encode()
