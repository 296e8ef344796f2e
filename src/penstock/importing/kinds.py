"""The engines whose definitions can be read."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from penstock.flow.model.names import nearest
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.importing.imported import Imported, hint
from penstock.importing.pinball import import_pinball
from penstock.importing.viblio import import_viblio
from penstock.importing.zenko import import_zenko

Read = Callable[[str, str | None], Imported]

KINDS: dict[str, Read] = {"zenko": import_zenko, "viblio": import_viblio, "pinball": import_pinball}


def import_text(kind: str, text: str, name: str | None = None) -> Imported:
    """The definition of another engine's text. Raises DefinitionError with every problem."""
    read = KINDS.get(kind)
    if read is None:
        why = f"'{kind}' cannot be imported, only {', '.join(KINDS)}{hint(nearest(kind, KINDS))}"
        raise DefinitionError([Problem("unknown_kind", "", why)])
    try:
        if not text.strip():
            raise DefinitionError([Problem("empty", "", "the text is empty: there is nothing to import")])
        return read(text, name)
    except DefinitionError as error:
        # Whoever sent it sent something that can be read: it is the text of another engine that is wrong.
        raise DefinitionError([replace(each, code="bad_import") for each in error.problems]) from None
