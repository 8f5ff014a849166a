"""The words of a reply around what it quotes."""

from collections.abc import Sequence
from itertools import groupby

from tributary.models.local.extractive.candidates import Candidate
from tributary.models.local.extractive.prompt import Passage, Prompt

NOTICE = "— local/extractive, the local default model: it quotes its sources and adds nothing of its own."
NOTHING_FOUND = "I found nothing in the sources that answers this question."
NOTHING_GIVEN = "I have nothing to answer this question from: no source and no text file came with it."
_TITLES = 5


def answer(prompt: Prompt, quotes: Sequence[Candidate], passages: Sequence[Passage]) -> str:
    """The quoted sentences, each with its citation, a paragraph a passage."""
    paragraphs = [
        " ".join(f"{quote.text} {citation(passages[number])}" for quote in group)
        for number, group in groupby(quotes, key=lambda quote: quote.passage)
    ]
    return _whole(prompt, paragraphs)


def overview(prompt: Prompt, summaries: Sequence[tuple[Passage, str]]) -> str:
    """Summaries of passages, each with its citation."""
    return _whole(prompt, [f"{summary} {citation(passage)}" for passage, summary in summaries])


def refusal(prompt: Prompt) -> str:
    """That there is no answer, with the documents that are known instead."""
    given = prompt.sources or prompt.files
    titles = "; ".join(prompt.titles[:_TITLES]) + ("; …" if len(prompt.titles) > _TITLES else "")
    known = [f"The documents I know of: {titles}."] if titles else []
    return _whole(prompt, [NOTHING_FOUND if given else NOTHING_GIVEN, *known])


def citation(passage: Passage) -> str:
    """`[2]` for a source, `(notes.txt)` for an attached file."""
    return f"({passage.name})" if passage.number is None else f"[{passage.number}]"


def _whole(prompt: Prompt, paragraphs: Sequence[str]) -> str:
    unread = ", ".join(dict.fromkeys(prompt.unread))
    notes = [f"I take text only and could not read: {unread}."] if unread else []
    return "\n\n".join((*paragraphs, *notes, NOTICE))
