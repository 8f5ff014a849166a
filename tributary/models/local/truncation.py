"""Reading the beginning of a text. A model reads some hundred tokens, and a text may have megabytes."""

import re
from collections.abc import Callable, Sequence

_UNPAIRED = re.compile("[\ud800-\udfff]")

#: More characters than a token of usual text has: the first piece of a text nearly always fills the window.
_CHARACTERS_A_TOKEN = 16


def encodable(text: str) -> str:
    """The text without what tokenizers can't take: NUL goes, and lone surrogates, which have no UTF-8, become the
    replacement character."""
    return _UNPAIRED.sub("\ufffd", text.replace("\0", ""))


def first_tokens(text: str, limit: int, margin: int, tokenise: Callable[[str], Sequence[int]]) -> Sequence[int]:
    """The first `limit` tokens of a text, as if all of it had been tokenised.

    `margin`: how many tokens at the end of a piece may differ because it was cut there. Tokens can be as long as they
    like (runs of white space or of unknown characters), so the piece grows until it holds enough.
    """
    length = (limit + margin) * _CHARACTERS_A_TOKEN
    while length < len(text):
        tokens = tokenise(text[:length])
        if len(tokens) >= limit + margin:
            return tokens[:limit]
        length *= 4
    return tokenise(text)[:limit]
