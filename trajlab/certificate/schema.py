"""The JSON Schema of a certificate, and a check of the few of its words that this one uses.

Others check `schema.json` with whatever validator they have; here a certificate is checked before its numbers are
believed, without a library for it.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("schema.json")
_KINDS: dict[str, Callable[[object], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
WORDS = {
    *("$schema", "$id", "$defs", "$ref", "title", "description"),
    *("type", "const", "enum", "pattern", "minimum", "required", "properties", "additionalProperties"),
    *("items", "minItems"),
}
"""Every word that the check knows; a test holds the schema to them."""


@functools.cache
def load() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def violations(value: object, schema: dict[str, Any] | None = None, where: str = "certificate") -> Iterator[str]:
    """What of the schema the value does not keep to, one sentence each, none where it keeps to all of it."""
    schema = load() if schema is None else schema
    if "$ref" in schema:
        schema = load()["$defs"][schema["$ref"].rpartition("/")[2]]
    kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", list(_KINDS))
    if not any(_KINDS[kind](value) for kind in kinds):
        yield f"{where} must be {' or '.join(kinds)}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where} must be {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where} must look like {schema['pattern']}"
    if isinstance(value, int | float) and "minimum" in schema and value < schema["minimum"]:
        yield f"{where} must be at least {schema['minimum']}"
    if isinstance(value, dict):
        yield from _members(value, schema, where)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            yield f"{where} must have {schema['minItems']} or more"
        for number, item in enumerate(value):
            yield from violations(item, schema.get("items", {}), f"{where}[{number}]")


def _members(value: dict[str, object], schema: dict[str, Any], where: str) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where} has no {name}"
    for name, member in value.items():
        if name not in known and others is False:
            yield f"{where} has {name!r}, which a certificate has not"
        else:
            yield from violations(member, known.get(name, others), f"{where}.{name}")
