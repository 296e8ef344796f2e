"""What the checks say: findings and the report, in the shape that people and programs read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from penstock.kernel.proof.trace import Event, Fire, Trace

Severity = Literal["error", "warning", "info"]
Verdict = Literal["proved", "refuted", "undecided"]
ORDER: dict[str, int] = {"error": 0, "warning": 1, "info": 2}


class Finding(Struct, frozen=True, kw_only=True):
    """One thing to know about a workflow: a plain sentence, what to do about it, and the path that shows it."""

    code: str
    severity: Severity
    message: str
    hint: str
    step: str | None = None
    event: str | None = None
    line: int | None = None
    trace: Trace = ()

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Finding:
        """One that `to_plain` wrote, here or at a server."""
        trace = tuple(
            Event(item["event"]) if "event" in item else Fire(item["fire"], item["port"])
            for item in plain["trace"]
        )
        return cls(**{**plain, "trace": trace})

    def to_plain(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity,
            "step": self.step,
            "event": self.event,
            "message": self.message,
            "hint": self.hint,
            "line": self.line,
            "trace": [plain_item(item) for item in self.trace],
        }


class Report(Struct, frozen=True, kw_only=True):
    """The answer of a check: proved, refuted or undecided, and why."""

    file: str
    verdict: Verdict
    findings: tuple[Finding, ...]
    states: int
    seconds: float
    covered: str
    assumes: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "verdict": self.verdict,
            "findings": [finding.to_plain() for finding in self.findings],
            "states": self.states,
            "seconds": self.seconds,
            "covered": self.covered,
            "assumes": list(self.assumes),
        }

    def worst(self) -> Severity | None:
        """The gravest severity among the findings."""
        return min((finding.severity for finding in self.findings), key=ORDER.__getitem__, default=None)


def plain_item(item: Any) -> dict[str, str | None]:
    """One item of a trace as JSON."""
    if isinstance(item, Event):
        return {"event": item.name}
    return {"fire": item.step, "port": item.port}


def quoted(names: Any, last: str = "and") -> str:
    """`'a', 'b' and 'c'`."""
    words = [f"'{name}'" for name in names]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
