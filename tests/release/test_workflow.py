"""The workflow of releases is proved, and the settings find their way into it."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock import Engine
from penstock.access.access import _check_secret
from penstock.access.errors import InvalidAccess
from penstock.cli.main import app
from penstock_release import workflow
from penstock_release.options import Options

FILE = Path(workflow.__file__).with_name("release.yaml")


def test_check_proves_the_workflow_without_a_finding() -> None:
    shown = CliRunner().invoke(app, ["check", str(FILE), "--json"])

    report = json.loads(shown.stdout)
    assert (shown.exit_code, report["verdict"], report["findings"]) == (0, "proved", [])


def test_what_the_settings_say_can_be_published() -> None:
    options = Options(token="t", timeout=timedelta(days=30), task_timeout=timedelta(seconds=0.5))

    async def publish() -> list[int]:
        async with Engine("memory:") as engine:
            made = workflow.definition(options)
            return [await engine.publish(made, again=False), await engine.publish(made, again=False)]

    assert asyncio.run(publish()) == [1, 1]


def test_the_token_is_not_written_into_the_definition() -> None:
    assert "hush-hush" not in json.dumps(workflow.definition(Options(token="hush-hush")))


def test_nobody_can_set_by_hand_what_the_server_makes() -> None:
    with pytest.raises(InvalidAccess):
        _check_secret(workflow.SECRET, "Bearer mine")
