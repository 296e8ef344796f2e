"""The definition format as a JSON Schema (draft 2020-12): for editors, forms and other programs."""

from __future__ import annotations

import json
from typing import Any

from scripts.reference.schema.schema_parts import DEFINITIONS, WORKFLOW
from scripts.reference.schema.schema_verify import VERIFY

Schema = dict[str, Any]

ID = "urn:penstock:definition:1"


def definition_schema() -> Schema:
    """The JSON Schema of a definition. What it refuses, reading refuses too, and more."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "Penstock workflow definition, format 1",
        "description": "A workflow: steps that wait for events, run a task and fire events.",
        **WORKFLOW,
        "$defs": {**DEFINITIONS, "verify": VERIFY},
    }


def schema_text() -> str:
    """The published file, byte for byte."""
    return json.dumps(definition_schema(), indent=2, ensure_ascii=False) + "\n"
