"""`penstock tasks`: what tasks there are, with their ports and parameters."""

from __future__ import annotations

from typing import Annotated

import msgspec

from penstock.cli.io.console import out, print_json, printable
from penstock.cli.io.inputs import AsJson, import_tasks
from penstock.cli.io.parameters import argument
from penstock.cli.io.tables import print_table
from penstock.flow.model.offer import Offer
from penstock.steps.kinds import OFFERS

Modules = Annotated[list[str] | None, argument("[MODULE|FILE]...", "Python modules or .py files.")]


def tasks(modules: Modules = None, json: AsJson = False) -> None:
    """List the tasks that modules define; without any, the built-in ones.

    [bold]Examples[/bold]

      penstock tasks

      penstock tasks shop.py shop.mail --json
    """
    offers = [task.offer for task in import_tasks(modules).values()] if modules else list(OFFERS.values())
    if json:
        print_json(msgspec.to_builtins(offers))
        return
    rows = [
        (offer.name, parameters(offer), ", ".join(offer.ports) or "none", _summary(offer)) for offer in offers
    ]
    print_table(out(), ("task", "parameters", "ports", "does"), rows, ("ports", "parameters"))


def _summary(offer: Offer) -> str:
    return printable(offer.doc.split("\n\n")[0].replace("\n", " "))


def parameters(offer: Offer) -> str:
    """The names of the parameters; those that may be left out in brackets."""
    required = offer.parameters.get("required", [])
    names = offer.parameters.get("properties", {})
    shown = [name if name in required else f"[{name}]" for name in names]
    if offer.parameters.get("additionalProperties", True) is not False and not names:
        shown.append("any")
    return ", ".join(shown) or "none"
