"""Answers of a server beside what its OpenAPI description says of them."""

import re
from typing import Any

import httpx
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

_METHODS = {"get", "post", "put", "patch", "delete"}


class Description:
    """A server's `/openapi.json`, and which of its operations were called."""

    def __init__(self, client: httpx.Client, prefix: str) -> None:
        self._spec = client.get("/openapi.json").json()
        self._paths: dict[str, Any] = {
            path: item for path, item in self._spec["paths"].items() if path.startswith(prefix)
        }
        self.called: set[tuple[str, str]] = set()
        client.event_hooks["response"].append(self.check)

    def operations(self) -> set[tuple[str, str]]:
        return {(method, path) for path, item in self._paths.items() for method in item if method in _METHODS}

    def check(self, response: httpx.Response) -> None:
        """The status is described, and so is the body: its media type, and its form where that is JSON."""
        method, path = response.request.method.lower(), self._template(response.request.url.path)
        if path is None or method not in self._paths[path]:
            return
        self.called.add((method, path))
        described = self._paths[path][method]["responses"]
        assert str(response.status_code) in described, (method, path, response.status_code)
        content = described[str(response.status_code)].get("content", {})
        media_type = response.headers.get("content-type", "").partition(";")[0]
        if media_type or content:
            assert media_type in content, (method, path, response.status_code, media_type)
        if media_type.endswith("json"):
            response.read()
            self._validate(content[media_type]["schema"], response.json(), f"{method} {path}")

    def _template(self, path: str) -> str | None:
        """The most exact one: a name goes before a parameter."""
        for template in sorted(self._paths, key=lambda each: each.count("{")):
            pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(template))
            if re.fullmatch(pattern, path):
                return template
        return None

    def _validate(self, schema: dict[str, Any], body: Any, where: str) -> None:
        whole = {**schema, "components": self._spec["components"]}
        errors = [error.message for error in Draft202012Validator(whole).iter_errors(body)]
        assert not errors, (where, errors, body)
        self._exact(schema, body, where)

    def _exact(self, schema: dict[str, Any], body: Any, where: str) -> None:
        """Objects hold nothing that is not described."""
        schema = self._resolved(schema)
        if isinstance(body, list):
            for item in body:
                self._exact(schema.get("items", {}), item, where)
        elif isinstance(body, dict) and schema.get("properties") and schema.get("title") != "Problem":
            unknown = body.keys() - schema["properties"].keys()
            assert not unknown, (where, unknown)
            for name, value in body.items():
                self._exact(schema["properties"][name], value, where)

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
        if len(options) == 1:
            schema = options[0]
        while "$ref" in schema:
            schema = self._spec["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
        return schema
