"""The chat's stores over one place to keep things, in memory or on PostgreSQL, and short ways to fill it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from stores.memory.attachments import MemoryAttachments
from stores.memory.bots import MemoryBots
from stores.memory.checkpoints import MemoryCheckpoints
from stores.memory.conversations import MemoryConversations
from stores.memory.idempotency import MemoryIdempotency
from stores.memory.identity import MemoryIdentity
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.sessions import MemorySessions
from stores.memory.tables import MemoryTables
from stores.memory.turns import MemoryTurnQueue
from stores.memory.usage import MemoryUsage
from stores.postgres.attachments import PostgresAttachments
from stores.postgres.bots import PostgresBots
from stores.postgres.checkpoints import Checkpoints
from stores.postgres.conversations import PostgresConversations
from stores.postgres.database import Database
from stores.postgres.idempotency import PostgresIdempotency
from stores.postgres.identity import PostgresIdentity
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.roles import SERVING_ROLE
from stores.postgres.sessions import PostgresSessions
from stores.postgres.turns import PostgresTurnQueue
from stores.postgres.usage import PostgresUsage
from stores.protocols.attachments import AttachmentStore
from stores.protocols.bots import BotStore
from stores.protocols.checkpoints import CheckpointStore
from stores.protocols.conversations import Answer, ConversationStore, TurnQueue
from stores.protocols.idempotency import IdempotencyStore
from stores.protocols.identity import IdentityStore
from stores.protocols.sessions import SessionStore
from stores.protocols.usage import UsageLedger
from stores.secrets import digest
from tests.support.worlds import new_document
from tributary.domain.attachments import Attachment, AttachmentClaim, FileType
from tributary.domain.bots import Bot, Weights
from tributary.domain.conversations import Message, MessageStatus, Usage
from tributary.domain.identity import Organisation
from tributary.domain.ids import new_id

TOKEN = "t" * 64
USAGE = Usage(inputTokens=3, outputTokens=2, totalTokens=5)

_SHIFT_DAYS = "UPDATE upload_days SET day = day - 1 WHERE organisation_id = %s"
_SHIFT_USAGE = (
    "UPDATE usage_entries SET made_at = made_at - %(days)s WHERE organisation_id = %(organisation)s",
    "UPDATE usage_months SET month = (month - %(days)s)::date WHERE organisation_id = %(organisation)s",
    "UPDATE budget_reservations SET made_at = made_at - %(days)s WHERE organisation_id = %(organisation)s",
)
_SHIFT_REQUESTS = "UPDATE idempotent_requests SET created_at = created_at - %s WHERE organisation_id = %s"


@dataclass(frozen=True)
class ChatWorld:
    """The stores under test, and two organisations that exist in them. What is named `other_…` of a port belongs to
    a second process."""

    identity: IdentityStore
    sessions: SessionStore
    bots: BotStore
    attachments: AttachmentStore
    conversations: ConversationStore
    queue: TurnQueue
    other_queue: TurnQueue
    idempotency: IdempotencyStore
    other_idempotency: IdempotencyStore
    checkpoints: CheckpointStore
    usage: UsageLedger
    knowledge: MemoryKnowledge | PostgresKnowledge
    acme: UUID
    globex: UUID
    #: Ends the first process as a kill would: it goes on, but for the others it is gone.
    kill: Callable[[], Awaitable[None]]
    #: Where things are kept.
    ground: "Database | Clock"

    async def knowledge_base(self, organisation_id: UUID | None = None) -> UUID:
        base = await self.knowledge.create_knowledge_base(
            organisation_id or self.acme, name="manuals", description="", embedding="test/plain", dimension=4
        )
        return base.id

    async def document(self, size: int) -> None:
        """A document of `size` bytes in a knowledge base of acme."""
        [base] = await self.knowledge.knowledge_bases(self.acme, [await self.knowledge_base()])
        await self.knowledge.add_document(new_document(base, size=size))

    async def bot(self, organisation_id: UUID | None = None, **changes: Any) -> Bot:
        values: dict[str, Any] = {"name": "helper", "prompt": "", "model": "local/extractive"}
        values |= {"knowledge_base_ids": (), "weights": Weights()} | changes
        return await self.bots.create(organisation_id or self.acme, **values)

    async def attachment(self, organisation_id: UUID | None = None, **changes: Any) -> Attachment:
        """A stored one that `TOKEN` opens."""
        made = new_attachment(organisation_id or self.acme, **changes)
        await self.attachments.add(made, token_hash=digest(TOKEN))
        return made

    async def begin(
        self,
        bot: Bot,
        content: str = "Why?",
        *,
        conversation_id: UUID | None = None,
        replaces: UUID | None = None,
        attachments: Sequence[Attachment] = (),
        question_id: UUID | None = None,
    ) -> Message:
        return await self.conversations.begin_turn(
            bot.organisation_id,
            conversation_id=conversation_id or new_id(),
            bot_id=bot.id,
            question_id=question_id or new_id(),
            content=content,
            attachments=[{"id": str(each.id), "filename": each.filename} for each in attachments],
            replace_message_id=replaces,
        )

    async def finish(self, bot: Bot, question: Message, content: str = "Because.", **changes: Any) -> UUID:
        """The question's answer, stored."""
        answer = new_answer(content, **changes)
        stored = await self.conversations.finish_turn(
            bot.organisation_id,
            conversation_id=question.conversation_id,
            question_id=question.id,
            answer=answer,
        )
        assert stored
        return answer.message_id

    async def turn(self, bot: Bot, content: str = "Why?", answer: str = "Because.", **asked: Any) -> Message:
        """A finished turn; its question."""
        question = await self.begin(bot, content, **asked)
        await self.finish(bot, question, answer)
        return question

    async def branch(self, bot: Bot, conversation_id: UUID) -> list[str]:
        """The contents of the active branch."""
        found = await self.conversations.messages(bot.organisation_id, conversation_id, after=None, limit=10_000)
        return [message.content for message in found]

    async def pass_a_day(self) -> None:
        """What was uploaded today was uploaded yesterday."""
        if isinstance(self.ground, Clock):
            self.ground.offset += timedelta(days=1)
            return
        async with self.ground.organisation(self.acme) as connection:
            await connection.execute(_SHIFT_DAYS, (self.acme,))

    async def pass_months(self, days: int = 40) -> None:
        """What acme spent and reserved, it did so many days ago."""
        if isinstance(self.ground, Clock):
            self.ground.offset += timedelta(days=days)
            return
        async with self.ground.organisation(self.acme) as connection:
            for statement in _SHIFT_USAGE:
                await connection.execute(statement, {"days": timedelta(days=days), "organisation": self.acme})

    async def age_requests(self, by: timedelta) -> None:
        """The idempotent requests of acme began so much earlier."""
        if isinstance(self.ground, Clock):
            self.ground.offset += by
            return
        async with self.ground.organisation(self.acme) as connection:
            await connection.execute(_SHIFT_REQUESTS, (by, self.acme))


