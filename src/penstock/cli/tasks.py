"""`penstock tasks`: what tasks there are, with their ports and parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import msgspec
import typer
from rich.text import Text

from penstock.cli.console import out, print_json, print_table, printable, table_of
from penstock.cli.inputs import AsJson
from penstock.flow.task import Offer
from penstock.steps.kinds import KINDS
from penstock.workers.loading import load_tasks

Modules = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODULE|FILE]...", help="Python modules or .py files.", show_default=False),
]


def tasks(modules: Modules = None, json: AsJson = False) -> None:
    """List the tasks that modules define; without any, the built-in ones.

    [bold]Examples[/bold]

      penstock tasks

      penstock tasks shop.py shop.mail --json
    """
    if modules:
        offers = [task.offer for task in load_tasks(modules).values()]
    else:
        offers = [kind.offer for kind in KINDS.values()]
    if json:
        print_json([offer_view(offer) for offer in offers])
    else:
        _show(offers)


def offer_view(offer: Offer) -> dict[str, Any]:
    """A task as JSON: name, ports, title, doc, parameters, task list."""
    view: dict[str, Any] = msgspec.to_builtins(offer)
    return view


def _show(offers: Iterable[Offer]) -> None:
    table = table_of("task", "parameters", "ports", "does")
    for offer in offers:
        first = offer.doc.split("\n\n")[0].replace("\n", " ")
        ports = ", ".join(offer.ports) or "none"
        table.add_row(Text(offer.name), Text(parameters(offer)), Text(ports), Text(printable(first)))
    print_table(out(), table)


def parameters(offer: Offer) -> str:
    """The names of the parameters; those that may be left out in brackets."""
    required = offer.parameters.get("required", [])
    names = offer.parameters.get("properties", {})
    shown = [name if name in required else f"[{name}]" for name in names]
    if offer.parameters.get("additionalProperties", True) is not False and not names:
        shown.append("any")
    return ", ".join(shown) or "none"
