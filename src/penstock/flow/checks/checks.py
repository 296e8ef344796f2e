"""`check`: all that can be said about a workflow before it runs. docs/reference/checks.md lists the findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from penstock.expression import Expression, Template
from penstock.flow.checks.data import Reads, contradicting_times, missing_data, missing_parameters
from penstock.flow.checks.events import (
    failure_loops,
    missing_events,
    taken_addresses,
    unhandled_ports,
    unknown_tasks,
    unused_events,
)
from penstock.flow.checks.findings import (
    ORDER,
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
from penstock.flow.compile.compile import Flow
from penstock.flow.model.definition import Definition
from penstock.flow.model.offer import Offer
from penstock.kernel.net import Net
from penstock.kernel.proof.analysis import Analysis
from penstock.kernel.proof.soundness import analyse

Places = Mapping[str, tuple[int, int]]
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
    reads = {path: _unguarded(reader) for path, reader in flow.readers()}
    return check(
        flow.definition, flow.net, offers, reads=reads, places=places, clock=clock, file=file, budget=budget
    )


def _unguarded(reader: Expression | Template) -> tuple[tuple[str, ...], ...]:
    """What an expression reads without asking `has(...)` first."""
    return tuple(
        read for read in reader.reads if not any(read[: len(guard)] == guard for guard in reader.guards)
    )


def check(
    definition: Definition,
    net: Net,
    offers: Mapping[str, Offer],
    *,
    clock: Callable[[], float],
    reads: Reads | None = None,
    places: Places | None = None,
    file: str = "",
    budget: float = BUDGET,
) -> Report:
    """Structural findings, then the proof, within `budget` seconds of `clock`."""
    began = clock()
    drawn = [*_drawn(definition, net, offers, reads or {})]
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
    )


def _drawn(definition: Definition, net: Net, offers: Mapping[str, Offer], reads: Reads) -> Iterator[Finding]:
    yield from missing_events(net)
    yield from unhandled_ports(net)
    yield from failure_loops(net)
    yield from unknown_tasks(definition, offers)
    yield from missing_data(definition, net, reads)
    yield from missing_parameters(definition, offers)
    yield from contradicting_times(definition)
    yield from taken_addresses(definition)
    yield from unused_events(net, definition)


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
    place = places.get(f"steps.{finding.step}") if finding.step is not None else None
    return finding if place is None else replace(finding, line=place[0])
