"""Sentences of all scripts, with exact offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Smith paid $3.50 for No. 5.", "He left at 5 p.m.", "The U.S. Army came."],
        ["See Fig. 3 and p. 12.", "Then e.g. this.", "Is it (see etc.) here?", "No.", "The end."],
        ['"Really?" she said.', '"Yes."', "He went!", "Wait... what?"],
        ["Python 3.11 is required.", "Visit example.com. It is free.", "J. R. Smith wrote it."],
        ["Am 3. Oktober 2023 gilt die Regel.", "Sie gilt z. B. für Ärzte.", "Im Jahr 2020. Danach nicht."],
        ["Он родился в 1999 г. в Москве.", "См. рис. 5 и стр. 7.", "Да!", "Нет."],
        ["El Sr. García pagó.", "¿Cuánto?", "¡Mucho!"],
        ["M. Dupont arrive.", "Qui est-ce ?", "« Moi. »"],
        ["يعمل النظام جيدا.", "هل هذا صحيح؟", "نعم."],
        ["यह पहला वाक्य है।", "यह दूसरा है।"],
        ["The claim was proven.[12]", "Another one followed."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(expected: list[str]) -> None:
    found = sentences(" ".join(expected))
    assert " ".join(found) == " ".join(expected)
    merged = {"Visit example.com. It is free.", "Im Jahr 2020. Danach nicht."}
    assert [part for part in found if part in expected] == [part for part in expected if part not in merged]


def test_scripts_without_spaces_end_at_their_own_marks() -> None:
    assert sentences("他说：“好。”今天３．５度！真的？是的。") == ["他说：“好。”", "今天３．５度！", "真的？", "是的。"]
    assert sentences("「行く。」と言った。次の日。") == ["「行く。」と言った。", "次の日。"]


def test_thai_is_cut_at_spaces_once_a_phrase_is_long() -> None:
    phrase = "ประโยคนี้ยาวพอที่จะเป็นประโยคหนึ่งได้โดยไม่ต้องมีเครื่องหมายวรรคตอนใด"
    assert sentences(f"{phrase} {phrase} สั้น") == [phrase, phrase, "สั้น"]
    assert sentences("สั้น มาก") == ["สั้น มาก"]


def test_markdown_lines_stay_apart() -> None:
    text = """# Title
Some text goes
on here. And more.

- item one. Second sentence.
- item two
  goes on
1. first
| a | b |
|---|---|
| 1 | 2 |
```python
x = 1. Then = 2

return x
```
After it."""
    assert sentences(text) == [
        "# Title",
        "Some text goes\non here.",
        "And more.",
        "- item one.",
        "Second sentence.",
        "- item two\n  goes on",
        "1. first",
        "| a | b |",
        "|---|---|",
        "| 1 | 2 |",
        "```python",
        "x = 1. Then = 2",
        "return x",
        "```",
        "After it.",
    ]


def test_a_title_line_of_a_typeset_page_is_no_part_of_the_sentence_below() -> None:
    text = (
        "Northwind Standard \n"
        "Northwind Standard is a basic plan that provides coverage for medical, vision, and dental \n"
        "services. It does not cover emergencies, which many people \n"
        "need most."
    )
    assert sentences(text) == [
        "Northwind Standard",
        "Northwind Standard is a basic plan that provides coverage for medical, vision, and dental \nservices.",
        "It does not cover emergencies, which many people \nneed most.",
    ]


def test_an_unclosed_fence_keeps_its_lines_apart_to_the_end() -> None:
    assert sentences("~~~\na. B\n```\nc") == ["~~~", "a. B", "```", "c"]


@pytest.mark.parametrize(
    "unit",
    ["a", ".", ". ", "(\n", "[1]", "\t |", "`", "- ", "ก ", "1.", "a\n", '."', "。", "=", " -", "> ", "A. ", "{\n"],
)
def test_hostile_repetition_takes_linear_time(unit: str) -> None:
    # Quadratic time would take minutes, which the suite does not wait for.
    text = unit * (60_000 // len(unit)) + "x"
    spans = sentence_spans(text)
    assert spans[-1][1] == len(text)


# Random characters hardly ever meet a rule; these do.
_PIECES = [
    "Dr. ",
    "e.g. ",
    "3.",
    " \n",
    "\n\n",
    "# ",
    "- ",
    "| a | b |\n",
    "```",
    "。」",
    "? ",
    "A",
    "b",
    "ก ",
    "...",
    "[1]",
    '"',
]


@given(st.one_of(st.text(), st.lists(st.sampled_from(_PIECES)).map("".join)))
def test_spans_hold_every_visible_character_once_and_in_order(text: str) -> None:
    spans = sentence_spans(text)
    covered = [False] * len(text)
    end_before = 0
    for start, end in spans:
        assert end_before <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        covered[start:end] = [True] * (end - start)
        end_before = end
    assert all(covered[at] or character.isspace() for at, character in enumerate(text))
