"""The kind of a document, guessed from its name and its form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.text.document_types import document_type

KINDS = {"manual", "report", "policy", "faq", "article", "code", "table", "notes", "image", "document"}
SENTENCE = "The harbour lay quiet under a sky that had not changed for days, and nobody spoke of leaving it. "


@pytest.mark.parametrize(
    ("filename", "kind"),
    [
        ("employee_handbook.pdf", "manual"),
        ("Privacy-Policy.md", "policy"),
        ("FAQ.txt", "faq"),
        ("annual report 2023.docx", "report"),
        ("meeting-notes.txt", "notes"),
        ("photo.JPG", "image"),
        ("prices.csv", "table"),
        ("main.py", "code"),
        ("Handbuch.pdf", "manual"),
        ("reporting-line.txt", "document"),
    ],
)
def test_a_name_can_tell(filename: str, kind: str) -> None:
    assert document_type("Some text.", filename) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", "table"),
        ("import os\n\ndef run():\n    x = 1\n    return os.path.join(x)\n", "code"),
        ("Who may join?\nAll may.\nWhen?\nOn Monday.\nWhat does it cost?\nNothing.", "faq"),
        ("- milk\n- bread\n- call Anna\n- rent\nlater", "notes"),
        ("1. Click Install and select a folder. 2. Press Next to configure it. 3. Click Finish.", "manual"),
        ("Employees must not share passwords. Violations of this policy lead to disciplinary action.", "policy"),
        ((SENTENCE * 12 + "\n\n") * 4, "article"),
        (SENTENCE, "document"),
        ("", "document"),
    ],
)
def test_a_form_can_tell(text: str, kind: str) -> None:
    assert document_type(text, "x.txt") == kind


@given(st.text(), st.text())
def test_any_text_and_name_give_one_of_the_kinds(text: str, filename: str) -> None:
    assert document_type(text, filename) in KINDS
