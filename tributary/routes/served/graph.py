"""A graph as LangServe runs it: one runnable for each, over the services that the rest of the server uses."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForChainRun
from langchain_core.callbacks.manager import adispatch_custom_event
from langchain_core.runnables import AddableDict, Runnable, RunnableConfig
from langchain_core.runnables.config import get_config_list
from pydantic import BaseModel

from tributary.domain.errors import Problem
from tributary.routes.served.runs import Run, run_of
from tributary.routes.served.steps import Steps
from tributary.turns.events import TurnEvent

Given: TypeAlias = dict[str, Any]
Output: TypeAlias = dict[str, Any]

#: Runs of one batch that are at work at the same time.
AT_ONCE = 8


class ServedGraph(Runnable[Given, Output], ABC):
    """Runs never raise what the caller should see: a refusal is the output `{error: problem}`, and so is a failure,
    but in a stream, which ends with it instead."""

    #: Under which it is served.
    path: str
    given: type[BaseModel]
    answer: type[BaseModel]
    #: Whether a key that may only chat can run it.
    for_chat: bool = True

    @abstractmethod
    def events(self, run: Run, given: Given) -> AsyncIterator[TurnEvent]:
        """How a run goes on, up to one `done` with its output, or one `error` with a problem."""

    @abstractmethod
    def chunks(self) -> "Chunks":
        """What a stream tells of a run."""

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        return super().get_name(suffix, name=name or self.path)

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:  # noqa: ARG002
        return self.given

    def get_output_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:  # noqa: ARG002
        return self.answer

    def invoke(self, input: Given, config: RunnableConfig | None = None, **_: Any) -> Output:  # noqa: A002 # LangChain's
        return asyncio.run(self.ainvoke(input, config))

    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **_: Any) -> Output:  # noqa: A002
        return await self._acall_with_config(self._answer, input, config)

    async def abatch(
        self,
        inputs: list[Given],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **_: Any,
    ) -> list[Output]:
        """In their order; a few at a time, so that one request is not all that the server does."""
        configs: list[RunnableConfig] = [
            {**each, "max_concurrency": AT_ONCE} for each in get_config_list(config, len(inputs))
        ]
        return await super().abatch(inputs, configs, return_exceptions=return_exceptions)

    async def astream(
        self,
        input: Given,  # noqa: A002
        config: RunnableConfig | None = None,
        **_: Any,
    ) -> AsyncIterator[Output]:
        async def alone() -> AsyncIterator[Given]:
            yield input

        async for chunk in self._atransform_stream_with_config(alone(), self._stream, config):
            yield chunk

    async def _answer(
        self,
        given: Given,
        run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG002 # LangChain gives it by this name
        config: RunnableConfig,
    ) -> Output:
        last = TurnEvent(event="error", data={})
        run = run_of(config)
        async for event in self.events(run, given):
            last = event
        return run.shaped(last["data"]) if last["event"] == "done" else {"error": last["data"]}

    async def _stream(
        self,
        inputs: AsyncIterator[Given],
        run_manager: AsyncCallbackManagerForChainRun,
        config: RunnableConfig,
    ) -> AsyncIterator[Output]:
        async for given in inputs:
            run, chunks = run_of(config), self.chunks()
            steps = Steps(run_manager) if run.stepwise else None
            async for event in self.events(run, given):
                if steps is not None:
                    await steps.follow(event)
                    await _dispatch(event, run, config)
                if (chunk := chunks.of(event, run)) is not None:
                    yield AddableDict(run.shaped(chunk))


async def _dispatch(event: TurnEvent, run: Run, config: RunnableConfig) -> None:
    """Sources and usage, when they are known, as events of their own."""
    name, data = event["event"], event["data"]
    if name in ("sources", "usage"):
        await adispatch_custom_event(name, run.renamed(data) if name == "sources" else data, config=config)


class Chunks:
    """Turns events into chunks. Added up, the chunks are the output, with the `steps` beside it."""

    def of(self, event: TurnEvent, run: Run) -> Output | None:
        """The chunk that tells of the event; None where it tells nothing new."""
        name, data = event["event"], event["data"]
        if name == "error":
            return self._failed(data, run)
        if name == "done":
            return self.end(data)
        # A log has steps of its own.
        return None if run.logged and name == "status" else self.middle(name, data)

    def middle(self, event: str, data: Any) -> Output | None:
        return {"steps": [data]} if event == "status" else None

    def end(self, output: Output) -> Output:
        return output

    @property
    def begun(self) -> bool:
        """Whether a part of the output has been told: what goes wrong from then on is no refusal."""
        return False

    def _failed(self, problem: Problem, run: Run) -> Output | None:
        """A refusal is data; a failure ends the stream."""
        if problem["status"] < HTTPStatus.INTERNAL_SERVER_ERROR and not self.begun:
            return {"error": problem}
        run.failure = problem
        return {"error": problem} if run.logged else None
