"""Workflows in YAML, checked as the command line checks them: `codes` and `finding` say what came out."""

from __future__ import annotations

from itertools import count

from penstock.flow.checks.checks import check_flow
from penstock.flow.checks.findings import Finding, Report
from penstock.flow.compile.compile import compile_flow
from penstock.flow.format.definition_parser import read_located
from penstock.flow.model.offer import Offer
from penstock.steps.kinds import KINDS, OFFERS

HEAD = "penstock: 1\nname: w\n"


def report(text: str, *tasks: str, head: str = HEAD) -> Report:
    """The report on a definition; `job` and the tasks named are offered."""
    located = read_located(head + text)
    offers = {**OFFERS, **{name: Offer(name=name) for name in ("job", *tasks)}}
    places = located.places
    ticks = count()
    flow = compile_flow(located.definition, KINDS, offers, places=places)
    return check_flow(flow, offers, clock=lambda: next(ticks) * 1e-9, places=places, file="w.yaml")


def codes(text: str, *tasks: str) -> list[tuple[str, str | None]]:
    """Each finding as its code and its step."""
    return [(finding.code, finding.step) for finding in report(text, *tasks).findings]


def finding(text: str, code: str) -> Finding:
    """The only finding with this code."""
    [found] = [one for one in report(text).findings if one.code == code]
    return found
