"""docs/reference/http.md, from the service's own OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from typing import Any

from docs.generate.markdown import anchor, code, fence, page, table

from chunkprep_packer.service.app import create_app
from chunkprep_packer.service.settings import ServiceSettings

Schema = Mapping[str, Any]

INTRODUCTION = """\
What `chunkprep serve` answers. `/openapi.json` says the same to programs, and
[service.md](../service.md) says how to run it. Every `/v1` route takes a key as
`Authorization: Bearer KEY`, and needs one as soon as the store holds any."""


def http_api() -> str:
    """The page: every route, and the JSON that goes in and out."""
    document = create_app(ServiceSettings("sqlite://")).openapi()
    shapes = document["components"]["schemas"]
    return page(
        "HTTP", INTRODUCTION, table(("route", "does"), overview(document)),
        "## Routes",
        *(route(method, path, one) for method, path, one in operations(document)),
        problems(document), "## JSON", *(shape(name, shapes[name]) for name in sorted(shapes)),
    )  # fmt: skip


def operations(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    """Method, path and operation, in the order of the routes."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def overview(document: Schema) -> list[tuple[str, str]]:
    """Each route with its one sentence."""
    return [
        (f"[`{method} {path}`](#{anchor(f'{method} {path}')})", one["description"])
        for method, path, one in operations(document)
    ]


def route(method: str, path: str, operation: Schema) -> str:
    """One route: what it does, takes and answers."""
    rows = [
        (
            code(p["name"]),
            p["in"],
            kind(p["schema"]),
            default(p["schema"]),
            p.get("description", ""),
        )
        for p in operation.get("parameters", ())
    ]
    body = operation.get("requestBody")
    parts = [
        f"### {method} {path}",
        operation["description"],
        table(("parameter", "in", "type", "default", "what it is"), rows),
        f"Body: {kind(content(body))}." if body else "",
        f"Answer: {answer(operation)}.",
    ]
    return "\n\n".join(part for part in parts if part)


def answer(operation: Schema) -> str:
    """What a success holds."""
    found = operation["responses"]["200"]
    return kind(content(found)) if found.get("content") else "text"


def content(body: Schema) -> Schema:
    """The schema of a body's one media type."""
    [media] = body["content"].values()
    schema: Schema = media.get("schema", {})
    return schema


def problems(document: Schema) -> str:
    """The answers that are no success, said once for all routes."""
    told = {
        status: one["description"]
        for _, _, operation in operations(document)
        for status, one in operation["responses"].items()
        if status != "200"
    }
    rows = [(status, told[status]) for status in sorted(told)]
    kept = link("ProblemDetails")
    lead = f"Every answer that is no success is a {kept} (`application/problem+json`):"
    return f"## Problems\n\n{lead}\n\n{table(('status', 'means'), rows)}"


def shape(name: str, schema: Schema) -> str:
    """One JSON object: what it is, its fields, an example."""
    needed = schema.get("required", ())
    rows = [
        (
            code(field),
            kind(one),
            "required" if field in needed else default(one),
            one.get("description", ""),
        )
        for field, one in schema.get("properties", {}).items()
    ]
    examples = [fence("json", json.dumps(e, indent=2)) for e in schema.get("examples", ())]
    told = any(what for *_, what in rows)
    head = ("field", "type", "default", "what it is")
    fields = table(head, rows) if told else table(head[:3], [line[:3] for line in rows])
    parts = [f"### {name}", cleandoc(schema.get("description", "")), fields, *examples]
    return "\n\n".join(part for part in parts if part)


def kind(schema: Schema) -> str:
    """A schema in a few words, with a link where it has a section of its own."""
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(kind(one) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return ", ".join(code(str(value)) for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    limits = [f"{word} {schema[key]}" for key, word in _LIMITS.items() if key in schema]
    plain = _FORMATS.get(schema.get("format", ""), str(schema.get("type", "any")))
    return f"{plain} ({', '.join(limits)})" if limits else plain


_FORMATS = {"date-time": "ISO 8601 time"}
_LIMITS = {"minimum": "from", "maximum": "to", "minLength": "characters from"}


def default(schema: Schema) -> str:
    """What holds where it is left out."""
    return code(json.dumps(schema["default"], ensure_ascii=False)) if "default" in schema else ""


def link(name: str) -> str:
    """To the section of a JSON object."""
    return f"[{name}](#{anchor(name)})"
