"""The chat graph over LangServe: the same turns as over REST, with their queue, budget, history and stops."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, NotRequired

from langchain_core.callbacks import AsyncCallbackManagerForChainRun
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ConfigDict, Field, RootModel, WithJsonSchema
from typing_extensions import TypedDict

from tributary.domain.errors import TributaryError
from tributary.routes.chat import AnswerShape, require_message_length
from tributary.routes.served.claims import ClaimInput, claims_of
from tributary.routes.served.graph import Chunks, Given, Output, ServedGraph
from tributary.routes.served.runs import Run, apart, run_of
from tributary.routes.served.schemas import GivenModel, flat, refusable
from tributary.routes.shapes import Text
from tributary.turns.events import RunningTurn, TurnEvent
from tributary.turns.runner import TurnRequest


class ChatTurn(TypedDict):
    """A message to a bot."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    message: Text
    botId: str
    conversationId: NotRequired[Annotated[str | None, Field(description="Leave it out to begin one")]]
    attachments: NotRequired[Annotated[list[ClaimInput], Field(max_length=100)]]
    replaceMessageId: NotRequired[Annotated[str | None, Field(description="A question to edit or to try again")]]


class ChatTurnInput(GivenModel[Annotated[ChatTurn, WithJsonSchema(flat(ChatTurn, given=True))]]):
    """A message to a bot."""


class ChatTurnOutput(RootModel[Annotated[dict[str, Any], WithJsonSchema(refusable(AnswerShape))]]):
    """The answer, or why there is none."""


class ServedChat(ServedGraph):
    """A turn belongs to the server from its beginning: a client that leaves takes nothing along."""

    path = "chat"
    given: type[BaseModel] = ChatTurnInput
    answer: type[BaseModel] = ChatTurnOutput

    async def events(self, run: Run, given: Given) -> AsyncIterator[TurnEvent]:
        try:
            turn = _start(run, given)
        except TributaryError as error:
            yield TurnEvent(event="error", data=error.problem())
            return
        async for event in turn.events():
            if event["event"] == "status" and _stored(event["data"]):
                yield TurnEvent(event="conversation", data=str(turn.conversation_id))
            yield event

    def chunks(self) -> Chunks:
        return _ChatChunks()

    async def _answer(
        self,
        given: Given,
        run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG002 # LangChain gives it by this name
        config: RunnableConfig,
    ) -> Output:
        """Without its events: nobody listens to them."""
        run = run_of(config)
        try:
            turn = _start(run, given)
        except TributaryError as error:
            return {"error": error.problem()}
        await turn.wait()
        return {"error": turn.problem} if turn.response is None else run.shaped(dict(turn.response))


def _start(run: Run, given: Given) -> RunningTurn:
    """Raises what refuses the message before its turn begins."""
    require_message_length(given["message"])
    request = TurnRequest(
        organisation_id=run.caller.organisation_id,
        bot_id=given["botId"],
        message=given["message"],
        conversation_id=given.get("conversationId"),
        attachments=claims_of(given.get("attachments")),
        replace_message_id=given.get("replaceMessageId"),
    )
    return apart(lambda: run.services.turns.start(request))


def _stored(status: dict[str, str]) -> bool:
    """Whether the question is stored now, and with it the conversation."""
    return status == {"node": "record_question", "state": "finished"}


class _ChatChunks(Chunks):
    """First the conversation's id, so that the answer can be stopped or joined; then the text; then all the rest."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    @property
    def begun(self) -> bool:
        return "message" in self._told

    def middle(self, event: str, data: Any) -> Output | None:
        if event == "conversation":
            self._told.add("conversationId")
            return {"conversationId": data}
        if event == "token":
            self._told.add("message")
            return {"message": data["text"]}
        return super().middle(event, data)

    def end(self, output: Output) -> Output:
        return {name: value for name, value in output.items() if name not in self._told}
