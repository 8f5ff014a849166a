"""Which files the model gets (SPEC §4): pure rules over types, sizes and the model's capabilities."""

from collections.abc import Sequence

from nodes.chat.state import Delivery
from tributary.domain.attachments import (
    MAX_SENT_FILE_BYTES,
    MAX_SENT_TOTAL_BYTES,
    AttachedFile,
    Modality,
    human_size,
)
from tributary.domain.conversations import NotSent
from tributary.models.catalogue import Capabilities

UNSUPPORTED = "unsupported"
TOO_LARGE = "too_large"
MISSING = "missing"


def plan_delivery(files: Sequence[AttachedFile], capabilities: Capabilities) -> list[Delivery]:
    """Judges each file, in the order given. What the model does not take uses nothing of the total."""
    spent = 0
    deliveries = []
    for file in files:
        reason = _reason(file, spent, capabilities)
        if not reason:
            spent += file["size"]
        deliveries.append(Delivery(file=file, reason=reason))
    return deliveries


def _reason(file: AttachedFile, spent: int, capabilities: Capabilities) -> str:
    if not takes(capabilities, Modality(file["modality"])):
        return UNSUPPORTED
    if file["size"] > MAX_SENT_FILE_BYTES or spent + file["size"] > MAX_SENT_TOTAL_BYTES:
        return TOO_LARGE
    return ""


def takes(capabilities: Capabilities, modality: Modality) -> bool:
    """Whether the model accepts files of this kind; text is always inlined."""
    return {
        Modality.TEXT: True,
        Modality.IMAGE: capabilities.images,
        Modality.PDF: capabilities.pdfs,
        Modality.AUDIO: capabilities.audio,
    }[modality]


def unsupported_note(deliveries: Sequence[Delivery]) -> str:
    """The line that names what the model does not take; "" when it takes all."""
    names = [each["file"]["filename"] for each in deliveries if each["reason"] == UNSUPPORTED]
    return f"This model does not support files: {', '.join(names)}" if names else ""


def too_large_note(file: AttachedFile) -> str:
    """What stands in the place of a file that is over the limits."""
    return f"[File too large: {file['filename']} ({human_size(file['size'])})]"


def missing_note(file: AttachedFile) -> str:
    """What stands in the place of a file whose bytes are gone."""
    return f"[File no longer available: {file['filename']}]"


def not_sent(deliveries: Sequence[Delivery]) -> list[NotSent]:
    """The files that the model did not get, for the response."""
    return [
        NotSent(id=each["file"]["id"], filename=each["file"]["filename"], reason=each["reason"])
        for each in deliveries
        if each["reason"]
    ]
