"""Names for the shell: from the server where it answers, and never an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.cli.io.completion import run_ids, workflow_names
from tests.cli.served import Place, a_place


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("served")) as place:
        yield place


def test_workflows_and_runs_are_completed(at: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run = at.run()
    monkeypatch.setenv("PENSTOCK_SERVER", at.base)

    assert (workflow_names("w"), workflow_names("x")) == (["waiting"], [])
    assert [id for id, _ in run_ids(run[:18])] == [run]


def test_without_a_server_nothing_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_SERVER", "http://127.0.0.1:1")

    assert (workflow_names(""), run_ids("")) == ([], [])
