"""How the window of a model is shared out: the system message and the question are kept whole, room is kept for an
answer, and the past gets what is left."""

from collections.abc import Callable, Sequence

from nodes.chat.messages import Block
from nodes.chat.state import Delivery
from tributary.domain.attachments import AttachedFile, Modality
from tributary.domain.errors import MessageTooLarge
from tributary.models.catalogue import Capabilities
from tributary.models.tokens import MESSAGE_TOKENS, estimate_content_tokens

#: Tokens that are kept free for an answer, where the bot says nothing of it.
ANSWER_TOKENS = 2048


def answer_tokens(capabilities: Capabilities, longest: int | None) -> int:
    """Tokens to keep free for the answer. `longest` is what the bot limits answers to."""
    if longest is not None:
        return min(longest, capabilities.context_tokens // 2)
    usual = min(capabilities.max_output_tokens or ANSWER_TOKENS, ANSWER_TOKENS)
    return min(usual, capabilities.context_tokens // 4)


def tokens_for_past(
    system: str,
    parts: Sequence[Block],
    deliveries: Sequence[Delivery],
    *,
    window: int,
    count_tokens: Callable[[str], int],
) -> int:
    """Tokens left for the past in a `window` that has no place for the answer any more. What pictures, PDFs and audio
    cost is a guess: it shortens the past, and never refuses a message.

    Raises:
        MessageTooLarge: the question, with its inlined texts and the context, does not fit.
    """
    fixed = count_tokens(system) + 2 * MESSAGE_TOKENS
    texts = sum(count_tokens(part["text"]) for part in parts if part["type"] == "text")
    if fixed + texts > window:
        raise too_large(
            f"The message needs about {fixed + texts:,} tokens, {fixed:,} of them for the bot's prompt and what was "
            f"found, and the model takes {window:,}",
            deliveries,
        )
    media = estimate_content_tokens([part for part in parts if part["type"] != "text"])
    return max(0, window - fixed - texts - media)


def too_large(why: str, deliveries: Sequence[Delivery]) -> MessageTooLarge:
    """The refusal of a message that does not fit, with the files that take part in it: texts first,
    which weigh by every byte, and the largest first."""
    sent = sorted((each["file"] for each in deliveries if not each["reason"]), key=_lightness)
    names = ", ".join(file["filename"] for file in sent)
    return MessageTooLarge(
        f"{why}; leave out or shorten: {names}" if names else why,
        files=[{"id": file["id"], "filename": file["filename"], "size": file["size"]} for file in sent],
    )


def _lightness(file: AttachedFile) -> tuple[bool, int]:
    return file["modality"] != Modality.TEXT, -file["size"]
