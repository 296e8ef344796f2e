"""A problem+json as the error that the server raised: same class, same code, same sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

# Classes that were never imported would not be found by their code.
import penstock.engine.authoring.check_gate
import penstock.runtime.errors
import penstock.secrets.errors
import penstock.store.errors  # noqa: F401
from penstock.access.errors import Unauthenticated
from penstock.flow.errors import PenstockError
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.remote.errors import RemoteError
from penstock.store.errors import StoreAway

SIGN_IN = "give a token of `penstock access create`, as PENSTOCK_TOKEN or with --token"


def error_of(problem: Mapping[str, Any]) -> Exception:
    """The error to raise. What its class would know besides code and sentence is in `problem`."""
    code, detail = str(problem["code"]), str(problem.get("detail") or problem.get("title") or "it refused")
    if code == Unauthenticated.code:  # who reads this sends no headers
        detail = f"{detail.partition(': send ')[0]}: {SIGN_IN}"
    if code == DefinitionError.code:
        return _definition_error(problem, detail)
    # A code of a later release: what cannot be done just now is tried again, whatever it is called.
    kind = _kinds().get(code, StoreAway if problem.get("status") == 503 else RemoteError)
    error: PenstockError = kind.__new__(kind)
    Exception.__init__(error, detail)
    error.code = code
    error.problem = dict(problem)  # type: ignore[attr-defined]
    return error


def _definition_error(problem: Mapping[str, Any], detail: str) -> DefinitionError:
    found = [
        Problem(
            str(each.get("code", DefinitionError.code)),
            str(each.get("path", "")),
            str(each.get("message", detail)),
            each.get("line"),
            each.get("column"),
        )
        for each in problem.get("errors", ())
    ]
    return DefinitionError(found or [Problem(DefinitionError.code, "", detail)])


@cache
def _kinds() -> dict[str, type[PenstockError]]:
    """Every class of errors by its code; of several the one highest in the tree."""
    kinds: dict[str, type[PenstockError]] = {}
    for kind in _tree(PenstockError):
        kinds.setdefault(kind.code, kind)
    return kinds


def _tree(root: type[PenstockError]) -> Iterator[type[PenstockError]]:
    """The classes, parents before their children."""
    level = [root]
    while level:
        yield from level
        level = [child for kind in level for child in kind.__subclasses__()]
