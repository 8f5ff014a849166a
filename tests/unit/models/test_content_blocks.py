from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from tributary.domain.attachments import FileType
from tributary.models.content import audio_block, image_block, pdf_block, text_block, wire_content, wire_messages

PROVIDERS = ["openrouter", "openai", "google", "local"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_string_stays_a_string(provider: str) -> None:
    assert wire_content(provider, "Hello") == "Hello"


@pytest.mark.parametrize("provider", ["openrouter", "openai", "google"])
def test_text_parts_alone_become_one_string(provider: str) -> None:
    assert wire_content(provider, [text_block("a"), text_block("b")]) == "a\n\nb"


def test_a_local_model_gets_the_blocks_as_they_are() -> None:
    blocks = [text_block("a"), text_block("b"), image_block(b"x", FileType.PNG)]

    assert wire_content("local", blocks) == blocks


def test_an_audio_format_is_named_as_each_provider_names_it() -> None:
    blocks = [text_block("a"), audio_block(b"x", FileType.MP3)]

    openai: Any = wire_content("openai", blocks)
    google: Any = wire_content("google", blocks)

    assert openai[1]["input_audio"]["format"] == "mp3"
    assert google[1]["mime_type"] == "audio/mp3"


def test_a_pdf_without_a_name_gets_one() -> None:
    part: Any = wire_content("openrouter", [text_block("a"), pdf_block(b"x", "")])

    assert part[1]["file"]["filename"] == "document.pdf"


@pytest.mark.parametrize("provider", ["openrouter", "google"])
def test_an_unknown_block_is_an_error_and_not_dropped(provider: str) -> None:
    with pytest.raises(ValueError, match="'video' has no form"):
        wire_content(provider, [{"type": "video", "base64": "", "mime_type": "video/mp4"}])


def test_messages_are_converted_in_copies() -> None:
    message = HumanMessage([text_block("a"), image_block(b"x", FileType.PNG)])

    [sent] = wire_messages("openai", [message])

    content: Any = sent.content
    assert content[1]["type"] == "image_url"
    assert message.content[1]["type"] == "image"  # type: ignore[index]
