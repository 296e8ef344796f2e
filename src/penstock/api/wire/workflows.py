"""Workflows on the wire: lists, drafts, findings, versions."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from penstock.api.paging import Paged
from penstock.flow.checks.findings import Severity, Verdict

Definition = dict[str, Any]
Text = Annotated[str, Meta(min_length=1)]
Note = Annotated[str, Meta(max_length=10_000)]


class WorkflowQuery(Paged):
    """`q`: a part of the name or title."""

    q: Annotated[str, Meta(max_length=256)] = ""


class WorkflowState(Struct):
    """A published workflow: whether its source makes runs, and whether it is held."""

    name: str
    published_version: int
    started: bool
    paused: bool


class WorkflowLine(Struct):
    """A workflow in a list. `changed`: its draft is not what is published. `runs`: how many, by status."""

    name: str
    title: str | None
    published_version: int | None
    started: bool
    paused: bool
    changed: bool
    updated_at: str
    updated_by: str | None
    runs: dict[str, int]


class Finding(Struct):
    """One thing to know about a definition.

    `trace` is a run that shows it, `path` the part of the definition, and `args` are what the sentences name.
    """

    code: str
    severity: Severity
    step: str | None
    event: str | None
    message: str
    hint: str
    args: dict[str, str | int | list[str | list[str]]]
    line: int | None
    trace: list[dict[str, str | None]]
    column: int | None = None
    path: str | None = None


class Draft(Struct):
    """What an author works on: the definition as JSON and as text, and what the checks say of it."""

    name: str
    title: str | None
    definition: Definition
    text: str
    etag: str
    changed: bool
    published_version: int | None
    started: bool
    paused: bool
    findings: list[Finding]
    verdict: Verdict
    updated_at: str | None
    updated_by: str | None


class Report(Struct):
    """What the checks say: proved, refuted or undecided, and why. `file`: what was checked."""

    file: str
    verdict: Verdict
    findings: list[Finding]
    states: int
    seconds: float
    covered: str
    assumes: list[str]


class Check(Struct, forbid_unknown_fields=True, kw_only=True):
    """A definition to be checked within `budget` seconds."""

    definition: Definition | Text
    budget: Annotated[float, Meta(gt=0, le=10)] = 2.0


class CheckDraft(Struct, forbid_unknown_fields=True, kw_only=True):
    """`budget`: seconds that the proof may take."""

    budget: Annotated[float, Meta(gt=0, le=10)] = 2.0


class Publish(Struct, forbid_unknown_fields=True, kw_only=True):
    """The draft is published, or `definition` (an object, or YAML as text) where it is given.

    `start`: let the source make runs. `override`: the reason why what the checks refute is published all the same.
    With `again` false what is the newest version already makes no other.
    """

    definition: Definition | Text | None = None
    note: Note | None = None
    start: bool | None = None
    override: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None
    again: bool = True


class Published(Struct):
    version: int
    verdict: Verdict
    findings: list[Finding]


class VersionLine(Struct):
    version: int
    note: str | None
    at: str


class Version(Struct):
    """A published definition, as JSON and as it was written."""

    name: str
    version: int
    definition: Definition
    text: str
    note: str | None
    at: str


class Halted(Struct):
    """Whether the whole installation is paused."""

    paused: bool
