"""Whether a file is what its first bytes say: decoded far enough to know, in a process that can be killed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tributary.domain.attachments import FileType, Modality
from tributary.domain.errors import DamagedFile, EmptyFile
from tributary.files.sniff import UNKNOWN, sniff, unsupported

if TYPE_CHECKING:
    from tributary.files.sandbox import Sandbox  # not loaded in the child

#: Seconds for one file. The slowest sound file known here (117 pages, 50 MB of legacy text) takes under two.
TIME_LIMIT = 20.0
#: A text of which more than this share can't be read in its encoding is none.
MOST_UNREADABLE = 0.02


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What was learnt from the bytes: pages of a PDF, pixels of an image as it is meant to be seen, length of audio
    in seconds, the Python codec of a text."""

    file_type: FileType
    pages: int | None = None
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    encoding: str | None = None


async def inspect_file(path: Path, filename: str, sandbox: "Sandbox") -> FileFacts:
    """Looks into a stored file. `filename` is the user's and only tells Markdown from plain text.

    Raises:
        EmptyFile: there are no bytes.
        UnsupportedType: it is of another type; `detail` names it and what is accepted.
        FileTooLarge: a picture of too many pixels.
        DamagedFile: it can't be decoded, or not within `TIME_LIMIT` and the sandbox's memory.
    """
    return await sandbox.run(check_file, path, filename, timeout=TIME_LIMIT)


def check_file(path: Path, filename: str) -> FileFacts:
    """What `inspect_file` runs in the sandbox."""
    with path.open("rb") as file:
        file_type = sniff(file, filename)
    match file_type.modality:
        case Modality.IMAGE:
            from tributary.files.images import check_image

            width, height = check_image(path, file_type)
            return FileFacts(file_type, width=width, height=height)
        case Modality.PDF:
            from tributary.files.pages import pdf_pages

            return FileFacts(file_type, pages=pdf_pages(path))
        case Modality.AUDIO:
            from tributary.files.audio import mp3_seconds, wav_seconds

            seconds = mp3_seconds(path) if file_type is FileType.MP3 else wav_seconds(path)
            return FileFacts(file_type, seconds=round(seconds, 3))
        case Modality.TEXT:
            return FileFacts(file_type, encoding=_check_text(path))


def _check_text(path: Path) -> str:
    """The encoding of a text whose every byte was decoded."""
    from tributary.files.text import detect_encoding, holds_binary

    data = path.read_bytes()
    encoding = detect_encoding(data)
    text = data.decode(encoding, errors="replace")
    del data
    if holds_binary(text):
        raise unsupported(UNKNOWN)
    if text.count("\ufffd") > MOST_UNREADABLE * len(text):
        raise DamagedFile("The text can't be read: too many bytes are wrong in its encoding.")
    if not text.strip("\ufeff"):
        raise EmptyFile("The file holds the mark of an encoding and no text.")
    return encoding
