"""`penstock doctor`: what is in force and where it comes from, and whether all is well."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from typing import Any

import msgspec
import typer
from rich.text import Text

from penstock.cli.admin.database import DbOption
from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.console import out, print_json, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.tables import print_table
from penstock.cli.io.target import Server, Token
from penstock.cli.serve.settings import settings_of
from penstock.flow.values.duration import format_duration
from penstock.server.doctor import Finding, examine
from penstock.server.settings import Settings, Value

LOOKS = {"fine": ("✓", "good"), "note": ("·", "info"), "wrong": ("✗", "error")}


def doctor(db: DbOption = None, server: Server = None, token: Token = None, json: AsJson = False) -> None:
    """Show which settings are in force and where they come from, and check whether all is well.

    Checks the settings, sign-in, the database and its schema, disk, clocks, the server, workers and task lists that
    nobody serves, the port. Exit code 0: nothing is wrong. 1: something is.

    [bold]Examples[/bold]

      penstock doctor

      penstock doctor --db postgresql://penstock@db.example/penstock --json
    """
    settings = settings_of(db=db, server=server, token=token)
    findings = asyncio.run(examine(settings, os.environ))
    if json:
        print_json(
            {
                "settings": {name: _view(value) for name, value in settings.values.items()},
                "findings": [msgspec.to_builtins(each) for each in findings],
            }
        )
    else:
        _show(settings, findings)
    raise typer.Exit(NO if any(each.state == "wrong" for each in findings) else YES)


def _view(value: Value) -> dict[str, Any]:
    return {"value": _plain(value.shown()), "from": value.origin}


def _plain(value: Any) -> Any:
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _show(settings: Settings, findings: list[Finding]) -> None:
    rows = [
        (name, printable(_text(value.shown())), value.origin)
        for name, value in settings.values.items()
        if value.setting.used or value.origin != "default"
    ]
    print_table(out(), ("setting", "value", "from"), rows)
    out().print()
    for each in findings:
        mark, style = LOOKS[each.state]
        out().print(Text.assemble((f"{mark} {each.about:<9}", style), printable(each.text)))


def _text(value: Any) -> str:
    plain = _plain(value)
    if plain in (None, [], {}):
        return ""
    if isinstance(plain, dict):
        return ", ".join(f"{name}={each}" for name, each in plain.items())
    return ", ".join(plain) if isinstance(plain, list) else str(plain)
