"""What a turn may spend, and what it spent."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from nodes.chat.state import Turn
from tributary.domain.attachments import AttachedFile, Modality
from tributary.domain.conversations import Usage
from tributary.domain.usage import Bill
from tributary.models.metering import spent_or
from tributary.models.tokens import BYTES_PER_TOKEN, IMAGE_TOKENS, estimate_tokens

#: Beside the question, its files and the bot's prompt: what is found for it, and the conversation before it.
CONTEXT_TOKENS = 4_000
_BYTES_PER_TOKEN = {Modality.TEXT: BYTES_PER_TOKEN, Modality.PDF: 60, Modality.AUDIO: 500}


class TurnBudget(Protocol):
    async def reserve(
        self, organisation_id: UUID, turn_id: UUID, *, model: str, embeddings: Sequence[str], tokens: int
    ) -> None:
        """Lets a turn of about `tokens` tokens to read begin.

        Raises:
            BudgetExceeded: the organisation's budget is used up, and the turn would cost something.
        """
        ...


class Unlimited:
    """`TurnBudget` without limits: for graphs that no server stands behind."""

    async def reserve(self, *_: UUID, **__: object) -> None:
        return


async def reserve_for(
    budget: TurnBudget, organisation_id: UUID, turn: Turn, message: str, files: Sequence[AttachedFile]
) -> None:
    """Before anything of the turn is stored, and before anything is asked of a model."""
    await budget.reserve(
        organisation_id,
        UUID(turn["questionId"]),
        model=turn["model"],
        embeddings=[base["embedding"] for base in turn["knowledgeBases"]],
        tokens=expected_tokens(turn["prompt"], message, files),
    )


def expected_tokens(prompt: str, message: str, files: Sequence[AttachedFile]) -> int:
    """About what a turn gives its model to read, known before anything is searched for."""
    attached = sum(
        file["size"] // _BYTES_PER_TOKEN[Modality(file["modality"])] + 1
        if file["modality"] != Modality.IMAGE
        else IMAGE_TOKENS
        for file in files
    )
    return CONTEXT_TOKENS + estimate_tokens(prompt) + estimate_tokens(message) + attached


def bill_of(turn: Turn, *, answered: bool, usage: Usage | None = None) -> Bill:
    """What the turn has spent so far, for its answer or else its question. `usage` stands in for a meter where nobody
    opened one."""
    return Bill(
        spent=spent_or(turn["model"], usage),
        bot_id=UUID(turn["botId"]),
        conversation_id=UUID(turn["conversationId"]),
        message_id=UUID(turn["answerId"] if answered else turn["questionId"]),
        reservation_id=UUID(turn["questionId"]),
    )
