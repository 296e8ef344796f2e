"""`make trust`, or `python -m tests.trust [--only STAGE]`: run every stage, print the table, write docs/trust.json."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.simulation.replaying import commit
from tests.trust.figures import FOLDER, LONG, combined, in_order, page, read, table, wrong
from tests.trust.stages import STAGES, Stage, stage

ROOT = Path(__file__).parents[2]


def main() -> int:
    """0 where all that was tried holds; 1 and the reasons where not."""
    parser = argparse.ArgumentParser(prog="python -m tests.trust", description=__doc__)
    names = [each.name for each in STAGES]
    parser.add_argument(
        "--only", choices=names, action="append", help="this stage (may be repeated); writes no page"
    )
    parser.add_argument("--short", action="store_true", help="as long as `make test` tries, and no longer")
    options = parser.parse_args()
    stages = [stage(name) for name in options.only or names]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        failed = _run_all(stages, Path(folder), options.short)
        figures = in_order(combined(read(Path(folder))))
    figures |= {"seconds": round(time.monotonic() - began, 1), "commit": commit()}
    return _tell(figures, failed, whole=not options.only)


def _run_all(stages: Sequence[Stage], folder: Path, short: bool) -> list[str]:
    """The names of those that failed."""
    with ExitStack() as stack:
        lasting = [stack.enter_context(_begun(each, folder, short)) for each in stages if each.lasts]
        others = [each for each in stages if not each.lasts]
        ended = [(each, _ended(stack.enter_context(_begun(each, folder, short)))) for each in others]
        ended += [(running.stage, _ended(running)) for running in lasting]
    return [each.name for each, good in ended if not good]


class _Running(Struct, frozen=True):
    stage: Stage
    process: subprocess.Popen[str]
    said: Path
    began: float


@contextmanager
def _begun(each: Stage, folder: Path, short: bool) -> Iterator[_Running]:
    """A stage under way; it does not outlive the block."""
    asked = [sys.executable, "-m", "pytest", "-q", *each.tests, *(f"--ignore={path}" for path in each.but)]
    if each.beside:
        asked += ["-n", str(each.beside)]
    variables = os.environ | {FOLDER: str(folder)} | ({} if short else {LONG: "1"})
    said = folder / f"{each.name}.log"
    with said.open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            asked,
            cwd=ROOT,
            env=variables,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=(lambda: os.nice(15)) if each.lasts else None,
        )
    try:
        yield _Running(each, process, said, time.monotonic())
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def _ended(running: _Running) -> bool:
    """Whether all its tests hold, once it is over; what they say is shown only where they do not."""
    print(f"{running.stage.name:<12} {running.stage.about} …", end=" ", flush=True)
    good = running.process.wait() == 0
    print(f"{'ok' if good else 'FAILED'} ({time.monotonic() - running.began:.0f} s)", flush=True)
    if not good:
        print(running.said.read_text(encoding="utf-8")[-8000:], flush=True)
    return good


def _tell(figures: dict[str, Any], failed: Sequence[str], whole: bool) -> int:
    print(table(figures))
    reasons = [*(f"stage '{name}' failed" for name in failed), *wrong(figures, whole)]
    for reason in reasons:
        print(f"not trusted: {reason}")
    if whole and not reasons:
        docs = ROOT / "docs"
        (docs / "trust.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        (docs / "trust.md").write_text(page(figures), encoding="utf-8")
        print("written: docs/trust.json, docs/trust.md")
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
