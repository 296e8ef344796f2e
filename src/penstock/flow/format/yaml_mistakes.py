"""The mistakes people make in YAML, in plain words instead of the parser's."""

from __future__ import annotations

from typing import Any

import yaml

from penstock.flow.format.nodes import Findings, Place
from penstock.flow.model.names import shown_character
from penstock.flow.model.problems import DefinitionError

_BAD_INDENT = "This line does not fit the lines above; check its indentation and quotes."
_SECOND_COLON = "There is a second `: ` on this line; put the value in quotes."
_SENTENCES = (
    ("found unexpected end of stream", "A quote that opens here is never closed."),
    ("found unexpected document indicator", "A quote is not closed before this line."),
    (
        "expected ',' or '}'",
        "A `,` or `}` is missing: the map in braces that opens on line {opens} does not end.",
    ),
    (
        "expected ',' or ']'",
        "A `,` or `]` is missing: the list in brackets that opens on line {opens} does not end.",
    ),
    ("could not find expected ':'", "A `:` is missing after this key, or the line is indented wrongly."),
    ("expected key", _BAD_INDENT),
    ("expected <block end>", _BAD_INDENT),
    (
        "expected '-' indicator",
        "This line does not fit the list above; begin it with `- ` or check its indentation.",
    ),
    ("sequence entries are not allowed", "A list cannot begin on this line; put `- ` on the next one."),
    ("undefined tag handle", "Tags are not allowed; a definition holds plain values only."),
    (
        "unknown escape character",
        "A backslash in double quotes begins an escape; write `\\\\` or use single quotes.",
    ),
    ("node content", "A value is missing here."),
    ("Unicode character escape", "This escape stands for no character that can be stored; take it out."),
    ("directive", "A line cannot begin with `%`; leave it out."),
    ("incompatible YAML", "Leave the `%YAML` line out; YAML 1.2 is read."),
    ("chomping", "After `|` or `>` the text begins on the next line."),
    ("expected comment or line break", "After `|` or `>` the text begins on the next line."),
    ("<document start>", "There is more text after the end of the definition."),
    ("expected alphabetic or numeric", "A name must follow `&` or `*`; put the value in quotes."),
    ("unexpected ':'", "A space is missing after this `:`."),
    ("block mapping entries", "A key cannot begin here; check the indentation."),
)

_STARTS = {
    "\t": "A tab stands here; indent with spaces.",
    "@": "A value cannot begin with `@`; put it in quotes.",
    "`": "A value cannot begin with a backtick; put it in quotes.",
    "%": "A value cannot begin with `%`; put it in quotes.",
}


_AT_CONTEXT = ("unexpected end of stream", "could not find expected ':'")
"""Mistakes that the parser notices far below the line to mend."""


def explain(error: yaml.YAMLError, text: str, findings: Findings) -> DefinitionError:
    """The parser's error as one plain sentence at its place, after the problems found so far."""
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read")
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if context is not None and any(part in problem for part in _AT_CONTEXT):
        mark = context
    opens = context.line + 1 if context is not None else "?"
    return findings.stop(
        "not_yaml", _sentence(problem, text, mark).replace("{opens}", str(opens)), _place(mark)
    )


def _sentence(problem: str, text: str, mark: Any) -> str:
    line = _line(text, mark)
    column = mark.column if mark is not None else 0
    character = line[column : column + 1]
    if "cannot start any token" in problem:
        shape = shown_character(character) if character else "this"
        return _STARTS.get(character, f"A value cannot begin with {shape}; put it in quotes.")
    if character == "\t" or "\t" in line[: len(line) - len(line.lstrip())]:
        return _STARTS["\t"]
    if "mapping values are not allowed" in problem:
        return _SECOND_COLON if ":" in line[:column] else _BAD_INDENT
    found = next((sentence for part, sentence in _SENTENCES if part in problem), None)
    return found or f"This is not YAML: {problem}."


def _line(text: str, mark: Any) -> str:
    lines = text.splitlines() if mark is not None else []
    return lines[mark.line] if mark is not None and mark.line < len(lines) else ""


def _place(mark: Any) -> Place | None:
    return None if mark is None else (mark.line + 1, mark.column + 1)
