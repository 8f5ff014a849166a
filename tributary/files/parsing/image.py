"""Pictures as documents: their text is the caption that the file itself carries.

The name under which people know the picture is added by `tributary.files.parsing.registry.parse_document`; what
it shows is found by image search, from its vector.
"""

import struct
from pathlib import Path

from PIL import Image, ImageFile, IptcImagePlugin

from tributary.domain.knowledge import ParsedDocument
from tributary.files.images import check_image, image_type

_MAX_CAPTION = 4_000
_EXIF_DESCRIPTION = 0x010E
#: Written by Windows: title, comment, subject; UTF-16 in a field of bytes.
_EXIF_WINDOWS_TITLE = 0x9C9B
_EXIF_WINDOWS_TEXTS = (0x9C9C, 0x9C9F)
_IPTC_TITLE = (2, 5)
_IPTC_CAPTION = (2, 120)
#: What cameras write into the description by themselves.
_CAMERA_WORDS = ("OLYMPUS DIGITAL CAMERA", "SONY DSC", "MINOLTA DIGITAL CAMERA", "KODAK Digital Still Camera", "DCIM")


def parse_image(path: Path) -> ParsedDocument:
    """The picture's title and caption from its metadata, either of which may be empty.

    Raises:
        DamagedFile: it is no JPEG, PNG or WebP, or can't be decoded to its end.
        FileTooLarge: it has too many pixels.
    """
    with path.open("rb") as file:
        file_type = image_type(file.read(16))
    check_image(path, file_type)
    with Image.open(path) as image:
        titles = [_clean(text) for text in _titles(image)]
        captions = [_clean(text) for text in _captions(image)]
    title = next(filter(None, titles), "")
    caption = next((text for text in captions if text and text != title), "")
    return ParsedDocument(text=caption, title=title[:200])


def _titles(image: ImageFile.ImageFile) -> list[object]:
    texts = _texts(image)
    return [texts.get("Title"), _iptc(image).get(_IPTC_TITLE), _exif(image).get(_EXIF_WINDOWS_TITLE)]


def _captions(image: ImageFile.ImageFile) -> list[object]:
    texts = _texts(image)
    exif = _exif(image)
    windows = [exif.get(tag) for tag in _EXIF_WINDOWS_TEXTS]
    return [
        texts.get("Description"),
        _iptc(image).get(_IPTC_CAPTION),
        exif.get(_EXIF_DESCRIPTION),
        *windows,
        texts.get("Comment"),
    ]


def _texts(image: ImageFile.ImageFile) -> dict[str, object]:
    """The text chunks of a PNG, which may stand behind frames that are broken."""
    try:
        return dict(getattr(image, "text", {}))
    except (OSError, SyntaxError, ValueError, EOFError):
        return {}


def _exif(image: Image.Image) -> dict[int, object]:
    """Nothing where the metadata is broken: the picture is still a picture."""
    try:
        return dict(image.getexif())
    except (OSError, SyntaxError, ValueError, KeyError, TypeError, IndexError, struct.error):
        return {}


def _iptc(image: ImageFile.ImageFile) -> dict[tuple[int, int], object]:
    try:
        return dict(IptcImagePlugin.getiptcinfo(image) or {})
    except (OSError, SyntaxError, ValueError, KeyError, TypeError, IndexError, struct.error):
        return {}


def _clean(value: object) -> str:
    """Metadata as text on one line; nothing where it is none or a camera's own words."""
    if isinstance(value, tuple | list) and value and all(isinstance(part, int) for part in value):
        value = bytes(value)
    if isinstance(value, bytes):
        value = _decoded(value)
    if not isinstance(value, str):
        return ""
    text = " ".join("".join(each if each.isprintable() else " " for each in value).split())[:_MAX_CAPTION]
    return "" if text.startswith(_CAMERA_WORDS) else text


def _decoded(data: bytes) -> str:
    if b"\x00" in data.rstrip(b"\x00"):
        return data.decode("utf-16-le", errors="ignore")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
