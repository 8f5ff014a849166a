"""What an OpenAI-compatible server refuses in a request, in the words of its errors."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from tests.support.provider_rejection import Rejection, decoded, looks_like

_ARGUMENTS = {
    "model", "messages", "stream", "stream_options", "temperature", "top_p", "max_tokens", "max_completion_tokens",
    "stop", "seed", "n", "user", "tools", "tool_choice", "response_format", "reasoning_effort", "reasoning", "plugins",
    "provider", "models", "transforms", "usage", "frequency_penalty", "presence_penalty", "logprobs", "top_logprobs",
    "metadata", "store", "service_tier", "parallel_tool_calls",
}  # fmt: skip
#: What only OpenRouter takes.
_OPENROUTER_ARGUMENTS = {"plugins", "provider", "models", "transforms", "usage", "reasoning"}
_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PART_KEYS = {
    "text": {"type", "text"},
    "image_url": {"type", "image_url"},
    "input_audio": {"type", "input_audio"},
    "file": {"type", "file"},
}


def check_chat(body: Mapping[str, Any], *, openrouter: bool) -> None:
    """Raises `Rejection` for what a chat completion can't be."""
    for argument in body:
        if argument not in (_ARGUMENTS if openrouter else _ARGUMENTS - _OPENROUTER_ARGUMENTS):
            raise Rejection(f"Unrecognized request argument supplied: {argument}")
    if not isinstance(body.get("model"), str):
        raise Rejection("you must provide a model parameter")
    if "stream_options" in body and not body.get("stream"):
        raise Rejection(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
        )
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Rejection("Invalid 'messages': empty array. Expected an array with minimum length 1.", param="messages")
    for index, message in enumerate(messages):
        _check_message(message, f"messages[{index}]")
    _check_order([message["role"] for message in messages])


def _check_message(message: Any, where: str) -> None:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        role = message.get("role") if isinstance(message, dict) else message
        raise Rejection(
            f"Invalid value: '{role}'. Supported values are: {', '.join(map(repr, _ROLES))}.",
            param=f"{where}.role",
            code="invalid_value",
        )
    if extra := set(message) - {"role", "content", "name", "tool_calls", "tool_call_id"}:
        raise Rejection(f"Unknown parameter: '{where}.{min(extra)}'.", param=where, code="unknown_parameter")
    content = message.get("content")
    if isinstance(content, str):
        if not content.strip():
            raise Rejection(f"{where}: text content must be non-empty", param=f"{where}.content")
    elif isinstance(content, list) and content:
        for index, part in enumerate(content):
            _check_part(part, f"{where}.content[{index}]", message["role"])
    else:
        raise Rejection(
            f"Invalid type for '{where}.content': expected one of a string or array of objects.",
            param=f"{where}.content",
            code="invalid_type",
        )


def _check_order(roles: list[str]) -> None:
    """Several models behind OpenRouter take strictly alternating turns, ending with the user's."""
    turns = [role for role in roles if role not in ("system", "developer")]
    if not turns or turns[-1] != "user":
        raise Rejection("Last message must have role `user`.")
    if any(first == second for first, second in pairwise(turns)):
        raise Rejection(
            "After the (optional) system message(s), user or tool message(s) should alternate with assistant "
            "message(s)."
        )


def _check_part(part: Any, where: str, role: str) -> None:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in _PART_KEYS:
        raise Rejection(
            f"Invalid value: '{kind}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', "
            "and 'file'.",
            param=f"{where}.type",
            code="invalid_value",
        )
    if extra := set(part) - _PART_KEYS[kind]:
        raise Rejection(f"Unknown parameter: '{where}.{min(extra)}'.", param=where, code="unknown_parameter")
    if kind != "text" and role != "user":
        raise Rejection(f"Invalid '{where}': only messages with role 'user' can contain this type.", param=where)
    _CHECKS[kind](part.get(kind if kind != "text" else "text"), f"{where}.{kind}")


def _check_text(text: Any, where: str) -> None:
    if not isinstance(text, str):
        raise Rejection(f"Missing required parameter: '{where}'.", param=where, code="missing_required_parameter")
    if not text.strip():
        raise Rejection(f"{where}: text content blocks must be non-empty", param=where)


def _check_image(image: Any, where: str) -> None:
    url = image.get("url") if isinstance(image, dict) else None
    if not isinstance(url, str) or not url.startswith("data:"):
        raise Rejection(f"Invalid '{where}'. Expected a valid URL.", param=where, code="invalid_image_url")
    kind, _, data = url.removeprefix("data:").partition(";base64,")
    content = decoded(data)
    if content is None:
        raise Rejection("Invalid base64 image_url.", param=where, code="invalid_base64")
    if kind not in _IMAGES or not looks_like(kind, content):
        raise Rejection(
            "You uploaded an unsupported image. Please make sure your image has of one the following formats: "
            "['png', 'jpeg', 'gif', 'webp'].",
            param=where,
            code="invalid_image_format",
        )


def _check_file(file: Any, where: str) -> None:
    if not isinstance(file, dict) or set(file) - {"filename", "file_data", "file_id"}:
        raise Rejection(f"Invalid '{where}'.", param=where, code="invalid_value")
    if not isinstance(file.get("filename"), str) or not file["filename"]:
        raise Rejection(
            f"Missing required parameter: '{where}.filename'.",
            param=f"{where}.filename",
            code="missing_required_parameter",
        )
    kind, marker, data = str(file.get("file_data", "")).removeprefix("data:").partition(";base64,")
    if kind != "application/pdf" or not marker:
        raise Rejection(
            f"Invalid '{where}.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type "
            f"(e.g. 'data:application/pdf;base64,aGVsbG8='), but got a value without the 'data:' prefix or type.",
            param=f"{where}.file_data",
            code="invalid_value",
        )
    content = decoded(data)
    if content is None or not looks_like("application/pdf", content):
        raise Rejection("Failed to parse the file: it is not a valid PDF.", param=where, code="invalid_file")


def _check_audio(audio: Any, where: str) -> None:
    if not isinstance(audio, dict) or audio.get("format") not in ("wav", "mp3"):
        given = audio.get("format") if isinstance(audio, dict) else audio
        raise Rejection(
            f"Invalid value: '{given}'. Supported values are: 'wav' and 'mp3'.",
            param=f"{where}.format",
            code="invalid_value",
        )
    content = decoded(audio.get("data"))
    if content is None or not looks_like(audio["format"], content):
        raise Rejection(
            "The data provided for 'input_audio' is not of valid audio format.", param=where, code="invalid_value"
        )


_CHECKS = {"text": _check_text, "image_url": _check_image, "file": _check_file, "input_audio": _check_audio}


def check_embeddings(body: Mapping[str, Any]) -> list[str]:
    """The texts of an embeddings request; raises `Rejection` for what it can't be."""
    for argument in body:
        if argument not in ("model", "input", "encoding_format", "dimensions", "user"):
            raise Rejection(f"Unrecognized request argument supplied: {argument}")
    if not isinstance(body.get("model"), str):
        raise Rejection("you must provide a model parameter")
    if body.get("encoding_format", "float") not in ("float", "base64"):
        raise Rejection("Invalid 'encoding_format'.", param="encoding_format", code="invalid_value")
    given = body.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise Rejection("'$.input' is invalid. Please check the API reference.", param="input")
    if len(texts) > 2048:
        raise Rejection(
            "Invalid 'input': array too long. Expected an array with maximum length 2048.",
            code="array_above_max_length",
        )
    return list(texts)
