"""Which files the model gets (SPEC §4): pure rules over types, sizes and the model's capabilities."""

from collections.abc import Sequence

from nodes.chat.state import Delivery
from tributary.domain.attachments import (
    MAX_FILES,
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
UNREADABLE = "unreadable"

#: What a picture over the limits is made small to, where the bot has it so: five of them fill the total of a message.
SHRUNK_BYTES = MAX_SENT_TOTAL_BYTES // MAX_FILES
#: Where less than this is left of the total, a picture would not be worth much.
LEAST_SHRUNK_BYTES = 64 * 1024


def plan_delivery(files: Sequence[AttachedFile], capabilities: Capabilities, *, shrink: bool = False) -> list[Delivery]:
    """Judges each file, in the order given. What the model does not get uses nothing of the total."""
    spent = 0
    deliveries = []
    for file in files:
        delivery, taken = judge(file, spent, capabilities, shrink=shrink)
        spent += taken
        deliveries.append(delivery)
    return deliveries


def judge(file: AttachedFile, spent: int, capabilities: Capabilities, *, shrink: bool) -> tuple[Delivery, int]:
    """How a file is delivered once `spent` bytes of the total are gone, and the bytes that it takes of it. With
    `shrink`, a picture that is over the limits is made to fit."""
    if not capabilities.accepts(Modality(file["modality"])):
        return Delivery(file=file, reason=UNSUPPORTED, shrinkTo=0), 0
    if file["size"] <= MAX_SENT_FILE_BYTES and spent + file["size"] <= MAX_SENT_TOTAL_BYTES:
        return Delivery(file=file, reason="", shrinkTo=0), file["size"]
    room = min(SHRUNK_BYTES, MAX_SENT_TOTAL_BYTES - spent)
    if shrink and file["modality"] == Modality.IMAGE and room >= LEAST_SHRUNK_BYTES:
        return Delivery(file=file, reason="", shrinkTo=room), room
    return Delivery(file=file, reason=TOO_LARGE, shrinkTo=0), 0


def taken_bytes(deliveries: Sequence[Delivery]) -> int:
    """What the files that are sent take of the total of a message."""
    return sum(each["shrinkTo"] or each["file"]["size"] for each in deliveries if not each["reason"])


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


def unreadable_note(file: AttachedFile) -> str:
    """What stands in the place of a picture that can't be decoded any more."""
    return f"[File can't be read: {file['filename']}]"


def not_sent(deliveries: Sequence[Delivery]) -> list[NotSent]:
    """The files that the model did not get, for the response."""
    return [
        NotSent(id=each["file"]["id"], filename=each["file"]["filename"], reason=each["reason"])
        for each in deliveries
        if each["reason"]
    ]
