"""How a model's window is shared out between the system message, the question, the answer and the past."""

import pytest

from nodes.chat.budget import ANSWER_TOKENS, answer_tokens, tokens_for_past, too_large
from nodes.chat.delivery import plan_delivery
from tributary.domain.attachments import AttachedFile, FileType
from tributary.domain.errors import MessageTooLarge
from tributary.models.catalogue import Capabilities
from tributary.models.content import image_block, text_block
from tributary.models.tokens import IMAGE_TOKENS, MESSAGE_TOKENS


def takes(window: int, longest: int | None = None) -> Capabilities:
    return Capabilities(images=True, pdfs=True, audio=True, context_tokens=window, max_output_tokens=longest)


@pytest.mark.parametrize(
    ("capabilities", "said", "kept_free"),
    [
        (takes(128_000), None, ANSWER_TOKENS),
        (takes(128_000, 65_536), None, ANSWER_TOKENS),
        (takes(128_000, 500), None, 500),
        (takes(4_000), None, 1_000),
        (takes(128_000, 500), 8_000, 8_000),
        (takes(4_000), 8_000, 2_000),
    ],
)
def test_room_for_the_answer_is_what_a_bot_says_or_what_is_usual(
    capabilities: Capabilities, said: int | None, kept_free: int
) -> None:
    assert answer_tokens(capabilities, said) == kept_free


def left(window: int, *parts: dict[str, object], system: str = "s") -> int:
    return tokens_for_past(system, parts, [], window=window, count_tokens=len)


def test_the_past_gets_what_system_and_question_leave() -> None:
    needed = 1 + 5 + 2 * MESSAGE_TOKENS
    assert left(needed + 10, text_block("12345")) == 10
    assert left(needed, text_block("12345")) == 0


def test_a_question_that_does_not_fit_by_a_token_is_refused() -> None:
    with pytest.raises(MessageTooLarge, match=r"about 14 tokens, 9 of them .* takes 13$"):
        left(13, text_block("12345"))


def test_pictures_shorten_the_past_and_refuse_nothing() -> None:
    picture = image_block(b"x", FileType.PNG)
    assert left(2_000, picture) == 2_000 - 1 - 2 * MESSAGE_TOKENS - IMAGE_TOKENS
    assert left(500, picture) == 0


def test_a_refusal_names_the_files_that_take_part_texts_and_the_largest_first() -> None:
    def file(name: str, size: int, modality: str = "text") -> AttachedFile:
        kind = {"text": "text/plain", "audio": "audio/wav", "image": "image/png"}[modality]
        return AttachedFile(
            id=name, filename=name, contentType=kind, modality=modality, size=size, storageKey=f"k/{name}"
        )

    deaf = Capabilities(images=True, pdfs=True, audio=False, context_tokens=1)
    given = [file("seen", 50, "image"), file("small", 1), file("big", 9), file("unheard", 99, "audio")]
    error = too_large("Too much", plan_delivery(given, deaf))
    assert error.detail == "Too much; leave out or shorten: big, small, seen"
    assert error.problem()["files"][:2] == [
        {"id": "big", "filename": "big", "size": 9},
        {"id": "small", "filename": "small", "size": 1},
    ]
    assert "files" not in too_large("Too much", []).problem()
