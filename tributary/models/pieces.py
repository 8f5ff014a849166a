"""Text that arrives in pieces, as it can be stored and sent."""

import re

_HALVES = re.compile("[\x00\ud800-\udfff]")
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_ABSENT = "\ufffd"


class PieceJoiner:
    """Puts characters together whose halves came in two pieces, as servers that count in UTF-16 cut them. A half that
    stays alone, and NUL, have no form in JSON or a database: they become U+FFFD. What is given out, joined, does not
    depend on where the text was cut."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """The text that is certain so far: without a half at its end."""
        if not self._half and (piece.isascii() and "\x00" not in piece):
            return piece
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return _HALVES.sub(_ABSENT, _PAIR.sub(_joined, text))

    def finish(self) -> str:
        """What stands for a half that is left."""
        left, self._half = self._half, ""
        return _ABSENT if left else ""


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")
