"""What a check found, for people: as compilers print it, then the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from penstock.cli.io.console import plural, printable
from penstock.cli.io.problems import find_name, show_line
from penstock.flow.checks.findings import Finding, Report
from penstock.kernel.net import START
from penstock.kernel.proof.trace import Event, Fire

SHORT_TRACE = 5
"""Moves up to which a trace is one line."""

SEVERITIES = ("error", "warning", "info")


def show_report(console: Console, file: str, text: str, report: Report) -> None:
    """Every finding, then the verdict."""
    show_findings(console, file, text, report.findings)
    _show_verdict(console, file, report)


def show_findings(console: Console, file: str, text: str, findings: Iterable[Finding]) -> None:
    """Each with its place in the file, the path that shows it, and what to do."""
    for finding in findings:
        _show_finding(console, file, text, finding)


def _show_finding(console: Console, file: str, text: str, finding: Finding) -> None:
    head = (f"{finding.severity}[{finding.code}]", finding.severity)
    console.print(Text.assemble(head, f": {printable(finding.message)}"))
    place = file if finding.line is None else f"{file}:{finding.line}"
    console.print(Text.assemble((" --> ", "place"), place), soft_wrap=True)
    show_line(console, text, finding.line, None, finding.severity, _marked(text, finding))
    moves = trace_words(finding.trace)
    if moves and len(moves) <= SHORT_TRACE:
        _show_remark(console, "trace", " → ".join(moves))
    elif moves:
        _show_remark(console, "trace", "")
        for number, move in enumerate(moves, 1):
            console.print(Text.assemble((f"{number:>8}. ", "faint"), printable(move)))
    if finding.hint:
        _show_remark(console, "hint", finding.hint)
    console.print()


def _show_remark(console: Console, title: str, words: str) -> None:
    console.print(Text.assemble((" = ", "place"), (f"{title}: ", "bold"), printable(words)))


def _marked(text: str, finding: Finding) -> str:
    """The name to mark in the source line: the event where the line has it, else the step."""
    lines = text.splitlines()
    source = lines[finding.line - 1] if finding.line and finding.line <= len(lines) else ""
    return next(
        (name for name in (finding.event, finding.step) if name and find_name(source, name) is not None), ""
    )


def trace_words(trace: Sequence[Event | Fire]) -> list[str]:
    """Each move in words, from START on; empty where there is no trace."""
    moves = [move_words(move) for move in trace]
    return moves if not moves or moves[0] == START else [START, *moves]


def move_words(move: Event | Fire) -> str:
    """`START`, `submit (done)`."""
    if isinstance(move, Event):
        return move.name
    return move.step if move.port is None else f"{move.step} ({move.port})"


def _show_verdict(console: Console, file: str, report: Report) -> None:
    console.print(Text.assemble((printable(file), "bold"), ": ", verdict_words(report)))
    if report.verdict != "proved" and report.covered:
        console.print(f"  covered: {printable(str(report.covered))}", style="faint")
    for each in report.assumes:
        console.print(f"  assumes: {printable(each)}", style="faint")


def verdict_words(report: Report) -> Text:
    """The verdict in one line, with how much was looked at and how long it took."""
    effort = f"{plural(report.states, 'state')}, {report.seconds * 1000:.0f} ms"
    found = counts_of(report.findings)
    if report.verdict == "refuted":
        return Text.assemble(("refuted", "error"), f": {found} ({effort})")
    tail = f"; {found}" if found else ""
    if report.verdict == "proved":
        return Text.assemble(("proved", "good"), f": every run can finish ({effort}){tail}")
    return Text.assemble(("undecided", "warning"), f": no error in what was searched ({effort}){tail}")


def counts_of(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`; empty where nothing was found."""
    counts = {severity: sum(each.severity == severity for each in findings) for severity in SEVERITIES}
    words = [plural(counts["error"], "error"), plural(counts["warning"], "warning")]
    parts = [word for word, severity in zip(words, SEVERITIES, strict=False) if counts[severity]]
    return ", ".join([*parts, *([f"{counts['info']} info"] if counts["info"] else [])])
