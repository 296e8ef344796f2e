"""The measurement itself: all contenders do the same, promises are judged by ratios, gaps are told."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from bench.net.checking import WORKFLOWS, CheckFigure
from bench.net.contenders import penstock
from bench.net.figures import Figure, figures, works
from bench.net.measure import Contender, Sample, ratio, rounds
from bench.net.process import repeats, serve
from bench.net.report import MISSING, Report, lines
from bench.net.report import plain as as_plain
from bench.net.shapes import SHAPES, SIZES, shape_of
from bench.net.suite import require_same_answers
from bench.net.work import Work

from penstock.engine.authoring.loader import load
from penstock.kernel.firing import begin, enabled, fire
from penstock.kernel.net import Wiring


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("size", SIZES)
def test_a_shape_has_its_size_and_its_order_leads_to_the_end(name: str, size: int) -> None:
    shape = shape_of(name, size)
    wiring = Wiring(shape.net)
    marking = begin(wiring)
    for number, (step, port) in enumerate(shape.order, 1):
        assert wiring.by_name[step].slots and step in enabled(wiring, marking)[:size]
        marking = fire(wiring, marking, step, port, number)
    assert (len(shape.net.steps), enabled(wiring, marking)) == (size, [])


def test_the_same_works_come_to_the_same_with_every_contender() -> None:
    with Contender("penstock") as ours, Contender("snakes") as net, Contender("plain") as floor:
        require_same_answers([ours, net, floor])
        for rival in (net, floor):
            assert rival.steps.items() <= ours.steps.items()
    assert (len(net.steps), len(floor.steps)) == (11, 2)


def test_the_runs_set_data_and_tags() -> None:
    made = penstock.works()
    assert made["run small"].run() == {"data": {"size": 3}, "tags": {"kind": "video"}}
    assert made["run mixed"].run() == {
        "data": {"size": 3, "total": 6},
        "tags": {"kind": "video", "checked": "yes"},
    }


def test_penstock_does_every_work() -> None:
    assert set(penstock.works()) == set(works())


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    assert ratio(Sample((1.0, 2.0, 90.0)), Sample((2.0, 8.0, 10.0))) == 0.5


def test_a_work_is_repeated_until_it_lasts() -> None:
    assert repeats(Work(lambda: sum(range(1000)), 1), 0.01) > 1


def test_a_contender_says_hello_and_measures_what_it_is_asked_for() -> None:
    said: list[dict[str, Any]] = []
    asked = json.dumps({"work": "run small", "repeats": 2}) + "\n"
    serve("plain", io.StringIO(asked), said.append)
    assert said[0]["answers"]["run small"] == {"data": {"size": 3}, "tags": {"kind": "video"}}
    assert said[1]["ns"] >= 0


def test_a_contender_that_is_not_installed_says_what_is_missing() -> None:
    said: list[dict[str, Any]] = []
    serve("nobody", io.StringIO(""), said.append)
    assert said == [{"missing": "bench.net.contenders.nobody"}]


def test_contenders_are_asked_in_turn_in_processes_of_their_own() -> None:
    with Contender("plain") as one, Contender("plain") as other:
        require_same_answers([one, other])
        other.name = "other"
        samples = rounds("run small", [one, other], 3, 0.001)
    assert {name: len(sample.micros) for name, sample in samples.items()} == {"plain": 3, "other": 3}


def test_contenders_that_come_to_different_answers_are_not_compared() -> None:
    with Contender("plain") as one, Contender("plain") as other:
        other.answers = {"run small": {"data": {}, "tags": {}}}
        with pytest.raises(RuntimeError, match="'plain' came to"):
            require_same_answers([one, other])


def _samples(**micros: float) -> dict[str, dict[str, Sample]]:
    return {work: {name: Sample((value,)) for name, value in micros.items()} for work in works()}


def _report(samples: dict[str, dict[str, Sample]], versions: dict[str, str | None]) -> Report:
    return Report("3.11", "here", versions, figures(samples), [])


def test_promises_are_kept_at_the_bar_and_broken_above_it() -> None:
    kept = {"snakes": 8.0, "spiff": 1.5, "langgraph": 10.0, "plain": 0.1}
    assert _report(_samples(penstock=1.0, **kept), {}).met
    for slow in ("snakes", "spiff", "langgraph"):
        assert not _report(_samples(penstock=1.0, **{**kept, slow: kept[slow] * 0.99}), {}).met


def test_a_step_that_costs_more_among_many_breaks_the_promise() -> None:
    samples = _samples(penstock=1.0)
    samples["run chain 500"]["penstock"] = Sample((2.0,))
    broken = [figure.work for figure in figures(samples) if figure.met is False]
    assert broken == ["run chain 500"]


def test_what_is_not_installed_is_told_and_breaks_nothing() -> None:
    report = _report(_samples(penstock=1.0), {"penstock": "0.1.0", "snakes": None})
    text = "\n".join(lines(report))
    assert report.met and f"snakes     {MISSING}" in text and f"langgraph {MISSING}" in text


def test_the_json_names_each_ratio_with_its_bar() -> None:
    rows = as_plain(_report(_samples(penstock=1.0, snakes=10.0), {"penstock": "0.1.0"}))["figures"]
    assert rows[0] == {
        "group": "kernel",
        "work": "fire chain 5",
        "beside": "snakes",
        "ours": {"micros": (1.0,)},
        "theirs": {"micros": (10.0,)},
        "ratio": 0.1,
        "bar": 0.125,
        "met": True,
    }


def test_an_undecided_check_is_not_an_answer_in_time() -> None:
    assert CheckFigure("w", "proved", (0.1, 0.2, 9.0), 0.2).met
    assert not CheckFigure("w", "undecided", (0.1,), 0.2).met
    assert not CheckFigure("w", "proved", (0.3,), 0.2).met


def test_the_checked_workflows_have_the_sizes_that_are_promised() -> None:
    sizes = [len(load({"penstock": 1, "name": "w", "steps": make()}).flow.steps) for _, make, _ in WORKFLOWS]
    assert sizes == [60, 400, 50]


def test_a_figure_without_a_bar_promises_nothing() -> None:
    one = Sample((1.0,))
    assert Figure("run", "w", "plain", one, one, 1.0, None).met is None
