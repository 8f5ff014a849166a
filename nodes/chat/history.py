"""What of a conversation's past goes into a model call, and which of its files: pure rules."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from nodes.chat.delivery import judge
from nodes.chat.state import Delivery
from tributary.domain.attachments import AttachedFile, Modality
from tributary.domain.conversations import Message, Role
from tributary.models.catalogue import Capabilities
from tributary.models.tokens import MESSAGE_TOKENS, estimate_file_tokens

#: Messages that are loaded for a prompt at most.
HISTORY_MESSAGES = 40
#: What the note costs that stands for a file.
NOTE_TOKENS = 24


@dataclass(slots=True)
class Past:
    """Former messages, oldest first, in whole pairs of a question and its answer; and which of their files are sent
    again, by the ids of the message and of the file."""

    messages: list[Message] = field(default_factory=list)
    replayed: dict[tuple[str, str], Delivery] = field(default_factory=dict)


@dataclass(slots=True)
class Budget:
    """What is left for the past: tokens of the model's window, and bytes of files of the 5 MB of SPEC §4."""

    tokens: int
    spent_bytes: int = 0


def plan_past(
    history: Sequence[Message],
    budget: Budget,
    *,
    capabilities: Capabilities,
    count_tokens: Callable[[str], int],
    shrink: bool = False,
    present: AbstractSet[str] = frozenset(),
) -> Past:
    """The newest messages within the budget, each with those of its files that still fit. A file is sent once: not
    again where a newer message has it or where it is in `present`, the ids of the files of the question at hand."""
    past, sent = Past(), set(present)
    for question, answer in reversed(_pairs(history)):
        texts = count_tokens(question.content) + count_tokens(answer.content) + 2 * MESSAGE_TOKENS
        cost = texts + NOTE_TOKENS * len(question.attachments)
        if cost > budget.tokens:
            break
        budget.tokens -= cost
        past.messages[:0] = (question, answer)
        for each in question.attachments:
            delivery = None if each["id"] in sent else _replay(_attached(each), budget, capabilities, shrink)
            if delivery is not None:
                sent.add(each["id"])
                past.replayed[str(question.id), each["id"]] = delivery
    return past


def _pairs(history: Sequence[Message]) -> list[tuple[Message, Message]]:
    return [
        (first, second)
        for first, second in pairwise(history)
        if first.role is Role.USER and second.role is Role.ASSISTANT
    ]


def _replay(file: AttachedFile, budget: Budget, capabilities: Capabilities, shrink: bool) -> Delivery | None:
    """How the file is sent again, taken off the budget; None where it is not."""
    tokens = estimate_file_tokens(Modality(file["modality"]), file["size"])
    if tokens > budget.tokens:
        return None
    delivery, taken = judge(file, budget.spent_bytes, capabilities, shrink=shrink)
    if delivery["reason"]:
        return None
    budget.tokens -= tokens
    budget.spent_bytes += taken
    return delivery


def _attached(file: dict[str, Any]) -> AttachedFile:
    return AttachedFile(
        id=file["id"],
        filename=file["filename"],
        contentType=file["contentType"],
        modality=file["modality"],
        size=file["size"],
        storageKey=file["storageKey"],
    )


def earlier_file_note(filename: str) -> str:
    """What stands for a file of an earlier question that is not sent again."""
    return f"[File of an earlier message, not sent again: {filename}]"
