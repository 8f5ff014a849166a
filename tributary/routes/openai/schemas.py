"""What OpenAPI says of the routes of OpenAI's API."""

from typing import Any

from tributary.routes.described import problems
from tributary.routes.openai.body import CompletionBody

_ERROR = {
    "type": "object",
    "title": "OpenAIError",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string", "description": "For people"},
                "type": {"type": "string", "examples": ["invalid_request_error"]},
                "param": {"type": ["string", "null"], "examples": ["messages[0].content[1].image_url"]},
                "code": {"type": "string", "examples": ["not_found"], "description": "As in our problems"},
                "files": {
                    "type": "array",
                    "items": {"type": "object"},
                    "description": "Of a message that is too large, its files as `{id, filename, size}`",
                },
            },
        }
    },
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """`responses` of a route: the errors of these statuses, and those that are always possible."""
    described = problems(*statuses)
    described.pop(422)
    described[400] = {"description": "Not as described, or not supported"}
    return {
        status: {"description": each["description"], "content": {"application/json": {"schema": _ERROR}}}
        for status, each in sorted(described.items(), key=lambda item: int(item[0]))
    }


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """The schema without references: what a route reads by itself stands in no list of components."""
    if isinstance(schema, list):
        return [_inlined(each, definitions) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _inlined(each, definitions) for key, each in schema.items() if key != "$defs"}


def completion_body() -> dict[str, Any]:
    """`openapi_extra` of a route that reads a `CompletionBody`."""
    schema = CompletionBody.model_json_schema()
    content = {"application/json": {"schema": _inlined(schema, schema["$defs"])}}
    return {"requestBody": {"required": True, "content": content}}
