"""What a conversation is called at first."""

import pytest

from stores.titles import MAX_TITLE, title_of


@pytest.mark.parametrize(
    ("content", "files", "title"),
    [
        ("What is this?", [], "What is this?"),
        ("  two\n\n lines\t here ", [], "two lines here"),
        ("", ["plan.pdf", "b.txt"], "plan.pdf"),
        (" \n", ["", "b.txt"], "b.txt"),
        ("words", ["plan.pdf"], "words"),
        ("", [], "New conversation"),
        ("x" * MAX_TITLE, [], "x" * MAX_TITLE),
        ("x" * (MAX_TITLE + 1), [], "x" * (MAX_TITLE - 1) + "…"),
    ],
)
def test_a_title_is_the_beginning_of_what_was_sent(content: str, files: list[str], title: str) -> None:
    assert title_of(content, [{"filename": name} for name in files]) == title
