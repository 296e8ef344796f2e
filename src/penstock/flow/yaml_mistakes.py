"""The mistakes people make in YAML, in plain words instead of the parser's."""

from __future__ import annotations

from typing import Any

import yaml

from penstock.flow.names import shown_character
from penstock.flow.nodes import Findings, Place
from penstock.flow.problems import DefinitionError

_SENTENCES = (
    ("mapping values are not allowed", "There is a second `: ` on this line; put the value in quotes."),
    ("found unexpected end of stream", "A quote that opens here is never closed."),
    ("found unexpected document indicator", "A quote is not closed before this line."),
    ("expected ',' or '}'", "A `,` or `}` is missing: the map in braces does not end as it should."),
    ("expected ',' or ']'", "A `,` or `]` is missing: the list in brackets does not end as it should."),
    ("could not find expected ':'", "A `:` is missing after this key, or the line is indented wrongly."),
    ("expected key", "This line does not fit the lines above; check its indentation and quotes."),
    ("expected <block end>", "This line does not fit the lines above; check its indentation and quotes."),
    (
        "expected '-' indicator",
        "This line does not fit the list above; begin it with `- ` or check its indentation.",
    ),
    ("block sequence entries are not allowed", "A list cannot begin on this line; put `- ` on the next one."),
    ("undefined tag handle", "Tags are not allowed; a definition holds plain values only."),
    (
        "unknown escape character",
        "A backslash in double quotes begins an escape; write `\\\\` or use single quotes.",
    ),
    ("expected the node content", "A value is missing here."),
    ("expected <document start>", "There is more text after the end of the definition."),
    ("expected alphabetic or numeric", "A name must follow `&` or `*`; put the value in quotes."),
    ("block mapping entries", "A key cannot begin here; check the indentation."),
)

_STARTS = {
    "\t": "A tab stands here; indent with spaces.",
    "@": "A value cannot begin with `@`; put it in quotes.",
    "`": "A value cannot begin with a backtick; put it in quotes.",
    "%": "A value cannot begin with `%`; put it in quotes.",
}


def explain(error: yaml.YAMLError, text: str, findings: Findings) -> DefinitionError:
    """The parser's error as one plain sentence at its place, after the problems found so far."""
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read")
    mark = getattr(error, "problem_mark", None)
    if "unexpected end of stream" in problem:
        mark = getattr(error, "context_mark", None) or mark
    message = _sentence(problem, text, mark)
    return findings.stop("not_yaml", message, _place(mark))


def _sentence(problem: str, text: str, mark: Any) -> str:
    line = _line(text, mark)
    character = line[mark.column : mark.column + 1] if mark is not None else ""
    if "cannot start any token" in problem or "invalid leading" in problem:
        return (
            _STARTS.get(character)
            or f"A value cannot begin with {shown_character(character or '?')}; put it in quotes."
        )
    if character == "\t" or line[: len(line) - len(line.lstrip())].count("\t"):
        return "A tab stands here; indent with spaces."
    for part, sentence in _SENTENCES:
        if part in problem:
            return sentence
    return f"This is not YAML: {problem}."


def _line(text: str, mark: Any) -> str:
    lines = text.splitlines() if mark is not None else []
    return lines[mark.line] if mark is not None and mark.line < len(lines) else ""


def _place(mark: Any) -> Place | None:
    return None if mark is None else (mark.line + 1, mark.column + 1)
