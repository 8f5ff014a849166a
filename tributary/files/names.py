"""File names: shown as their owners gave them, safe in every place that shows them. Storage keys are never names."""

import unicodedata
from urllib.parse import quote

MAX_NAME_BYTES = 255
MAX_SUFFIX_BYTES = 20
NAMELESS = "file"

#: Marks that turn the direction of what follows: `exe.gpj` must not show as `jpg.exe`. Line and paragraph separators
#: end a line as LF does; the byte order mark and tags are invisible.
_HIDDEN = frozenset("\u061c\u200b\u200e\u200f\u2028\u2029\u2060\ufeff") | frozenset(
    chr(code) for span in ((0x202A, 0x202F), (0x2066, 0x2070), (0xE0000, 0xE0080)) for code in range(*span)
)
#: Joiners are part of emoji and of Indic and Persian words, but nothing at the end of a name.
_JOINERS = "\u200c\u200d"
#: Characters that RFC 5987 allows unescaped besides letters and digits.
_ATTR_CHARS = "!#$&+-.^_`|~"


def display_name(raw: str | None) -> str:
    """The name to show and to send back for a file that a client called `raw`: one line of at most 255 bytes in
    UTF-8, without path, controls and direction marks; `file` where nothing is left. Two names may become one."""
    name = unicodedata.normalize("NFC", _last_part(raw or ""))
    name = "".join(character for character in name if _shown(character)).strip()
    if not name.strip("." + _JOINERS + " "):
        return NAMELESS
    return _shortened(name)


def content_disposition(filename: str) -> str:
    """The value of `Content-Disposition` for a download under this name (RFC 6266): an ASCII stand-in for old clients
    and, where that differs, the name itself in UTF-8."""
    plain = unicodedata.normalize("NFKD", filename)
    fallback = "".join(_quotable(character) for character in plain if not unicodedata.combining(character))
    header = f'attachment; filename="{fallback}"'
    if fallback == filename:
        return header
    encoded = quote(filename.encode("utf-8", errors="replace"), safe=_ATTR_CHARS)
    return f"{header}; filename*=UTF-8''{encoded}"


def _last_part(raw: str) -> str:
    parts = [part for part in raw.replace("\\", "/").split("/") if part.strip()]
    return parts[-1] if parts else ""


def _shown(character: str) -> bool:
    return character not in _HIDDEN and unicodedata.category(character) not in {"Cc", "Cs"}


def _quotable(character: str) -> str:
    """What stands for a character within quotes: a percent sign there is decoded by some browsers."""
    return character if character.isascii() and character.isprintable() and character not in '"\\%' else "_"


def _shortened(name: str) -> str:
    """At most 255 bytes, cut before the extension."""
    if len(name.encode()) <= MAX_NAME_BYTES:
        return name
    stem, dot, extension = name.rpartition(".")
    suffix = dot + extension
    if not stem or len(suffix.encode()) > MAX_SUFFIX_BYTES:
        stem, suffix = name, ""
    kept = stem.encode()[: MAX_NAME_BYTES - len(suffix.encode())].decode(errors="ignore")
    return kept.rstrip(_JOINERS + " ") + suffix
