"""`python -m bench.suites net`: what a step costs in memory, compared with other engines."""

from __future__ import annotations

import json as json_text
import platform
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from bench.net.checking import check_figures
from bench.net.figures import Samples, figures, works
from bench.net.measure import Contender, rounds
from bench.net.process import CONTENDERS
from bench.net.report import Report, lines, plain
from bench.roster import ENVS

ROUNDS = 9
SECONDS = 0.05


def main(json: bool = False) -> int:
    """Measure and print; 0 where every promise that could be measured was kept, else 1."""
    report = measure()
    print(json_text.dumps(plain(report), indent=2) if json else "\n".join(lines(report)))
    return 0 if report.met else 1


def measure(count: int = ROUNDS, seconds: float = SECONDS, names: Sequence[str] = CONTENDERS) -> Report:
    """Every contender in its own process, asked in turn. Raises RuntimeError where their answers differ."""
    with ExitStack() as stack:
        contenders = [stack.enter_context(Contender(name, _python(name))) for name in names]
        require_same_answers(contenders)
        samples: Samples = {work: rounds(work, contenders, count, seconds) for work in works()}
        versions = {each.name: each.version for each in contenders}
    return Report(platform.python_version(), platform.platform(), versions, figures(samples), check_figures())


def require_same_answers(contenders: Sequence[Contender]) -> None:
    """A contender that does less than the others would look faster than it is."""
    first = contenders[0]
    for other in contenders[1:]:
        for work, answer in other.answers.items():
            if answer != first.answers[work]:
                raise RuntimeError(
                    f"'{other.name}' came to {answer} in '{work}', '{first.name}' to {first.answers[work]}"
                )


def _python(name: str) -> str:
    """That of the environment which `make bench-setup` makes for a contender; without one, ours."""
    own = ENVS / ("snakes" if name == "searching" else name) / "bin" / "python"
    return str(own) if own.exists() else sys.executable
