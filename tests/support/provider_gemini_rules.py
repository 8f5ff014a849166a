"""What the Gemini API refuses in a request, in the words of its errors.

Its JSON takes field names in both spellings (`mimeType`, `mime_type`) and base64 in both alphabets, and so do we.
"""

from collections.abc import Mapping
from typing import Any

from tests.support.provider_rejection import Rejection, decoded, looks_like

_GENERATE = {"contents", "systemInstruction", "generationConfig", "safetySettings", "tools", "toolConfig",
             "cachedContent", "model"}  # fmt: skip
_MEDIA = ("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf", "audio/wav",
          "audio/mp3", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac")  # fmt: skip
_LIMIT = 100
_PICTURES = 6
#: Characters that are over 8,192 tokens whatever they are.
_WINDOW = 8_192 * 8
_STANDARD = str.maketrans("-_", "+/")


def check_generate(body: Mapping[str, Any]) -> None:
    """Raises `Rejection` for what a `generateContent` request can't be."""
    _known(body, _GENERATE, "")
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        raise Rejection("* GenerateContentRequest.contents: contents is not specified\n")
    for index, content in enumerate(contents):
        where = f"contents[{index}]"
        _known(content, {"role", "parts"}, where)
        if content.get("role", "user") not in ("user", "model"):
            raise Rejection("Please use a valid role: user, model.")
        _check_parts(content, where)
    if contents[-1].get("role") == "model":
        raise Rejection("Please ensure that multiturn requests end with a user role.")
    if "systemInstruction" in body:
        _known(body["systemInstruction"], {"role", "parts"}, "system_instruction")
        _check_parts(body["systemInstruction"], "system_instruction")


def _known(value: Any, keys: set[str], where: str) -> None:
    if not isinstance(value, dict):
        raise Rejection(f"Invalid value at '{where}' (type.googleapis.com/google.ai.generativelanguage).")
    for key in value:
        if key not in keys:
            at = f" at '{where}'" if where else ""
            raise Rejection(f'Invalid JSON payload received. Unknown name "{key}"{at}: Cannot find field.')


def _check_parts(content: Mapping[str, Any], where: str) -> None:
    parts = content.get("parts")
    if not isinstance(parts, list) or not parts:
        raise Rejection(f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.\n")
    for index, part in enumerate(parts):
        at = f"{where}.parts[{index}]"
        _known(part, {"text", "inlineData", "inline_data"}, at)
        if len(part) != 1:
            raise Rejection(f"* GenerateContentRequest.{at}.data: required oneof field 'data' must have one value\n")
        if "text" in part and not part["text"]:
            raise Rejection(f"* GenerateContentRequest.{at}.data: text must not be empty\n")
        if "text" not in part:
            _check_media(_blob(part), at)


def _blob(part: Mapping[str, Any]) -> Any:
    return part["inlineData"] if "inlineData" in part else part.get("inline_data")


def _check_media(blob: Any, where: str) -> None:
    _known(blob, {"mimeType", "mime_type", "data"}, f"{where}.inline_data")
    data = blob.get("data")
    content = decoded(data.translate(_STANDARD) if isinstance(data, str) else data)
    if content is None:
        raise Rejection(f"Invalid value at '{where}.inline_data.data' (TYPE_BYTES), Base64 decoding failed")
    kind = blob.get("mimeType") or blob.get("mime_type")
    if kind not in _MEDIA:
        raise Rejection(f"Unsupported MIME type: {kind}")
    if kind in ("audio/mp3", "audio/wav", "application/pdf", "image/png", "image/jpeg", "image/webp") and not (
        looks_like(kind, content)
    ):
        raise Rejection("Unable to process input: the data does not match its MIME type.")


def check_embed(body: Mapping[str, Any], model: str) -> list[tuple[str | bytes, int | None]]:
    """The texts and pictures of a `batchEmbedContents` request, each with the dimension it asks for. All parts of a
    content become one vector."""
    _known(body, {"requests"}, "")
    requests = body.get("requests")
    if not isinstance(requests, list) or not requests:
        raise Rejection("* BatchEmbedContentsRequest.requests: requests must not be empty\n")
    if len(requests) > _LIMIT:
        raise Rejection(f"* BatchEmbedContentsRequest.requests: at most {_LIMIT} requests can be in one batch\n")
    found = [_embed_request(request, model, index) for index, request in enumerate(requests)]
    pictures = sum(isinstance(content, bytes) for content, _ in found)
    if pictures > _PICTURES:
        raise Rejection(f"* BatchEmbedContentsRequest.requests: at most {_PICTURES} images, {pictures} were given\n")
    return found


def _embed_request(request: Any, model: str, index: int) -> tuple[str | bytes, int | None]:
    where = f"requests[{index}]"
    _known(request, {"model", "content", "taskType", "title", "outputDimensionality"}, where)
    if request.get("model") != f"models/{model}":
        raise Rejection(f"* BatchEmbedContentsRequest.{where}.model: model does not match the one in the path\n")
    content = request.get("content")
    _known(content, {"role", "parts"}, f"{where}.content")
    _check_parts(content, f"{where}.content")
    dimension = request.get("outputDimensionality")
    blobs = [_blob(part) for part in content["parts"] if "text" not in part]
    for blob in blobs:
        kind = blob.get("mimeType") or blob.get("mime_type")
        if kind not in ("image/png", "image/jpeg"):
            raise Rejection(f"Unsupported MIME type for embeddings: {kind}")
    if blobs:
        seen = decoded(blobs[0]["data"].translate(_STANDARD))
        assert seen is not None
        return seen, dimension
    texts = " ".join(part["text"] for part in content["parts"])
    if len(texts) > _WINDOW:
        raise Rejection("The input token count exceeds the maximum number of tokens allowed 8192.")
    return texts, dimension