@dataclass
class Clock:
    """The time, which a test may move on."""

    offset: timedelta = field(default_factory=timedelta)

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.offset


def new_attachment(organisation_id: UUID, **changes: Any) -> Attachment:
    values: dict[str, Any] = {
        "id": new_id(),
        "organisation_id": organisation_id,
        "filename": "notes.txt",
        "file_type": FileType.TEXT,
        "size": 10,
        "sha256": "0" * 64,
        "storage_key": f"attachments/{uuid4()}",
        "on_s3": False,
        "created_at": datetime.now(UTC),
    }
    return Attachment(**(values | changes))


def new_answer(content: str = "Because.", **changes: Any) -> Answer:
    values: dict[str, Any] = {
        "message_id": new_id(),
        "status": MessageStatus.COMPLETE,
        "sources": (),
        "usage": USAGE,
        "model": "local/extractive",
        "details": {},
    }
    return Answer(content=content, **(values | changes))


def claim(attachment: Attachment | UUID, token: str | None = TOKEN) -> AttachmentClaim:
    identifier = attachment.id if isinstance(attachment, Attachment) else attachment
    return AttachmentClaim(id=str(identifier), accessToken=token) if token else AttachmentClaim(id=str(identifier))


@asynccontextmanager
async def open_chat_world(dsn: str | None) -> AsyncIterator[ChatWorld]:
    """A world on the PostgreSQL of `dsn`, or in memory without one."""
    async with AsyncExitStack() as stack:
        yield await (_in_memory() if dsn is None else _on_postgres(stack, dsn))


#: Seconds that a repeated request waits in tests.
PATIENCE = 0.05


async def _in_memory() -> ChatWorld:
    clock = Clock()
    tables, knowledge, queue = MemoryTables(clock), MemoryKnowledge(), MemoryTurnQueue()
    identity, checkpoints = MemoryIdentity(tables), MemoryCheckpoints()
    acme, globex = await _organisations(identity)
    attachments = MemoryAttachments(tables, knowledge)
    knowledge.require_room = attachments.require_document_room
    idempotency = MemoryIdempotency(tables, wait=PATIENCE)

    async def kill() -> None:
        tables.dead.add(idempotency.owner)

    return ChatWorld(
        identity=identity,
        sessions=MemorySessions(tables),
        bots=MemoryBots(tables, knowledge),
        attachments=attachments,
        conversations=MemoryConversations(tables, queue, checkpoints),
        queue=queue,
        other_queue=queue,
        idempotency=idempotency,
        other_idempotency=MemoryIdempotency(tables, wait=PATIENCE),
        checkpoints=checkpoints,
        usage=MemoryUsage(tables, knowledge, owner=idempotency.owner),
        knowledge=knowledge,
        acme=acme.id,
        globex=globex.id,
        kill=kill,
        ground=clock,
    )


async def _on_postgres(stack: AsyncExitStack, dsn: str) -> ChatWorld:
    database = Database(dsn, role=SERVING_ROLE, pool_size=8)
    queue, other_queue = PostgresTurnQueue(dsn, SERVING_ROLE), PostgresTurnQueue(dsn, SERVING_ROLE)
    checkpoints = Checkpoints(dsn, role=SERVING_ROLE, pool_size=4)
    for opened in (database, queue, other_queue, checkpoints):
        stack.push_async_callback(opened.close)
        await opened.open()
    identity = PostgresIdentity(database)
    acme, globex = await _organisations(identity)
    return ChatWorld(
        identity=identity,
        sessions=PostgresSessions(database),
        bots=PostgresBots(database),
        attachments=PostgresAttachments(database),
        conversations=PostgresConversations(database, queue),
        queue=queue,
        other_queue=other_queue,
        idempotency=PostgresIdempotency(database, owner=queue.process_id, wait=PATIENCE),
        other_idempotency=PostgresIdempotency(database, owner=other_queue.process_id, wait=PATIENCE),
        checkpoints=checkpoints,
        usage=PostgresUsage(database, owner=queue.process_id),
        knowledge=PostgresKnowledge(database),
        acme=acme.id,
        globex=globex.id,
        kill=queue.close,
        ground=database,
    )


async def _organisations(identity: IdentityStore) -> tuple[Organisation, Organisation]:
    """Two new ones; the database that tests share has those of others as well."""
    mark = uuid4().hex
    return await identity.ensure_organisation(f"acme {mark}"), await identity.ensure_organisation(f"globex {mark}")
