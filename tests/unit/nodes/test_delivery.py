"""Which files a model gets (SPEC §4), at the limits and around them."""

import pytest

from nodes.chat.delivery import SHRUNK_BYTES, not_sent, plan_delivery, taken_bytes, too_large_note, unsupported_note
from nodes.chat.messages import has_content, human_parts
from tributary.domain.attachments import MEGABYTE, AttachedFile, FileType, human_size
from tributary.files.images import PreparedImage
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
    picture = PreparedImage(b"bytes", FileType.JPEG, 1, 1)
    parts = human_parts("Look:", deliveries, {"a.txt": "content", "b.png": picture})
    assert [part["type"] for part in parts] == ["text", "text", "image", "text"]
    assert parts[1]["text"] == "[File: a.txt]\ncontent"
    assert parts[2]["mime_type"] == "image/jpeg"
    assert parts[3]["text"] == "[File too large: big (3.0 MB)]"


def test_a_message_has_content_when_a_text_or_a_file_is_left() -> None:
    assert has_content("hi", [])
    assert has_content("", plan_delivery([file()], ALL))
    assert not has_content(" ", plan_delivery([file()], NONE))
    assert not has_content("", plan_delivery([file(size=3 * MEGABYTE)], ALL))


def test_a_picture_over_the_limits_is_made_smaller_where_the_bot_has_it_so() -> None:
    deliveries = plan_delivery([file("big", 9 * MEGABYTE), file("fits", MEGABYTE)], ALL, shrink=True)
    assert [(each["reason"], each["shrinkTo"]) for each in deliveries] == [("", SHRUNK_BYTES), ("", 0)]
    assert taken_bytes(deliveries) == SHRUNK_BYTES + MEGABYTE


def test_five_pictures_over_the_limits_all_go_when_they_are_made_smaller() -> None:
    deliveries = plan_delivery([file(str(n), 9 * MEGABYTE) for n in range(5)], ALL, shrink=True)
    assert [each["reason"] for each in deliveries] == [""] * 5
    assert taken_bytes(deliveries) <= 5 * MEGABYTE


def test_a_picture_is_made_to_fit_what_is_left_of_the_total_unless_that_is_next_to_nothing() -> None:
    two = 2 * MEGABYTE
    rest = plan_delivery([file("a", two), file("b", two), file("c", MEGABYTE // 2), file("d", two)], ALL, shrink=True)
    assert (rest[3]["reason"], rest[3]["shrinkTo"]) == ("", MEGABYTE // 2)
    full = plan_delivery([file("a", two), file("b", two), file("c", MEGABYTE), file("d", two)], ALL, shrink=True)
    assert full[3]["reason"] == "too_large"


@pytest.mark.parametrize("modality", ["pdf", "text", "audio"])
def test_only_pictures_are_made_smaller(modality: str) -> None:
    [delivery] = plan_delivery([file(size=3 * MEGABYTE, modality=modality)], ALL, shrink=True)
    assert delivery["reason"] == "too_large"
