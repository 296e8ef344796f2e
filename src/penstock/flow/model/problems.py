"""What is wrong with a definition, and where. One sentence a problem; all problems at once."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Problem(Struct, frozen=True):
    """One thing wrong: a stable code, a path in the document, one sentence with the remedy, the place."""

    code: str
    path: str  # "steps.submit.after[1]"; "" is the whole document
    message: str
    line: int | None = None
    column: int | None = None

    def at(self, file: str) -> str:
        """`file:line:column: message`, as compilers print it; the path instead where no line is known."""
        place = ":".join(str(part) for part in (file, self.line, self.column) if part is not None)
        return (
            f"{place}: {self.message}"
            if self.line or not self.path
            else f"{place}: {self.path}: {self.message}"
        )


UNREADABLE = frozenset(
    {
        "alias",
        "duplicate_key",
        "empty",
        "invalid_number",
        "invalid_unicode",
        "key_not_text",
        "merge_key",
        "not_json",
        "not_yaml",
        "number_out_of_range",
        "several_documents",
        "tag",
        "too_deep",
        "too_large",
    }
)
"""Codes of text that cannot be taken in at all, as opposed to a definition that says something wrong."""


class DefinitionError(Exception):
    """The text is not a valid definition. `problems` holds every one of them, in the order of their lines."""

    code = "invalid_definition"

    def __init__(self, problems: Sequence[Problem], file: str | None = None) -> None:
        self.problems = tuple(problems)
        self.file = file
        super().__init__("\n".join(problem.at(file or "definition") for problem in self.problems))
