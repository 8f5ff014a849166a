"""What every store of attachments promises about finding, opening and removing them, one fact a test."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.chat_worlds import TOKEN, ChatWorld, claim, new_attachment
from tributary.domain.attachments import FileType
from tributary.domain.errors import Conflict, InvalidRequest, NotFound, WrongToken
from tributary.domain.ids import new_id

pytest_plugins = ["tests.support.chat_fixtures"]

TOMORROW = datetime.now(UTC) + timedelta(days=1)


@pytest.mark.parametrize("filename", ["plan.pdf", "Ünïcode 🗎.txt", "o'neil\" --.md", "../etc/passwd", "\u202egnp.exe"])
async def test_an_attachment_comes_back_as_it_was_added(chat: ChatWorld, filename: str) -> None:
    made = await chat.attachment(filename=filename, file_type=FileType.PDF, size=2**33)
    assert await chat.attachments.get(chat.acme, made.id) == made


async def test_a_name_that_can_not_be_stored_is_refused(chat: ChatWorld) -> None:
    with pytest.raises(InvalidRequest):
        await chat.attachment(filename="nul\x00.txt")


async def test_an_unknown_attachment_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.attachments.get(chat.acme, uuid4())


async def test_an_attachment_of_an_unknown_organisation_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.attachment(uuid4())


async def test_tokens_open_attachments_in_the_order_of_the_claims(chat: ChatWorld) -> None:
    made = [await chat.attachment() for _ in range(3)]
    order = [made[2], made[0], made[1], made[0]]
    claims = [claim(each) for each in order]
    assert list(await chat.attachments.resolve(chat.acme, claims, conversation_id=None)) == order


async def test_no_claims_open_nothing(chat: ChatWorld) -> None:
    assert list(await chat.attachments.resolve(chat.acme, [], conversation_id=None)) == []


@pytest.mark.parametrize("token", [TOKEN[:-1], TOKEN.upper(), "é" * 64, "\ud800" * 64, "' OR 'x'='x", " "])
async def test_another_token_does_not_open_it(chat: ChatWorld, token: str) -> None:
    made = await chat.attachment()
    with pytest.raises(WrongToken):
        await chat.attachments.resolve(chat.acme, [claim(made, token)], conversation_id=None)


async def test_an_unused_attachment_needs_its_token(chat: ChatWorld) -> None:
    made = await chat.attachment()
    for conversation_id in (None, uuid4()):
        with pytest.raises(WrongToken):
            await chat.attachments.resolve(chat.acme, [claim(made, None)], conversation_id=conversation_id)


@pytest.mark.parametrize("identifier", ["", "no id", "' OR 1=1 --", "0198c0de-0000-7000-8000-000000000000"])
async def test_a_claim_on_what_does_not_exist_is_not_found(chat: ChatWorld, identifier: str) -> None:
    made = await chat.attachment()
    claims = [claim(made), {"id": identifier, "accessToken": TOKEN}]
    with pytest.raises(NotFound):
        await chat.attachments.resolve(chat.acme, claims, conversation_id=None)  # type: ignore[arg-type]


async def test_the_conversation_that_used_it_opens_it_without_a_token(chat: ChatWorld) -> None:
    bot, made = await chat.bot(), await chat.attachment()
    question = await chat.turn(bot, attachments=[made])
    [found] = await chat.attachments.resolve(chat.acme, [claim(made, None)], conversation_id=question.conversation_id)
    assert (found.id, found.conversation_id) == (made.id, question.conversation_id)


async def test_another_conversation_needs_the_token_of_a_used_one(chat: ChatWorld) -> None:
    bot, made = await chat.bot(), await chat.attachment()
    await chat.turn(bot, attachments=[made])
    other = await chat.turn(bot)
    with pytest.raises(WrongToken):
        await chat.attachments.resolve(chat.acme, [claim(made, None)], conversation_id=other.conversation_id)


async def test_a_wrong_token_is_wrong_in_its_own_conversation_too(chat: ChatWorld) -> None:
    bot, made = await chat.bot(), await chat.attachment()
    question = await chat.turn(bot, attachments=[made])
    with pytest.raises(WrongToken):
        await chat.attachments.resolve(chat.acme, [claim(made, "x" * 64)], conversation_id=question.conversation_id)


async def test_every_conversation_that_used_it_opens_it_without_a_token(chat: ChatWorld) -> None:
    bot, made = await chat.bot(), await chat.attachment()
    for _ in range(2):
        question = await chat.turn(bot, attachments=[made])
        [found] = await chat.attachments.resolve(
            chat.acme, [claim(made, None)], conversation_id=question.conversation_id
        )
        assert found.id == made.id


async def test_an_unused_attachment_is_deleted_and_returned(chat: ChatWorld) -> None:
    made = await chat.attachment()
    assert list(await chat.attachments.delete(chat.acme, [made.id, uuid4()])) == [made]
    with pytest.raises(NotFound):
        await chat.attachments.get(chat.acme, made.id)


async def test_nothing_is_deleted_when_a_message_uses_one_of_them(chat: ChatWorld) -> None:
    bot, used, unused = await chat.bot(), await chat.attachment(), await chat.attachment()
    await chat.turn(bot, attachments=[used])
    with pytest.raises(Conflict):
        await chat.attachments.delete(chat.acme, [unused.id, used.id])
    assert await chat.attachments.get(chat.acme, unused.id) == unused


async def test_unused_attachments_are_taken_when_they_are_old_enough(chat: ChatWorld) -> None:
    old = await chat.attachment(created_at=datetime.now(UTC) - timedelta(days=2))
    young = await chat.attachment()
    yesterday = datetime.now(UTC) - timedelta(days=1)
    assert list(await chat.attachments.take_unused(chat.acme, yesterday)) == [old]
    assert await chat.attachments.get(chat.acme, young.id) == young


async def test_a_used_attachment_is_never_taken(chat: ChatWorld) -> None:
    bot, made = await chat.bot(), await chat.attachment()
    await chat.turn(bot, attachments=[made])
    assert list(await chat.attachments.take_unused(chat.acme, TOMORROW)) == []


async def test_a_turn_can_not_begin_with_an_attachment_that_was_taken(chat: ChatWorld) -> None:
    bot, made, conversation_id = await chat.bot(), await chat.attachment(), new_id()
    await chat.attachments.take_unused(chat.acme, TOMORROW)
    with pytest.raises(NotFound):
        await chat.begin(bot, attachments=[made], conversation_id=conversation_id)
    with pytest.raises(NotFound):
        await chat.conversations.get(chat.acme, conversation_id)


async def test_what_went_to_s3_is_billed_and_nothing_else(chat: ChatWorld) -> None:
    await chat.attachment(size=1)
    await chat.attachment(size=2, on_s3=True)
    await chat.attachment(size=3, on_s3=True)
    events = await chat.attachments.billing_events(chat.acme)
    assert [(event.organisation_id, event.bytes) for event in events] == [(chat.acme, 2), (chat.acme, 3)]


async def test_a_bill_outlives_its_attachment(chat: ChatWorld) -> None:
    made = await chat.attachment(on_s3=True)
    await chat.attachments.delete(chat.acme, [made.id])
    assert len(await chat.attachments.billing_events(chat.acme)) == 1


async def test_another_organisation_can_not_find_open_bill_or_remove_an_attachment(chat: ChatWorld) -> None:
    made = await chat.attachment(on_s3=True)
    with pytest.raises(NotFound):
        await chat.attachments.get(chat.globex, made.id)
    with pytest.raises(NotFound):
        await chat.attachments.resolve(chat.globex, [claim(made)], conversation_id=None)
    assert list(await chat.attachments.delete(chat.globex, [made.id])) == []
    assert list(await chat.attachments.take_unused(chat.globex, TOMORROW)) == []
    assert list(await chat.attachments.billing_events(chat.globex)) == []
    assert await chat.attachments.get(chat.acme, made.id) == made


async def test_a_turn_of_another_organisation_can_not_use_an_attachment(chat: ChatWorld) -> None:
    made = new_attachment(chat.acme)
    await chat.attachments.add(made, token_hash=b"")
    bot = await chat.bot(chat.globex)
    with pytest.raises(NotFound):
        await chat.begin(bot, attachments=[made])
