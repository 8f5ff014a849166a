"""Files that a user sends with a message."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from typing_extensions import TypedDict

MEGABYTE = 2**20
MAX_FILE_BYTES = 50 * MEGABYTE
MAX_FILES = 5
#: What a model call may carry (SPEC §4): of one file, and of all files of a message together.
MAX_SENT_FILE_BYTES = 2 * MEGABYTE
MAX_SENT_TOTAL_BYTES = 5 * MEGABYTE


class Modality(StrEnum):
    """How a file is treated: which branches it takes and what a model must accept to get it."""

    IMAGE = "image"
    PDF = "pdf"
    TEXT = "text"
    AUDIO = "audio"


class FileType(StrEnum):
    """The accepted types; the value is the true content type, whatever the sender declared."""

    JPEG = "image/jpeg"
    PNG = "image/png"
    WEBP = "image/webp"
    PDF = "application/pdf"
    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    MP3 = "audio/mpeg"
    WAV = "audio/wav"

    @property
    def modality(self) -> Modality:
        return _MODALITIES[self]


_MODALITIES = {
    FileType.JPEG: Modality.IMAGE,
    FileType.PNG: Modality.IMAGE,
    FileType.WEBP: Modality.IMAGE,
    FileType.PDF: Modality.PDF,
    FileType.TEXT: Modality.TEXT,
    FileType.MARKDOWN: Modality.TEXT,
    FileType.MP3: Modality.AUDIO,
    FileType.WAV: Modality.AUDIO,
}


@dataclass(frozen=True, slots=True)
class Attachment:
    """A stored file. `storage_key` is ours; `filename` is the user's and only ever shown."""

    id: UUID
    organisation_id: UUID
    filename: str
    file_type: FileType
    size: int
    sha256: str
    storage_key: str
    on_s3: bool
    created_at: datetime
    conversation_id: UUID | None = None


class AttachmentClaim(TypedDict, total=False):
    """What a caller sends to use a file: its id, and the access token unless the conversation owns it."""

    id: str
    accessToken: str


class AttachedFile(TypedDict):
    """A validated attachment as the state carries it: names, not bytes."""

    id: str
    filename: str
    contentType: str
    modality: str
    size: int
    storageKey: str


def human_size(size: int) -> str:
    """`size` bytes as people read it: `980 B`, `3.2 MB`; 1 MB is 2^20 bytes."""
    value = float(size)
    for unit in ("B", "KB", "MB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GB"
