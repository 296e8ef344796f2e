"""What an import comes to: a definition, and a sentence for each thing that it does not carry."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from textwrap import wrap
from typing import Any

from msgspec import Struct

from penstock.flow.format.definition_parser import from_plain
from penstock.flow.format.yaml_writer import write_yaml
from penstock.flow.model.definition import Definition
from penstock.flow.model.names import MAX_NAME_LENGTH, is_reserved
from penstock.flow.model.problems import DefinitionError, Problem

_NOT_IN_STEP = re.compile(r"[^\w \-/()]")
_NOT_IN_WORKFLOW = re.compile(r"[^A-Za-z0-9_.-]+")
_WIDTH = 110


class Imported(Struct, frozen=True):
    """A definition that was made of another engine's, where it came from, and what is left to do by hand."""

    origin: str
    definition: Definition
    notes: tuple[str, ...] = ()

    def yaml(self) -> str:
        """The definition as YAML, with the notes above it."""
        head = [f"Imported from {self.origin}."]
        if self.notes:
            head += ["", "What could not be carried over, or is done in another way:"]
        for each in self.notes:
            first, *rest = wrap(each, _WIDTH, break_long_words=False) or [""]
            head += [f"- {first}", *(f"  {line}" for line in rest)]
        comments = "".join(f"# {line}".rstrip() + "\n" for line in head)
        return comments + write_yaml(self.definition)


class Notes:
    """Sentences, each once, in the order they came."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}

    def say(self, sentence: str) -> None:
        self._said.setdefault(" ".join(sentence.split()))

    def all(self) -> tuple[str, ...]:
        return tuple(self._said)


class Wrongs:
    """The problems of one text, told all at once."""

    def __init__(self, place: Callable[[str], tuple[int, int] | None] = lambda _: None) -> None:
        self._place = place
        self.problems: list[Problem] = []

    def say(self, path: str, sentence: str, code: str = "bad_import") -> None:
        line, column = self._place(path) or (None, None)
        self.problems.append(Problem(code, path, sentence, line, column))

    def stop(self) -> None:
        """Raises DefinitionError where anything is wrong."""
        if self.problems:
            raise DefinitionError(self.problems)


def made(origin: str, plain: dict[str, Any], notes: Notes) -> Imported:
    """The import of a definition in plain JSON. Raises DefinitionError where it is none."""
    return Imported(origin, from_plain({"penstock": 1, **plain}), notes.all())


def step_name(wanted: Any, fallback: str, taken: Container[str]) -> str:
    """A name that a step can have and no other has."""
    text = " ".join(_NOT_IN_STEP.sub("_", str(wanted or "")).split())[: MAX_NAME_LENGTH - 8].strip()
    name = text if text and not is_reserved(text) else fallback
    found, number = name, 2
    while found in taken:
        found, number = f"{name} {number}", number + 1
    return found


def workflow_name(wanted: str | None, fallback: str) -> str:
    """A name that a workflow can have."""
    return _NOT_IN_WORKFLOW.sub("_", wanted or "").strip("_")[:MAX_NAME_LENGTH] or fallback


def whole(value: Any) -> int | None:
    """The value, if it is a whole number from 0 on."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def hint(near: str | None) -> str:
    """What follows a wrong name that is like a known one."""
    return f"; did you mean '{near}'?" if near else ""


def circle_in(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Names that wait for each other, the first again at the end; none where a graph has no such circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def escaped(value: Any) -> Any:
    """A value in which no text is taken for an expression."""
    if isinstance(value, str):
        return value.replace("${", "$${")
    if isinstance(value, dict):
        return {escaped(key): escaped(each) for key, each in value.items()}
    return [escaped(each) for each in value] if isinstance(value, list) else value
