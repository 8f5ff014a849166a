"""JSON schemas of what is served, as LangServe shows them and as OpenAPI describes them."""

from typing import Any

from pydantic import BaseModel, TypeAdapter

from tributary.routes.described import PROBLEM


def refusable(answer: type[BaseModel]) -> dict[str, Any]:
    """An output, or `{error: problem}`. Without references, which would lead nowhere in another document."""
    refused = {
        "type": "object",
        "title": "Refusal",
        "required": ["error"],
        "properties": {"error": PROBLEM},
        "additionalProperties": False,
    }
    return {"anyOf": [flat(answer), refused]}


def flat(kind: Any, *, given: bool = False) -> dict[str, Any]:
    """The schema of a type, as it is answered or `given`, with each reference replaced by what it refers to."""
    schema = TypeAdapter(kind).json_schema(mode="validation" if given else "serialization")
    definitions = schema.pop("$defs", {})
    resolved = _resolved(schema, definitions)
    assert isinstance(resolved, dict)
    return resolved


def _resolved(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_resolved(each, definitions) for each in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        beside = {name: value for name, value in part.items() if name != "$ref"}
        return _resolved({**definitions[part["$ref"].rsplit("/", 1)[-1]], **beside}, definitions)
    return {name: _resolved(value, definitions) for name, value in part.items()}
