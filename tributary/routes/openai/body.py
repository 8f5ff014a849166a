"""The body of a chat completion, as far as it means something here."""

from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from tributary.domain.errors import InvalidRequest
from tributary.routes.openai.errors import BadParameter
from tributary.routes.shapes import Text

#: Messages of a request. Of those that are given, the last ones that fit are sent to the model.
MAX_MESSAGES = 2_000
MAX_PARTS = 100


class _Given(BaseModel):
    """Clients send many fields of their own: what is not named here is ignored."""

    model_config = ConfigDict(extra="ignore")


class ImageUrl(_Given):
    url: str = Field(description="A data URL; addresses are not fetched")
    detail: str | None = None


class FileData(_Given):
    filename: Text | None = None
    file_data: str | None = Field(None, description="A data URL, or base64 alone")
    file_id: str | None = Field(None, description="Not supported: there are no stored files here")


class AudioData(_Given):
    data: str = Field(description="Base64")
    format: str = Field("", description="Of no consequence: the type is told from the bytes")


class Part(_Given):
    """Text, a picture, a file (PDF, text, audio, picture) or a recording."""

    type: str = Field(description="`text`, `image_url`, `file` or `input_audio`")
    text: Text | None = None
    refusal: Text | None = None
    image_url: ImageUrl | str | None = None
    file: FileData | None = None
    input_audio: AudioData | None = None


class MessageBody(_Given):
    role: str = Field(description="`system`, `developer`, `user` or `assistant`")
    content: Text | Annotated[list[Part], Field(max_length=MAX_PARTS, fail_fast=True)] | None = None
    tool_calls: list[Any] | None = Field(None, description="Not supported")
    function_call: Any | None = Field(None, description="Not supported")


class StreamOptions(_Given):
    include_usage: bool | None = False


class ResponseFormat(_Given):
    type: str = "text"


class CompletionBody(_Given):
    """A chat completion. Fields that are not named are ignored, such as `temperature`: a bot's model is its owner's."""

    model: Text = Field(max_length=200, description="A bot's id")
    messages: list[MessageBody] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    max_completion_tokens: int | None = Field(None, ge=1, le=10_000_000)
    max_tokens: int | None = Field(None, ge=1, le=10_000_000, description="An older name of the same")
    n: int | None = Field(1, description="1 alone")
    stop: str | list[str] | None = Field(None, description="Not supported")
    logprobs: bool | None = Field(False, description="Not supported")
    top_logprobs: int | None = Field(None, description="Not supported")
    response_format: ResponseFormat | None = Field(None, description="`text` alone")
    modalities: list[str] | None = Field(None, description="`text` alone")
    audio: Any | None = Field(None, description="Not supported")
    tools: list[Any] | None = Field(None, description="Not supported: a bot's answers come from its knowledge bases")
    functions: list[Any] | None = Field(None, description="Not supported")
    web_search_options: Any | None = Field(None, description="Not supported")

    @property
    def longest(self) -> int | None:
        """Tokens that the answer is limited to."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def tells_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


def read_body(raw: bytes) -> CompletionBody:
    """The request, if it asks for nothing that isn't done here.

    Raises:
        BadParameter, InvalidRequest: it is not as described, or asks for what would change the answer's meaning.
    """
    try:
        # Parsed first: pydantic's own reading of JSON takes four times as long to find that there is too much of it.
        body = CompletionBody.model_validate(orjson.loads(raw))
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"The body is not JSON: {error}") from error
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False, include_input=False)) from error
    _require_supported(body)
    return body


def _refusal(errors: list[ErrorDetails]) -> InvalidRequest:
    """The most exact of the complaints: of a union, each member has one."""
    chosen = max(errors, key=lambda each: (len(each["loc"]), each["type"] != "string_type"))
    param = ""
    for part in chosen["loc"]:
        if isinstance(part, int):
            param += f"[{part}]"
        elif part.isidentifier() and part.islower() and part != "str":  # others name members of a union
            param += f".{part}" if param else part
    return BadParameter(param, chosen["msg"]) if param else InvalidRequest(chosen["msg"])


def _require_supported(body: CompletionBody) -> None:
    asked = {
        "n": body.n not in (None, 1),
        "stop": bool(body.stop),
        "logprobs": bool(body.logprobs),
        "top_logprobs": bool(body.top_logprobs),
        "response_format": body.response_format is not None and body.response_format.type != "text",
        "modalities": body.modalities is not None and body.modalities != ["text"],
        "audio": body.audio is not None,
        "tools": bool(body.tools),
        "functions": bool(body.functions),
        "web_search_options": body.web_search_options is not None,
    }
    for param, wanted in asked.items():
        if wanted:
            raise BadParameter(param, "not supported here; leave it out")
