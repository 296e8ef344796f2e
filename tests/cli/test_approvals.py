"""`penstock approvals`, `approve` and `reject`, against a server and on a database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.command import write
from tests.cli.served import Place, a_place

ASKS = """\
penstock: 1
name: asks
steps:
  ask:
    task: approval
    with:
      text: "Publish ${ run.subject }?"
      fields: {type: object, required: [price], properties: {price: {type: integer}}}
    emits: {approved: go, rejected: stop}
  end: {task: set, after: go | stop, with: {said: "${ steps.ask.output.decision }"}}
"""


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("asking")) as place:
        assert place("publish", write(place.folder, "asks.yaml", ASKS), "--no-tasks").code == 0
        yield place


def asked(at: Place, run: str) -> str:
    """The approval that a run waits for."""
    at("start", "asks", "--subject", "other")
    return next(str(each["id"]) for each in at("approvals", "--json").json if each["run"] == run)


def test_a_question_is_listed_and_approved_with_its_fields(at: Place) -> None:
    run = at.run("asks", "--subject", "video-7")
    id = asked(at, run)

    listed = at("approvals", "--workflow", "asks")
    done = at("approve", id, "--field", "price=12", "--comment", "ok", "--json")
    ended = at("watch", run)

    assert "Publish video-7?" in listed.out.replace("\n", " ") or "video-7" in listed.out
    assert (done.code, done.json["status"], done.json["decision"]["fields"]) == (0, "approved", {"price": 12})
    assert ended.code == 0
    assert at("show", run, "--json").json["data"]["said"] == "approved"


def test_a_second_decision_is_refused_with_the_first(at: Place) -> None:
    run = at.run("asks")
    id = asked(at, run)

    first, second = at("reject", id, "--comment", "no"), at("approve", id, "--field", "price=1")

    assert (first.code, first.out) == (0, f"rejected: step 'ask' of run {run} goes on\n")
    assert second.code == 2
    assert "was rejected by" in second.err


def test_what_does_not_fit_is_told_and_nothing_is_decided(at: Place) -> None:
    id = asked(at, at.run("asks"))

    missing, unknown = at("approve", id), at("approve", "nothing-1~1")
    status = at("approvals", "--status", "new")

    assert (missing.code, "price" in missing.err) == (2, True)
    assert (unknown.code, "there is no approval" in unknown.err) == (2, True)
    assert (status.code, "is not known" in status.err) == (2, True)
    assert any(each["id"] == id for each in at("approvals", "--json").json)
