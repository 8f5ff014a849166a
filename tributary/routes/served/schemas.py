"""JSON schemas of what is served, as LangServe shows them and as OpenAPI describes them."""

from typing import Any, Generic, TypeVar

from pydantic import BaseModel, RootModel, TypeAdapter

from tributary.routes.described import PROBLEM

Given = TypeVar("Given")


class GivenModel(RootModel[Given], Generic[Given]):
    """An input. The schema that LangServe shows is read by its playground, which breaks on what may be null."""

    @classmethod
    def model_json_schema(cls, *arguments: Any, **options: Any) -> dict[str, Any]:
        shown = _plain(super().model_json_schema(*arguments, **options))
        assert isinstance(shown, dict)
        return shown


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


def _plain(part: Any) -> Any:
    """The schema with each choice between a type and null as that type, since what may be null may be left out, and
    without titles: labels are made from names, which keep their capitals."""
    if isinstance(part, list):
        return [_plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    choices = [each for each in part.get("anyOf", ()) if each != {"type": "null"}]
    if len(choices) == 1:
        part = {**{name: value for name, value in part.items() if name != "anyOf"}, **choices[0]}
    return {name: _plain(value) for name, value in part.items() if name != "title" or isinstance(value, dict)}
