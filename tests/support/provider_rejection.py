"""What a provider refuses, before it is put into that provider's error shape."""

import base64
import binascii
from dataclasses import dataclass


@dataclass
class Rejection(Exception):
    """A request that the real provider answers with 4xx."""

    message: str
    status: int = 400
    param: str | None = None
    code: str | None = None

    def __post_init__(self) -> None:
        super().__init__(self.message)


_SIGNATURES: dict[str, tuple[bytes, ...]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF8",),
    "image/webp": (b"RIFF",),
    "application/pdf": (b"%PDF-",),
    "mp3": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xe3", b"\xff\xfa"),
    "wav": (b"RIFF", b"RF64", b"RIFX"),
}
_SIGNATURES |= {"audio/mp3": _SIGNATURES["mp3"], "audio/mpeg": _SIGNATURES["mp3"], "audio/wav": _SIGNATURES["wav"]}


def decoded(data: object) -> bytes | None:
    """The bytes of standard base64, or None where it isn't."""
    if not isinstance(data, str) or not data:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def looks_like(kind: str, data: bytes) -> bool:
    """Whether the bytes begin as a file of this content type (or audio format) does."""
    return data.startswith(_SIGNATURES[kind])
