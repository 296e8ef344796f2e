"""Does a JSON value fit a JSON Schema? One plain sentence for each thing that does not."""

from __future__ import annotations

from typing import Any

import jsonschema_rs


def violations(schema: Any, value: Any) -> list[str]:
    """What is wrong with `value`, each with its place; empty where it fits or there is no schema."""
    if schema is None:
        return []
    checker = jsonschema_rs.validator_for(schema)
    return [_sentence(error) for error in checker.iter_errors(value)]


def _sentence(error: jsonschema_rs.ValidationError) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)
    return f"{where.lstrip('.')}: {error.message}" if where else str(error.message)
