"""`penstock approvals`, `approve` and `reject`: what people are asked to decide."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from penstock.cli.io.console import print_result, printable
from penstock.cli.io.inputs import AsJson, one_of
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Target, acting
from penstock.cli.io.times import Local, ago, moment
from penstock.cli.runs.filters import read_pair

STATUSES = ("open", "approved", "rejected", "expired", "closed", "all")

Id = Annotated[str, argument("ID", "The approval, as `penstock approvals` names it.")]
Status = Annotated[str, option("--status", "STATUS", f"Which: {', '.join(STATUSES)}.")]
Workflow = Annotated[str | None, option("--workflow", "NAME", "Only of this workflow.")]
Limit = Annotated[int, option("--limit", "N", "How many.", min=1, max=1000)]
Comment = Annotated[str | None, option("--comment", "TEXT", "Why, for the record.")]
Fields = Annotated[
    list[str] | None,
    option("--field", "NAME=VALUE", "A field of the form; the value is JSON, or a text. May be given again."),
]


@acting
def approvals(
    at: Target,
    status: Status = "open",
    workflow: Workflow = None,
    limit: Limit = 50,
    local: Local = False,
    json: AsJson = False,
) -> None:
    """List what people are asked to decide, the newest first.

    [bold]Examples[/bold]

      penstock approvals

      penstock approvals --status all --workflow release --json
    """
    wanted = None if one_of(status, STATUSES, "--status") == "all" else status
    found = at.do(lambda engine: engine.approvals(status=wanted, workflow=workflow, limit=limit))
    print_list(
        found,
        json,
        ("approval", "workflow", "step", "status", "role", "asked", "due", "question"),
        lambda each: (
            printable(each["id"]),
            printable(each["workflow"]),
            printable(each["step"]),
            each["status"],
            each["role"],
            ago(each["opened_at"]),
            moment(each["due_at"], local),
            printable(each["text"] or ""),
        ),
        spare=("due", "role", "asked"),
    )


@acting
def approve(at: Target, id: Id, field: Fields = None, comment: Comment = None, json: AsJson = False) -> None:
    """Approve what a step asks for, once.

    [bold]Examples[/bold]

      penstock approve 1a1e21b4904dfa6a32b7-3~1 --comment "looks good"

      penstock approve 1a1e21b4904dfa6a32b7-3~1 --field price=12 --field note=soon
    """
    _decide(at, id, "approved", field, comment, json)


@acting
def reject(at: Target, id: Id, field: Fields = None, comment: Comment = None, json: AsJson = False) -> None:
    """Reject what a step asks for, once.

    [bold]Examples[/bold]

      penstock reject 1a1e21b4904dfa6a32b7-3~1 --comment "too expensive"
    """
    _decide(at, id, "rejected", field, comment, json)


def _decide(
    at: Target, id: str, decision: str, field: list[str] | None, comment: str | None, json: bool
) -> None:
    fields = dict(_field(each) for each in field) if field else None
    decided = at.do(lambda engine: engine.decide(id, decision, fields=fields, comment=comment))
    words = f"{decision}: step '{printable(decided['step'])}' of run {decided['run']} goes on"
    print_result(decided, words, json)


def _field(text: str) -> tuple[str, Any]:
    name, value = read_pair(text, "--field")
    try:
        return name, msgspec.json.decode(value.encode())
    except msgspec.DecodeError:
        return name, value
