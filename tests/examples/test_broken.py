"""The Mediathread workflow as its document lists it: what its slip would do to every upload."""

from __future__ import annotations

from tests.examples.shelf import BROKEN, firings, offered, proposed

from penstock.testing import play


def test_every_upload_would_fail_though_nothing_went_wrong() -> None:
    run = play(BROKEN, tasks=offered("mediathread"), input=proposed("mediathread"))

    run.expect("failed", never=["mediathread submit"], events=["metadata extracted"])
    assert {port for _, port in run.ports} == {"done"}
    assert firings(run) == {
        "extract metadata": 1,
        "create Elastic Transcode Job": 1,
        "email user (failure)": 1,
    }
