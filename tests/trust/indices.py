"""Which tests stand behind what is promised: read from the docs, and from lists beside the tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUARANTEES = ROOT / "docs/guarantees.md"
BAD_INPUTS = ROOT / "tests/api/bad_inputs.txt"
SCARS = ROOT / "tests/trust/scars.txt"
PART = re.compile(r"^## (?:(C\d+) · )?.+$", re.MULTILINE)
TEST = re.compile(r"^- (SQLite|PostgreSQL|any store): `(\S+\.py::[^`]+)`$")


def listed(path: Path) -> dict[str, list[str]]:
    """Number → its tests. A list has a line for each number, and under it each test on a line that is indented."""
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[list(found)[-1]].append(line.strip())
        elif not line.startswith("#"):
            found[line.split()[0]] = []
    return found


def sections(text: str) -> list[tuple[str, str]]:
    """Number and text of each guarantee, in the order of the page."""
    heads = list(PART.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return [
        (head[1], text[head.end() : end].strip()) for head, end in zip(heads, ends, strict=True) if head[1]
    ]


def by_store(section: str) -> dict[str, list[str]]:
    """The tests that a guarantee names, by store."""
    found: dict[str, list[str]] = {}
    for line in section.splitlines():
        if match := TEST.fullmatch(line):
            found.setdefault(match[1], []).append(match[2])
    return found


def guaranteed() -> list[str]:
    """All tests of the page of guarantees, each once."""
    parts = (by_store(section) for _, section in sections(GUARANTEES.read_text(encoding="utf-8")))
    return list(dict.fromkeys(test for part in parts for tests in part.values() for test in tests))


def unknown(tests: Iterable[str], known: Iterable[str]) -> list[str]:
    """Those that are none of the known. A test may be named with what it is tried with, or without."""
    found = {*known}
    found |= {test.split("[")[0] for test in found}
    return [test for test in dict.fromkeys(tests) if test not in found]


def collected(tests: Iterable[str], *options: str) -> list[str]:
    """All tests in the files of these, as far as the options select them: pytest itself is asked."""
    files = sorted({test.split("::")[0] for test in tests})
    asked = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        *options,
        *files,
    ]
    variables = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        asked, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=900, check=True
    )
    return done.stdout.splitlines()
