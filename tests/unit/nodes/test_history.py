"""What of a conversation's past goes into a model call, at the edges of the window and of the 5 MB."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from nodes.chat.history import NOTE_TOKENS, Budget, plan_past
from tributary.domain.attachments import MEGABYTE, AttachedFile
from tributary.domain.conversations import Message, MessageStatus, Role
from tributary.models.catalogue import Capabilities
from tributary.models.tokens import IMAGE_TOKENS, MESSAGE_TOKENS

ALL = Capabilities(images=True, pdfs=True, audio=True, context_tokens=100_000)
NONE = Capabilities(images=False, pdfs=False, audio=False, context_tokens=100_000)
TYPES = {"image": "image/png", "pdf": "application/pdf", "text": "text/plain", "audio": "audio/wav"}
#: A pair of messages of one token each.
PAIR = 2 + 2 * MESSAGE_TOKENS
PLENTY = 10_000_000


def file(name: str = "a", size: int = 10, modality: str = "image") -> AttachedFile:
    return AttachedFile(
        id=name, filename=name, contentType=TYPES[modality], modality=modality, size=size, storageKey=f"k/{name}"
    )


def message(role: Role, content: str, *files: AttachedFile) -> Message:
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


def turns(*files_of_questions: tuple[AttachedFile, ...]) -> list[Message]:
    """A pair of messages for each question, whose contents are its number."""
    return [
        each
        for number, files in enumerate(files_of_questions)
        for each in (message(Role.USER, str(number), *files), message(Role.ASSISTANT, str(number)))
    ]


def kept(history: list[Message], tokens: int) -> list[str]:
    past = plan_past(history, Budget(tokens), capabilities=ALL, count_tokens=lambda _: 1)
    return [each.content for each in past.messages]


def replayed(
    history: list[Message], *, tokens: int = PLENTY, spent: int = 0, capabilities: Capabilities = ALL, **options: object
) -> list[str]:
    past = plan_past(
        history,
        Budget(tokens, spent),
        capabilities=capabilities,
        count_tokens=lambda _: 1,
        shrink=bool(options.get("shrink")),
        present=frozenset(str(each) for each in options.get("present", ())),  # type: ignore[attr-defined]
    )
    return [file_id for _, file_id in past.replayed]


def test_history_is_trimmed_from_its_oldest_end_in_whole_pairs() -> None:
    history = turns((), (), ())
    assert kept(history, 3 * PAIR) == ["0", "0", "1", "1", "2", "2"]
    assert kept(history, 3 * PAIR - 1) == ["1", "1", "2", "2"]
    assert kept(history, PAIR - 1) == []


def test_a_long_pair_ends_the_past_although_an_older_one_would_fit() -> None:
    history = turns((), (), ())
    past = plan_past(history, Budget(4 * PAIR), capabilities=ALL, count_tokens=lambda text: 1_000 if text == "1" else 1)
    assert [each.content for each in past.messages] == ["2", "2"]


def test_files_are_sent_again_newest_first_while_the_five_megabytes_last() -> None:
    two = 2 * MEGABYTE
    history = turns((file("old", two),), (file("middle", two),), (file("new", two),))
    assert replayed(history) == ["new", "middle"]
    assert replayed(history, spent=two) == ["new"]
    assert replayed(history, spent=5 * MEGABYTE) == []
    assert replayed(turns((file("a", MEGABYTE),), (file("b", two),), (file("c", two),))) == ["c", "b", "a"]


def test_a_file_over_the_limit_of_one_file_is_not_sent_again() -> None:
    assert replayed(turns((file("a", 2 * MEGABYTE),))) == ["a"]
    assert replayed(turns((file("a", 2 * MEGABYTE + 1),))) == []
    assert replayed(turns((file("a", 2 * MEGABYTE + 1),)), shrink=True) == ["a"]


def test_what_the_model_does_not_take_is_not_sent_again() -> None:
    files = (file("i"), file("p", modality="pdf"), file("t", modality="text"), file("s", modality="audio"))
    assert replayed(turns(files), capabilities=NONE) == ["t"]
    assert replayed(turns(files)) == ["i", "p", "t", "s"]


def test_a_text_is_sent_again_only_where_the_window_has_room_for_all_of_it() -> None:
    text = file("t", 40_000, "text")
    room = PAIR + NOTE_TOKENS + 10_001
    assert replayed(turns((text,)), tokens=room) == ["t"]
    assert replayed(turns((text,)), tokens=room - 1) == []
    assert kept(turns((text,)), room - 1) == ["0", "0"]


@pytest.mark.parametrize(("modality", "tokens"), [("image", IMAGE_TOKENS), ("pdf", 1_001), ("audio", 121)])
def test_other_files_take_their_share_of_the_window_too(modality: str, tokens: int) -> None:
    history = turns((file("f", 60_060 if modality == "pdf" else 60_000, modality),))
    assert replayed(history, tokens=PAIR + NOTE_TOKENS + tokens + 1) == ["f"]
    assert replayed(history, tokens=PAIR + NOTE_TOKENS + tokens - 1) == []


def test_a_file_that_several_messages_use_goes_with_the_newest_of_them() -> None:
    history = turns((file("a"),), (file("a"),))
    past = plan_past(history, Budget(PLENTY), capabilities=ALL, count_tokens=lambda _: 1)
    assert list(past.replayed) == [(str(history[2].id), "a")]
    assert replayed(history, present=["a"]) == []
