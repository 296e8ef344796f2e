"""Does a JSON value fit a JSON Schema? One plain sentence for each thing that does not."""

from __future__ import annotations

from typing import Any

import jsonschema_rs


def violations(schema: Any, value: Any) -> list[str]:
    """What is wrong with `value`, each with its place; empty where it fits or there is no schema."""
    if schema is None:
        return []
    checker = jsonschema_rs.validator_for(schema, retriever=_refuse)
    return [_sentence(error) for error in checker.iter_errors(value)]


def _refuse(address: str) -> Any:
    """A schema never reaches out to the network."""
    raise ValueError(f"the schema refers to {address}: put what it needs into the schema itself")


def _sentence(error: jsonschema_rs.ValidationError) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
    return f"{where.lstrip('.')}: {error.message}" if where else str(error.message)
