"""The first node: is this a turn that can be held? Reads only; a refusal leaves nothing behind."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.billing import TurnBudget, reserve_for
from nodes.chat.prompt import prompt_with
from nodes.chat.state import CallerOf, ChatState, Context, SaidOfModel, Turn
from nodes.retrieval.state import KnowledgeBaseRef, WeightsDict
from stores.protocols.attachments import AttachmentStore
from stores.protocols.bots import BotStore
from stores.protocols.conversations import TurnStore
from tributary.domain.attachments import MAX_FILES, AttachedFile, Attachment
from tributary.domain.bots import Bot, CapabilityOverrides
from tributary.domain.errors import CallerError, Conflict, InvalidRequest, TooManyFiles
from tributary.domain.ids import new_id, parse_id


async def validate_attachments(
    state: ChatState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    bots: BotStore,
    conversations: TurnStore,
    attachments: AttachmentStore,
    budget: TurnBudget,
) -> ChatState:
    """Finds the bot, the conversation and each attachment. What the caller got wrong becomes `error`, a value that
    reads the same over every interface."""
    try:
        found = await _validate(state, runtime, caller, bots, conversations, attachments)
        await reserve_for(budget, caller(runtime), found["turn"], state["message"], found["files"])
    except CallerError as error:
        return {"error": error.problem(), "response": None}
    return found


async def _validate(
    state: ChatState,
    runtime: Runtime[Context],
    caller: CallerOf,
    bots: BotStore,
    conversations: TurnStore,
    attachments: AttachmentStore,
) -> ChatState:
    organisation = caller(runtime)
    claims = state.get("attachments") or []
    if len(claims) > MAX_FILES:
        raise TooManyFiles(f"A message takes at most {MAX_FILES} files; {len(claims)} were given")
    if not state["message"].strip() and not claims:
        raise InvalidRequest("A message needs a text or a file")
    bot_id = parse_id("bot", state["botId"])
    given = state.get("conversationId")
    conversation_id = parse_id("conversation", given) if given else None
    bot, resolved = await asyncio.gather(
        _bot_of(organisation, bot_id, conversation_id, bots, conversations),
        attachments.resolve(organisation, claims, conversation_id=conversation_id) if claims else _nothing(),
    )
    turn = _turn(bot, conversation_id, state.get("replaceMessageId"), runtime.context or Context())
    return {
        "turn": turn,
        "files": [attached_file(each) for each in resolved],
        "conversationId": turn["conversationId"],
        "error": None,
        "response": None,
        "degraded": [],
        "ranked": [],
        "maps": [],
        "facts": [],
        "notSent": [],
    }


def _reserved(context: Context) -> UUID:
    """The id for a conversation that this turn begins: the one whose thread the server opened, where there is one."""
    return UUID(context.conversation_id) if context.conversation_id else new_id()


async def _nothing() -> Sequence[Attachment]:
    return ()


async def _bot_of(
    organisation: UUID, bot_id: UUID, conversation_id: UUID | None, bots: BotStore, conversations: TurnStore
) -> Bot:
    bot = await bots.get(organisation, bot_id)
    if conversation_id is not None:
        conversation = await conversations.get(organisation, conversation_id)
        if conversation.bot_id != bot_id:
            raise Conflict(f"Conversation {conversation_id} is another bot's")
    return bot


def _turn(bot: Bot, conversation_id: UUID | None, replaces: str | None, context: Context) -> Turn:
    if replaces and conversation_id is None:
        raise InvalidRequest("replaceMessageId needs the conversationId of its conversation")
    return Turn(
        conversationId=str(conversation_id or _reserved(context)),
        opening=conversation_id is None,
        questionId=str(new_id()),
        answerId=str(new_id()),
        botId=str(bot.id),
        model=bot.model,
        prompt=prompt_with(bot.prompt, context.instructions),
        saidOfModel=_said(bot.capabilities, context.max_output),
        shrinkImages=bot.shrink_images,
        weights=WeightsDict(vector=bot.weights.vector, text=bot.weights.text, importance=bot.weights.importance),
        knowledgeBases=[
            KnowledgeBaseRef(id=str(base.id), name=base.name, embedding=base.embedding) for base in bot.knowledge_bases
        ],
        replaceMessageId=str(parse_id("message", replaces)) if replaces else None,
    )


def _said(overrides: CapabilityOverrides, longest: int | None) -> SaidOfModel:
    limits = [limit for limit in (overrides.max_output, longest) if limit is not None]
    return SaidOfModel(
        image=overrides.image,
        pdf=overrides.pdf,
        audio=overrides.audio,
        contextWindow=overrides.context_window,
        maxOutput=min(limits, default=None),
    )


def attached_file(attachment: Attachment) -> AttachedFile:
    """The attachment as state carries it."""
    return AttachedFile(
        id=str(attachment.id),
        filename=attachment.filename,
        contentType=attachment.file_type.value,
        modality=attachment.file_type.modality.value,
        size=attachment.size,
        storageKey=attachment.storage_key,
    )
