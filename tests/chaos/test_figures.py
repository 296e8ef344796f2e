"""The record that others read has the shape that it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.figures import FAULTS, SUMS, flat, gathered, tell, write
from tests.trust.figures import FOLDER, combined, read, wrong


def test_experiments_are_summed_up_by_kind_and_by_what_was_broken() -> None:
    first = {"kills of nodes": 2, "kills of workers": 3, "lost": 1, "taken back": 1, "seconds": 1.25}
    second = {"kills of engines": 4, "runs verified": 7, "disk": "a small one", "seconds": 2.5}
    told: list[dict[str, object]] = []
    tell(lambda name, value: told.append({name: value}), "one", first)
    tell(lambda name, value: told.append({name: value}), "two", second)

    record = gathered([each["chaos"] for each in told])  # type: ignore[misc]

    assert record["experiments"] == {"one": first, "two": second}
    assert record["faults"] == dict.fromkeys(FAULTS, 0) | {"kills": 9}
    assert record["total"] == {
        "chaos experiments": 2,
        **dict.fromkeys(SUMS, 0),
        "runs verified": 7,
        "lost": 2,
        "seconds": 3.8,
    }
    assert len(flat(record)) == len(FAULTS) + len(SUMS) + 1


def test_the_sums_lie_where_make_trust_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    record = gathered([{"name": "one", "figures": {"kills of nodes": 2, "lost": 1}}])

    write(record, tmp_path)

    assert read(tmp_path) == [flat(record)]
    assert wrong(combined(read(tmp_path))) == ["lost is 1, and must be 0"]
    assert json.loads((tmp_path / "experiments" / "chaos.json").read_text()) == record
