"""`tributary ask`: one turn, from the terminal."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

import typer

from nodes.chat.state import ChatResponse
from tributary.cli.options import console
from tributary.domain.attachments import MAX_FILE_BYTES, AttachmentClaim, human_size
from tributary.domain.bots import Bot
from tributary.domain.errors import FileTooLarge, NotFound, ProviderError
from tributary.files.names import display_name
from tributary.files.receive import receive_stream
from tributary.services import Services, open_services
from tributary.settings import Settings
from tributary.turns.events import RunningTurn
from tributary.turns.runner import TurnRequest


async def ask(
    settings: Settings,
    *,
    organisation: str,
    bot: str,
    question: str,
    files: Sequence[Path],
    conversation: str | None,
) -> None:
    """Streams the answer to stdout, then its sources; what was left out goes to stderr.

    Raises:
        NotFound: no such organisation or bot.
        CallerError, DependencyError: as over HTTP.
    """
    async with open_services(settings) as services:
        owner = await services.identity.organisation_named(organisation)
        chosen = await _bot_named(services, owner.id, bot)
        claims = [await attach(services, owner.id, path) for path in files]
        turn = services.turns.start(
            TurnRequest(
                organisation_id=owner.id,
                bot_id=str(chosen.id),
                message=question,
                conversation_id=conversation,
                attachments=claims,
            )
        )
        response = await _show(turn)
    _show_sources(response)


async def _bot_named(services: Services, organisation_id: UUID, name: str) -> Bot:
    after: UUID | None = None
    while True:
        page = await services.bots.list(organisation_id, after=after, limit=200)
        for bot in page:
            if bot.name == name:
                return bot
        if not page:
            raise NotFound("bot", name)
        after = page[-1].id


async def attach(services: Services, organisation_id: UUID, path: Path) -> AttachmentClaim:
    """Uploads a local file as HTTP would; what a message needs to use it."""
    size = (await asyncio.to_thread(path.stat)).st_size
    if size > MAX_FILE_BYTES:
        raise FileTooLarge(f"{path.name} has {human_size(size)}; a file may have {human_size(MAX_FILE_BYTES)}")
    with tempfile.TemporaryDirectory(dir=services.uploads.incoming) as work:
        copy = Path(work) / "file"
        received = await receive_stream(_pieces(path), copy, limit=MAX_FILE_BYTES)
        uploaded = await services.uploads.store(organisation_id, display_name(path.name), copy, received)
    return AttachmentClaim(id=str(uploaded.attachment.id), accessToken=uploaded.access_token)


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(path.open, "rb") as file:
        while piece := await asyncio.to_thread(file.read, 1 << 20):
            yield piece


async def _show(turn: RunningTurn) -> ChatResponse:
    """The answer's text as it is written, on stdout."""
    async for event in turn.events():
        if event["event"] == "token":
            typer.echo(event["data"]["text"], nl=False)
    if turn.response is None:
        assert turn.problem is not None
        raise TurnFailed(turn.problem["detail"])
    typer.echo()
    return turn.response


class TurnFailed(ProviderError):
    """A turn that ended in a problem, for the terminal."""

    title = "No answer"


def _show_sources(response: ChatResponse) -> None:
    for source in response["sources"]:
        if source["cited"]:
            page = f", page {source['page']}" if source["page"] else ""
            typer.echo(f"[{source['number']}] {source['source']}{page}  {source['relevanceScore']:.0%}")
    for left_out in response["degraded"]:
        console.print(f"Left out: {left_out['branch']} search ({left_out['reason']})")
    for file in response["notSent"]:
        console.print(f"Not sent to the model: {file['filename']} ({file['reason']})", soft_wrap=True)
    usage = response["usage"]
    console.print(f"{usage['inputTokens']} + {usage['outputTokens']} tokens, conversation {response['conversationId']}")
