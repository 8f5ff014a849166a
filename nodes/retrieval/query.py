"""The search query of a turn: the question, enhanced with the conversation before it (SPEC §3)."""

from collections.abc import Callable, Sequence

from tributary.text.words import keys, term_spans

RECENT = "Recent conversation: "
CURRENT = "Current query: "
#: The conversation weighs as much as this many words of the question.
_CONVERSATION_WORDS = 1.5


def recent_text(recent: Sequence[str]) -> str:
    """The messages before the question as one text, oldest first."""
    return " ".join(" ".join(message.split()) for message in recent if message.strip())


def enhanced_query(
    query: str, recent: Sequence[str], *, count_tokens: Callable[[Sequence[str]], list[int]], max_tokens: int
) -> str:
    """The text to embed. The conversation is shortened from its oldest end until the question fits whole; a question
    that fills the window alone stands alone."""
    before = recent_text(recent)
    if not before:
        return query
    room = max_tokens - sum(count_tokens([f"{CURRENT}{query}", RECENT]))
    kept = _newest_that_fit(before, room, count_tokens)
    return f"{RECENT}{kept}\n{CURRENT}{query}" if kept else query


def conversation_share(query: str) -> float:
    """How much of a question's meaning is to come from the conversation before it: all where the question names
    nothing ("and why?"), little where it stands by itself."""
    named = len(set(keys(query))) if term_spans(query) else 0
    return _CONVERSATION_WORDS / (_CONVERSATION_WORDS + named)


def _newest_that_fit(text: str, room: int, count_tokens: Callable[[Sequence[str]], list[int]]) -> str:
    """The longest end of `text`, in whole words, within `room` tokens; "" when not a quarter of a sentence fits."""
    if room < 8:
        return ""
    words = text.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high) // 2
        if count_tokens([" ".join(words[middle:])])[0] <= room:
            high = middle
        else:
            low = middle + 1
    return " ".join(words[low:])
