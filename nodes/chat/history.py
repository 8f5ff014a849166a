"""What of a conversation's past goes into a model call, and which of its files: pure rules."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from nodes.chat.delivery import takes
from tributary.domain.attachments import MAX_SENT_FILE_BYTES, MAX_SENT_TOTAL_BYTES, AttachedFile, Modality
from tributary.domain.conversations import Message, Role
from tributary.models.catalogue import Capabilities

#: Messages that are loaded for a prompt at most.
HISTORY_MESSAGES = 40
#: Tokens that are kept free for the answer where the model does not say how long it may be.
ANSWER_TOKENS = 2048
#: What a replayed image, PDF or audio file is reckoned to cost.
FILE_TOKENS = 1000


def trim_history(history: Sequence[Message], *, budget: int, count_tokens: Callable[[str], int]) -> Sequence[Message]:
    """The newest messages within `budget` tokens, in whole pairs of a question and its answer."""
    kept: list[Message] = []
    for question, answer in reversed(_pairs(history)):
        cost = count_tokens(question.content) + count_tokens(answer.content) + FILE_TOKENS * len(question.attachments)
        if cost > budget:
            break
        budget -= cost
        kept[:0] = (question, answer)
    return kept


def _pairs(history: Sequence[Message]) -> list[tuple[Message, Message]]:
    return [
        (first, second)
        for first, second in pairwise(history)
        if first.role is Role.USER and second.role is Role.ASSISTANT
    ]


def files_to_replay(history: Sequence[Message], *, spent: int, capabilities: Capabilities) -> dict[str, AttachedFile]:
    """Files of earlier questions that are sent again, by id: newest first, while the total of SPEC §4 lasts. The
    others are replaced by a note."""
    replayed: dict[str, AttachedFile] = {}
    for message in reversed(history):
        for file in message.attachments:
            attached = _attached(file)
            fits = attached["size"] <= MAX_SENT_FILE_BYTES and spent + attached["size"] <= MAX_SENT_TOTAL_BYTES
            if attached["id"] in replayed or not fits or not takes(capabilities, Modality(attached["modality"])):
                continue
            spent += attached["size"]
            replayed[attached["id"]] = attached
    return replayed


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
