"""Which files a model gets (SPEC §4), at the limits and around them."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from nodes.chat.delivery import not_sent, plan_delivery, too_large_note, unsupported_note
from nodes.chat.history import files_to_replay, trim_history
from nodes.chat.messages import has_content, human_parts
from tributary.domain.attachments import MEGABYTE, AttachedFile, human_size
from tributary.domain.conversations import Message, MessageStatus, Role
from tributary.models.catalogue import Capabilities

ALL = Capabilities(images=True, pdfs=True, audio=True, context_tokens=100_000)
NONE = Capabilities(images=False, pdfs=False, audio=False, context_tokens=100_000)
TYPES = {"image": "image/png", "pdf": "application/pdf", "text": "text/plain", "audio": "audio/wav"}


def file(name: str = "a", size: int = 10, modality: str = "image") -> AttachedFile:
    return AttachedFile(
        id=name, filename=name, contentType=TYPES[modality], modality=modality, size=size, storageKey=f"k/{name}"
    )


def reasons(*files: AttachedFile, capabilities: Capabilities = ALL) -> list[str]:
    return [each["reason"] for each in plan_delivery(files, capabilities)]


@pytest.mark.parametrize("modality", ["image", "pdf", "text", "audio"])
def test_a_file_of_two_megabytes_is_sent_and_a_byte_more_is_not(modality: str) -> None:
    assert reasons(file(size=2 * MEGABYTE, modality=modality)) == [""]
    assert reasons(file(size=2 * MEGABYTE + 1, modality=modality)) == ["too_large"]


def test_five_megabytes_together_are_sent_in_the_order_given() -> None:
    two, one = 2 * MEGABYTE, MEGABYTE
    assert reasons(file("a", two), file("b", two), file("c", one)) == ["", "", ""]
    assert reasons(file("a", two), file("b", two), file("c", one + 1), file("d", one)) == ["", "", "too_large", ""]


def test_what_a_model_does_not_take_uses_nothing_of_the_total() -> None:
    only_pdf = Capabilities(images=False, pdfs=True, audio=False, context_tokens=1)
    two = 2 * MEGABYTE
    files = [file(str(n), two) for n in range(3)] + [file("p", two, "pdf"), file("q", two, "pdf")]
    assert reasons(*files, capabilities=only_pdf) == ["unsupported"] * 3 + ["", ""]


def test_text_is_always_inlined() -> None:
    assert reasons(file(modality="text"), capabilities=NONE) == [""]


def test_the_notes_read_as_the_contract_says() -> None:
    deliveries = plan_delivery([file("a.png"), file("b.pdf", modality="pdf"), file("c.txt", modality="text")], NONE)
    assert unsupported_note(deliveries) == "This model does not support files: a.png, b.pdf"
    assert too_large_note(file("big.png", 3_355_443)) == "[File too large: big.png (3.2 MB)]"
    assert [(each["filename"], each["reason"]) for each in not_sent(deliveries)] == [
        ("a.png", "unsupported"),
        ("b.pdf", "unsupported"),
    ]


@pytest.mark.parametrize(
    ("size", "shown"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (3_355_443, "3.2 MB"), (50 * MEGABYTE, "50.0 MB")],
)
def test_sizes_are_shown_as_people_read_them(size: int, shown: str) -> None:
    assert human_size(size) == shown


def test_parts_keep_the_order_of_the_files() -> None:
    deliveries = plan_delivery([file("a.txt", modality="text"), file("b.png"), file("big", 3 * MEGABYTE)], ALL)
    parts = human_parts("Look:", deliveries, {"a.txt": "content", "b.png": b"bytes"})
    assert [part["type"] for part in parts] == ["text", "text", "image", "text"]
    assert parts[1]["text"] == "[File: a.txt]\ncontent"
    assert parts[3]["text"] == "[File too large: big (3.0 MB)]"


def test_a_message_has_content_when_a_text_or_a_file_is_left() -> None:
    assert has_content("hi", [])
    assert has_content("", plan_delivery([file()], ALL))
    assert not has_content(" ", plan_delivery([file()], NONE))
    assert not has_content("", plan_delivery([file(size=3 * MEGABYTE)], ALL))


def message(role: Role, content: str = "word", *files: AttachedFile) -> Message:
    return Message(
        id=uuid4(),
        conversation_id=uuid4(),
        parent_id=None,
        role=role,
        content=content,
        status=MessageStatus.COMPLETE,
        created_at=datetime.now(UTC),
        attachments=tuple(dict(each) for each in files),
    )


def test_history_is_trimmed_from_its_oldest_end_in_whole_pairs() -> None:
    history = [message(role, f"{n}") for n in range(3) for role in (Role.USER, Role.ASSISTANT)]
    kept = trim_history(history, budget=4, count_tokens=lambda _: 1)
    assert [each.content for each in kept] == ["1", "1", "2", "2"]
    assert trim_history(history, budget=1, count_tokens=lambda _: 1) == []


def test_files_of_earlier_turns_are_sent_again_newest_first_while_the_total_lasts() -> None:
    two = 2 * MEGABYTE
    history = [message(Role.USER, "x", file("old", two)), message(Role.USER, "y", file("new", two))]
    assert set(files_to_replay(history, spent=0, capabilities=ALL)) == {"old", "new"}
    assert set(files_to_replay(history, spent=two, capabilities=ALL)) == {"new"}
    assert files_to_replay(history, spent=0, capabilities=NONE) == {}
