"""The checks of a loaded definition, which must pass before it is published."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from penstock.engine.authoring.loader import Loaded
from penstock.flow.checks.checks import BUDGET, check_flow
from penstock.flow.checks.findings import Report
from penstock.runtime.errors import Invalid


class CheckFailed(Invalid):
    """The checks found an error, so the workflow is not published. `report` has every finding."""

    code = "check_failed"

    def __init__(self, workflow: str, report: Report) -> None:
        errors = [finding.message for finding in report.findings if finding.severity == "error"]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"'{workflow}' is not published: {errors[0]}{more}")
        self.workflow, self.report = workflow, report

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All that was found, as JSON: what a server refused has them in the problem that it sent."""
        told: Mapping[str, Any] | None = getattr(self, "problem", None)
        if told is not None:
            return list(told.get("findings", ()))
        return [finding.to_plain() for finding in self.report.findings]


def check_loaded(loaded: Loaded, budget: float = BUDGET) -> Report:
    """The report on a definition, within `budget` seconds."""
    return check_flow(
        loaded.flow,
        loaded.offers,
        clock=time.monotonic,
        places=loaded.places,
        file=loaded.file or "",
        budget=budget,
    )


def reject_errors(loaded: Loaded) -> None:
    """Raises CheckFailed where the checks find an error."""
    report = check_loaded(loaded)
    if report.verdict == "refuted":
        raise CheckFailed(loaded.flow.name, report)
