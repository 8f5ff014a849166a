"""Requests and answers of served graphs, as LangServe's clients send and read them."""

from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, Field

Given = TypeVar("Given")
Answer = TypeVar("Answer")

#: Inputs of one batch.
MAX_BATCH = 100

#: LangServe fails on null.
Config = Annotated[
    dict[str, Any], Field(description="A `RunnableConfig`. Nothing in it changes a run, nor for whom it is")
]
Names = Annotated[list[str] | None, Field(description="Of runs, as LangChain filters them")]


class RunBody(BaseModel, Generic[Given]):
    input: Given
    config: Config = Field(default_factory=dict)


class BatchBody(BaseModel, Generic[Given]):
    inputs: list[Given] = Field(max_length=MAX_BATCH)
    config: Config | list[dict[str, Any]] = Field(default_factory=dict)


class FilteredBody(RunBody[Given], Generic[Given]):
    include_names: Names = None
    include_types: Names = None
    include_tags: Names = None
    exclude_names: Names = None
    exclude_types: Names = None
    exclude_tags: Names = None


class RunMetadata(BaseModel):
    run_id: str
    feedback_tokens: list[Any]


class BatchMetadata(BaseModel):
    run_ids: list[str]
    responses: list[RunMetadata]


class RunAnswer(BaseModel, Generic[Answer]):
    output: Answer
    metadata: RunMetadata


class BatchAnswer(BaseModel, Generic[Answer]):
    output: list[Answer]
    metadata: BatchMetadata
