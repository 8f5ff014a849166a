"""The steps of a run as runs of LangChain's callbacks: what `stream_events` and `stream_log` are made from."""

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult

from tributary.turns.events import TurnEvent


class Steps:
    """Follows a run's events. Steps say that they ran, and nothing of what they read: prompts, contexts and hits are
    for `GET /api/messages/{id}/trace`, which not every key may ask for."""

    def __init__(self, run: AsyncCallbackManagerForChainRun) -> None:
        self._run = run
        self._open: dict[str, list[AsyncCallbackManagerForChainRun]] = {}
        self._model: AsyncCallbackManagerForLLMRun | None = None
        self._said: list[str] = []

    async def follow(self, event: TurnEvent) -> None:
        if event["event"] == "token":
            await self._token(event["data"]["text"])
        elif event["event"] == "status":
            await self._status(event["data"]["node"], event["data"]["state"])
        elif event["event"] in ("done", "error"):
            await self._close()

    async def _status(self, node: str, state: str) -> None:
        if state == "started":
            step = await self._run.get_child().on_chain_start({}, {}, name=node)
            self._open.setdefault(node, []).append(step)
            return
        if node == "invoke_model":
            await self._hush()
        if steps := self._open.get(node):
            await steps.pop(0).on_chain_end({"state": state})

    async def _token(self, text: str) -> None:
        if self._model is None:
            above = self._open.get("invoke_model", [self._run])[-1:] or [self._run]
            [self._model] = await above[0].get_child().on_chat_model_start({}, [[]], name="answer")
        self._said.append(text)
        await self._model.on_llm_new_token(text, chunk=ChatGenerationChunk(message=AIMessageChunk(content=text)))

    async def _hush(self) -> None:
        if self._model is not None:
            answer = AIMessage(content="".join(self._said))
            await self._model.on_llm_end(LLMResult(generations=[[ChatGeneration(message=answer)]]))
            self._model = None

    async def _close(self) -> None:
        """Ends what a run that broke off has left open."""
        await self._hush()
        for left in self._open.values():
            while left:
                await left.pop(0).on_chain_end({"state": "failed"})
