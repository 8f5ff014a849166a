"""Titles that a file carries about itself: which of them a person wrote."""

import re

MAX_TITLE = 200
#: Titles that programs write by themselves: a file's name, "untitled", a template's.
_USELESS = re.compile(
    r"(?i)^(\(?(anonymous|unspecified)\)?|untitled.*"
    r"|unbenannt.*|title|document\d*|slide 1|presentation\d*"
    r"|(microsoft )?powerpoint[ -]presentation|microsoft word - .*"
    r"|.*\.(docx?|pptx?|xlsx?|pdf|indd|dvi|tex|rtf|odt|html?|txt))$"
)


def useful_title(raw: str) -> str:
    """The title on one line; nothing where a program made it up or it can't be read."""
    title = " ".join("".join(each if each.isprintable() else " " for each in raw).split())
    return "" if len(title) < 3 or _USELESS.match(title) or "\ufffd" in title else title[:MAX_TITLE]
