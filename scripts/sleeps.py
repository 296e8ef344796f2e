"""Print the sleeps in tests that give no reason, on their line or in a comment directly above; exit 1 if any do."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SLEEP = re.compile(r"(?<!def )\b(?:(?:pg_)?sleep|wait_for_timeout)\((?!0\))")
REASON = re.compile(r"#\s*(?!type:|noqa|fmt:|pragma:)\w")


def unexplained(path: Path) -> Iterator[str]:
    """A sleep of no time only lets others have their turn, and needs no reason."""
    above = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = SLEEP.search(line)
        if found and not REASON.search(line, found.end()) and not REASON.match(above):
            yield f"{path}:{number}: wait for a condition (tests/waiting.py), or say why it sleeps"
        above = line.strip()


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "tests/*.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    names = [name for name in listed.stdout.split() if Path(name).exists()]
    found = [line for name in names for line in unexplained(Path(name))]
    print("\n".join(found) if found else "sleeps: each in the tests says why")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
