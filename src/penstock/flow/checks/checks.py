"""`check`: all that can be said about a workflow before it runs. docs/reference/checks.md lists the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from penstock.flow.checks.data import contradicting_times, rejected_ticks
from penstock.flow.checks.events import (
    failure_loops,
    isolated_steps,
    missing_events,
    taken_addresses,
    unhandled_ports,
    unknown_tasks,
    unused_events,
    unused_externals,
)
from penstock.flow.checks.expressions import ExpressionCheck
from penstock.flow.checks.findings import (
    ORDER,
    DataCount,
    Finding,
    Report,
    Verdict,
    dead_steps,
    endless_run,
    failing_unasked,
    firing_twice,
    left_over,
    piling_events,
    standstill,
)
from penstock.flow.checks.settings import bad_defaults, wrong_settings
from penstock.flow.compile.compile import Flow, Places, position_of
from penstock.flow.model.definition import Definition
from penstock.flow.model.offer import Offer
from penstock.flow.model.problems import Problem
from penstock.kernel.net import Net
from penstock.kernel.proof.analysis import Analysis
from penstock.kernel.proof.soundness import analyse

BUDGET = 2.0  # seconds
SPARE = 0.9  # of the budget may be spent on searching


def check_flow(
    flow: Flow,
    offers: Mapping[str, Offer],
    *,
    clock: Callable[[], float],
    places: Places | None = None,
    file: str = "",
    budget: float = BUDGET,
) -> Report:
    """The report on a compiled workflow. `clock` counts seconds."""
    expressions = ExpressionCheck(flow)
    typed = [*expressions.findings()]
    return check(
        flow.definition,
        flow.net,
        offers,
        typed=typed,
        data=expressions.count,
        refused=flow.bad_settings,
        places=places,
        clock=clock,
        file=file,
        budget=budget,
    )


def check(
    definition: Definition,
    net: Net,
    offers: Mapping[str, Offer],
    *,
    clock: Callable[[], float],
    typed: Sequence[Finding] = (),
    data: DataCount | None = None,
    refused: Mapping[str, Problem] | None = None,
    places: Places | None = None,
    file: str = "",
    budget: float = BUDGET,
) -> Report:
    """Structural findings, then the proof, within `budget` seconds of `clock`."""
    began = clock()
    drawn = [*_drawn(definition, net, offers), *_given(definition, offers, refused or {}), *typed]
    analysis = analyse(net, out_of_time=lambda: clock() - began >= budget * SPARE)
    excused = {f.step for f in drawn if f.code == "missing-event" and f.severity == "error" and f.step}
    findings = [*drawn, *_proved(net, analysis, excused)]
    return Report(
        file=file,
        verdict=verdict_of(findings, analysis.complete),
        findings=in_order(findings, definition, places or {}),
        states=analysis.states,
        seconds=round(clock() - began, 6),
        covered=analysis.covered,
        assumes=analysis.assumes,
        data=data or DataCount(),
    )


def _drawn(definition: Definition, net: Net, offers: Mapping[str, Offer]) -> Iterator[Finding]:
    yield from missing_events(net)
    yield from unhandled_ports(net)
    yield from failure_loops(net)
    yield from unknown_tasks(definition, offers)
    yield from rejected_ticks(definition)
    yield from contradicting_times(definition)
    yield from taken_addresses(definition)
    yield from unused_events(net, definition)
    yield from unused_externals(net, definition)
    yield from isolated_steps(net)


def _given(
    definition: Definition, offers: Mapping[str, Offer], refused: Mapping[str, Problem]
) -> Iterator[Finding]:
    yield from wrong_settings(definition, offers, refused)
    yield from bad_defaults(definition)


def _proved(net: Net, analysis: Analysis, excused: set[str]) -> Iterator[Finding]:
    yield from dead_steps(net, analysis, excused)
    if analysis.deadlock is not None:
        yield standstill(net, analysis.deadlock)
    yield from endless_run(net, analysis)
    yield from piling_events(analysis)
    yield from failing_unasked(analysis)
    yield from firing_twice(net, analysis)
    yield from left_over(analysis)


def verdict_of(findings: list[Finding], complete: bool) -> Verdict:
    """Refuted by any error; proved only by a search that saw everything."""
    if any(finding.severity == "error" for finding in findings):
        return "refuted"
    return "proved" if complete else "undecided"


def in_order(findings: list[Finding], definition: Definition, places: Places) -> tuple[Finding, ...]:
    """Errors, warnings, infos; in each the order of the lines, or of the steps where lines are not known."""
    rank = {name: number for number, name in enumerate(definition.steps)}
    placed = (_placed(finding, places) for finding in findings)
    return tuple(sorted(placed, key=lambda f: (ORDER[f.severity], f.line or 0, rank.get(f.step or "", -1))))


def _placed(finding: Finding, places: Places) -> Finding:
    """With its line and column: those of its path, or of the nearest thing around it."""
    path = finding.path or (f"steps.{finding.step}" if finding.step is not None else "")
    line, column = position_of(path, places)
    return finding if line is None else replace(finding, line=line, column=column)
