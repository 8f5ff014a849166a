import base64

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from tributary.domain.attachments import FileType
from tributary.models.content import audio_block, image_block, pdf_block, text_block
from tributary.models.tokens import (
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    estimate_content_tokens,
    estimate_message_tokens,
    estimate_tokens,
)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("four", 1), ("fours", 2), ("ж" * 4, 2), ("日本語", 3)]
)
def test_a_token_is_four_bytes_rounded_up(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_lone_surrogate_can_be_counted() -> None:
    assert estimate_tokens("\ud800") == 1


def test_files_cost_by_kind_and_size_and_never_by_their_base64() -> None:
    size = 60_000
    data = bytes(size)

    assert estimate_content_tokens([image_block(data, FileType.PNG)]) == IMAGE_TOKENS
    assert estimate_content_tokens([audio_block(data, FileType.MP3)]) == pytest.approx(size / 500, abs=2)
    assert estimate_content_tokens([pdf_block(data, "a.pdf")]) == pytest.approx(size / 60, abs=2)
    assert len(base64.b64encode(data)) / 4 > 10 * IMAGE_TOKENS


def test_a_prompt_is_the_sum_of_its_messages() -> None:
    prompt = [SystemMessage("x" * 40), HumanMessage([text_block("y" * 8), image_block(b"", FileType.PNG)])]

    assert estimate_message_tokens(prompt) == 2 * MESSAGE_TOKENS + 10 + 2 + IMAGE_TOKENS
