"""Definitions of other engines, translated."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from penstock.api.call import Calls, RequestContext
from penstock.flow.format.yaml_writer import to_plain
from penstock.importing.kinds import import_text

calls = Calls("checks")


class Import(Struct, forbid_unknown_fields=True, kw_only=True):
    """A text of another engine; `name` is that of the workflow, and says which where the text has several."""

    kind: Literal["zenko", "viblio", "pinball"]
    text: Annotated[str, Meta(max_length=512 * 1024)]
    name: Annotated[str, Meta(max_length=128)] | None = None


class ImportedDefinition(Struct):
    """The definition, as JSON and as YAML with its notes, and a sentence for each thing that it does not carry."""

    definition: dict[str, Any]
    text: str
    notes: list[str]


@calls.post("/api/import", "read", recorded=False, takes=Import, gives=ImportedDefinition)
async def import_definition(context: RequestContext[Import, None]) -> ImportedDefinition:
    """Make a definition of another engine's text; nothing is kept. 422 with each thing that is wrong in the text."""
    return await context.engine.drafts.threads.result_of(partial(_imported, context.body))


def _imported(body: Import) -> ImportedDefinition:
    made = import_text(body.kind, body.text, body.name)
    return ImportedDefinition(to_plain(made.definition), made.yaml(), list(made.notes))
