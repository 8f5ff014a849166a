"""Answers to conversations that their clients keep, as the OpenAI-compatible routes are asked for them."""

import asyncio
import binascii
import logging
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from nodes.chat.history import earlier_file_note
from nodes.chat.validate import attached_file
from stores.protocols.bots import BotStore
from tributary.domain.attachments import MAX_FILE_BYTES, MAX_FILES, AttachedFile, AttachmentClaim
from tributary.domain.conversations import Message, MessageStatus, Role
from tributary.domain.errors import CallerError, InvalidRequest, TooManyFiles, TributaryError
from tributary.domain.ids import new_id, parse_id
from tributary.files.names import display_name
from tributary.files.receive import receive_stream
from tributary.turns.events import RunningTurn
from tributary.turns.given import GivenConversations
from tributary.turns.runner import TurnRequest, Turns
from tributary.uploads import Uploaded, Uploads

#: Files of earlier messages that are looked at, the newest; more than a model call can carry of them.
MAX_EARLIER_FILES = 20
#: Characters of base64 that are decoded at a time.
_PIECE = 2**18

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file as it came within a message: its bytes in base64."""

    filename: str
    base64: str


@dataclass(frozen=True, slots=True)
class GivenMessage:
    role: Role
    text: str
    files: tuple[GivenFile, ...] = ()


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """`past` are whole pairs of a question and its answer, oldest first; `question` is what is asked now."""

    organisation_id: UUID
    bot_id: str
    question: GivenMessage
    past: Sequence[GivenMessage] = ()
    instructions: str = ""
    max_output: int | None = None


class Completions:
    """Begins turns and forgets them when they have ended. Files pass the checks of uploads, count against the
    organisation's limits while their turn runs, and are removed with it."""

    def __init__(self, *, turns: Turns, conversations: GivenConversations, bots: BotStore, uploads: Uploads) -> None:
        self._turns = turns
        self._conversations = conversations
        self._bots = bots
        self._uploads = uploads
        self._tidying: set[asyncio.Task[None]] = set()

    async def start(self, request: CompletionRequest) -> RunningTurn:
        """Takes the files in and begins the turn.

        Raises:
            NotFound: the bot is unknown.
            CallerError: as an upload of the files would.
        """
        bot = await self._bots.get(request.organisation_id, parse_id("bot", request.bot_id))
        if len(request.question.files) > MAX_FILES:
            raise TooManyFiles(f"A message takes at most {MAX_FILES} files; {len(request.question.files)} were given")
        taken = _Taken(self._uploads, request.organisation_id)
        try:
            claims = await taken.claims(request.question.files)
            past = await taken.past(request.past)
            turn = self._begin(request, bot.id, claims, past)
        except BaseException:
            await asyncio.shield(taken.discard())
            raise
        task = asyncio.create_task(self._tidy(turn, taken), name=f"end of completion {turn.conversation_id}")
        self._tidying.add(task)
        task.add_done_callback(self._tidying.discard)
        return turn

    def _begin(
        self,
        request: CompletionRequest,
        bot_id: UUID,
        claims: list[AttachmentClaim],
        past: Sequence[Message],
    ) -> RunningTurn:
        conversation_id = new_id()
        turn = self._turns.start(
            TurnRequest(
                organisation_id=request.organisation_id,
                bot_id=request.bot_id,
                message=request.question.text,
                conversation_id=str(conversation_id),
                attachments=claims,
                instructions=request.instructions,
                max_output=request.max_output,
            )
        )
        self._conversations.open(request.organisation_id, conversation_id, bot_id, past)  # read once the turn runs
        return turn

    async def _tidy(self, turn: RunningTurn, taken: "_Taken") -> None:
        await turn.wait()
        self._conversations.close(turn.conversation_id)
        await taken.discard()

    def leave(self, turn: RunningTurn) -> None:
        """Nobody waits for the answer any more."""
        self._turns.leave(turn)

    async def drain(self, grace: float) -> None:
        """See `Turns.drain`."""
        await self._turns.drain(grace)
        if self._tidying:
            await asyncio.wait(list(self._tidying))


class _Taken:
    """The files of one request. The same bytes are taken in once, however many messages carry them."""

    def __init__(self, uploads: Uploads, organisation_id: UUID) -> None:
        self._uploads = uploads
        self._organisation_id = organisation_id
        self._by_content: dict[str, Uploaded] = {}

    async def claims(self, files: Sequence[GivenFile]) -> list[AttachmentClaim]:
        """What opens the files of the question, each once."""
        taken = [await self._take(file) for file in files]
        unique = {each.attachment.id: each for each in taken}
        return [AttachmentClaim(id=str(key), accessToken=each.access_token) for key, each in unique.items()]

    async def past(self, given: Sequence[GivenMessage]) -> list[Message]:
        """Earlier messages with their files. Of many files the newest are taken; a note stands for the others."""
        messages: list[Message] = []
        left = MAX_EARLIER_FILES
        for each in reversed(given):
            wanted = each.files[-left:] if left else ()
            left -= len(wanted)
            files = [attached_file((await self._take(file)).attachment) for file in wanted]
            notes = [earlier_file_note(display_name(file.filename)) for file in each.files[: -len(wanted) or None]]
            messages.append(_message(each.role, "\n".join(filter(None, (each.text, *notes))), files))
        return messages[::-1]

    async def discard(self) -> None:
        """Removes the files. What can't be removed now is removed with the uploads that nobody used."""
        try:
            await self._uploads.discard(self._organisation_id, [each.attachment for each in self._by_content.values()])
        except TributaryError as error:
            logger.warning("files of a completion are left to upkeep: %s", error.code)

    async def _take(self, file: GivenFile) -> Uploaded:
        name = display_name(file.filename)
        path = self._uploads.incoming / uuid4().hex
        try:
            received = await receive_stream(_decoded(file.base64), path, limit=MAX_FILE_BYTES)
            if received.sha256 not in self._by_content:
                stored = await self._uploads.store(self._organisation_id, name, path, received)
                self._by_content[received.sha256] = stored
        except CallerError as error:
            error.detail = f"{name}: {error.detail}"
            raise
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        return self._by_content[received.sha256]


async def _decoded(text: str) -> AsyncIterator[bytes]:
    """The bytes, in pieces. Line breaks, as some encoders write them, are no part of it."""
    if any(blank in text for blank in "\n\r "):
        text = "".join(text.split())
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE]
        if "=" in piece and start + _PIECE < len(text):
            raise InvalidRequest("The data is not base64")
        try:
            yield binascii.a2b_base64(piece, strict_mode=True)
        except ValueError as error:  # bad base64, and text beyond ASCII
            raise InvalidRequest("The data is not base64") from error


def _message(role: Role, text: str, files: Sequence[AttachedFile]) -> Message:
    return Message(
        id=new_id(),
        conversation_id=new_id(),
        parent_id=None,
        role=role,
        content=text,
        status=MessageStatus.COMPLETE,
        created_at=datetime.now(UTC),
        attachments=tuple(dict(file) for file in files),
    )
