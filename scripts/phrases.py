"""Print phrases that read like a translation where there are more of them than the baseline allows; exit 1 if any do.

The baseline in `scripts/phrases.json` counts each phrase by area, so that moving a file changes nothing. It may only
shrink: `--write` records what was gained and refuses to raise a figure.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

BASELINE = Path("scripts/phrases.json")
READ = (":(glob)*.md", "docs/*.md", "src/*.py", "src/*.sql", "web/src/messages/en*.ts")
SHOWN = 20

IS = "(is|are|was|were|be|been|being)"
PHRASES = {
    f"{IS} (not )?to be had": "is available",
    f"{IS} told": "say who learns it, or who reports it: the server notifies …",
    f"{IS} said": "say who says it, or drop it",
    f"{IS} looked": "say who checks or searches",
    f"{IS} let": "may, is allowed to",
    f"{IS} meant(?! (to|for))": "refers to",
    f"{IS} taken for": "is mistaken for, is treated as",
    f"{IS} (wanted|asked for)": "is needed, is requested",
    f"{IS} away": "is unavailable, is disconnected",
    f"{IS} gone": "no longer exists, was deleted",
    f"{IS} (not |already |still |no longer )?there(?! (a|an|any|no))": "exists, is present",
    "(is|are|was|were) to be(?! had)": "must be, will be",
    "(tells?|says?|said|told|knows?|known) of": "report, describe; say or know about",
    "beside": "next to; compared with; in addition to",
    "(go|goes|going|gone|went) on": "continue, proceed",
    "(go|goes|going|gone|went) round": "loop; circumvent",
    "(go|goes) by": "follow, use; pass",
    "(mend|mends|mended|mending)": "fix, repair",
    "(whoever|whosoever|whomever)": "anyone who, a user who; name the actor",
    r"[.;] who (?!are\b)\w+(?![^.?!]{0,90}\?)": "begin with the actor: a caller who …, users who …",
    "[.;] of (the|those|these|each|several|two|one|it|them|all|every)": "begin with the subject: each of …, among …",
    "what brings": "the source of",
    "of (today|late|old)": "current; recently; earlier",
    "so that [^.]{1,200} so that": "split the sentence",
    r"(?<!is\s)(?<!are\s)all the same": "still, anyway, nevertheless",
    "not only": "both … and, also",
    "nothing (else )?(but|than)": "only",
    "(at|in) hand": "cached, available; in progress",
    "at work": "running, active",
    "under way": "running, in progress",
    "(at|in) one go": "at once, in one pass",
    "as soon as it is": "when it is",
    "for ever": "forever, without end",
    "anew": "again",
    "in vain": "without effect, for nothing",
    "any more": "no longer",
    "(hold|holds|held|holding) up": "delay, block",
    "but for": "except for",
    "in good order": "cleanly",
    "signs? of life": "heartbeat",
    "(stand|stands) (in|on|at|above|below|beside|behind|under|there)": "is in, appears in",
    "(lie|lies) (in|on|at|below|beside|behind|under|there)": "is in, is stored in",
    "comes? to (an end|nothing)": "end; have no effect",
    "(take|takes|taken|took) away": "remove",
    "(give|gives|given|gave|giving) back": "return",
    "where (none|nothing|nobody)": "if there is no …, if no …",
    "how far (it|they) (is|are|was|were|has|have)": "progress",
    "(do|does) not count": "is ignored, is invalid",
    "(looks|looking) on": "watch",
    "(look|looks|looked|looking) whether": "check whether",
    "in the place of": "instead of",
    "passed over": "ignored, skipped",
    "there and then": "immediately",
    "as (it|they|one) (likes?|pleases?)": "freely, of any …",
    "of (its|their) own accord": "automatically",
    "(whence|wherein|whereupon|therein|thereof|thereupon|hereby|hitherto)": "use today's word",
}
"""What gives a translation away, and what to write instead."""

BETWEEN = r"""[\s"'#]+(?:f["'])?"""
"""What may stand between two words: sentences continue on the next line of a text or a comment."""
PATTERNS = {phrase: re.compile(rf"{phrase.replace(' ', BETWEEN)}\b") for phrase in PHRASES}
WITHIN = re.compile(r"\B\w")
"""Not the first letter of a word. A `\\b` at the start of each pattern takes three times as long."""

Counts = dict[str, dict[str, int]]
"""How often each phrase occurs in each area."""


class Found(NamedTuple):
    phrase: str
    path: Path
    line: int
    words: str

    @property
    def area(self) -> str:
        return self.path.parts[0] if len(self.path.parts) > 1 else "root"


def found_in(path: Path) -> Iterator[Found]:
    text = path.read_text(encoding="utf-8").lower()
    for phrase, pattern in PATTERNS.items():
        for match in pattern.finditer(text):
            if not WITHIN.match(text, match.start()):
                line = text.count("\n", 0, match.start()) + 1
                yield Found(phrase, path, line, " ".join(match[0].split()))


def counted(found: Iterable[Found]) -> Counts:
    counts: Counts = {phrase: {} for phrase in PHRASES}
    for one in found:
        areas = counts[one.phrase]
        areas[one.area] = areas.get(one.area, 0) + 1
    return {phrase: dict(sorted(areas.items())) for phrase, areas in counts.items()}


def excess(found: list[Found], baseline: Counts) -> Iterator[str]:
    """What exceeds the baseline; a phrase that the baseline does not have yet is allowed everywhere."""
    for phrase, areas in counted(found).items():
        for area, count in areas.items() if phrase in baseline else ():
            if count > (most := baseline[phrase].get(area, 0)):
                yield f"{area}: {count} × {phrase!r}, {most} at most; the files changed last come first:"
                places = [one for one in found if (one.phrase, one.area) == (phrase, area)]
                places.sort(key=lambda one: -one.path.stat().st_mtime)
                for one in places[:SHOWN]:
                    yield f"{one.path}:{one.line}: “{one.words}”: {PHRASES[phrase]}"


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *READ], capture_output=True, text=True, check=True
    )
    paths = [Path(name) for name in listed.stdout.split() if Path(name).exists()]
    found = [one for path in paths for one in found_in(path)]
    baseline: Counts = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    counts = counted(found)
    if worse := list(excess(found, baseline)):
        print("\n".join(worse))
        return 1
    if "--write" in sys.argv[1:]:
        lines = (f"  {json.dumps(phrase)}: {json.dumps(areas)}" for phrase, areas in counts.items())
        BASELINE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    elif counts != baseline:
        print("phrases: fewer than in the baseline: record the gain with scripts/phrases.py --write")
        return 1
    print(f"phrases: {len(found)} of the baseline, and no other reads like a translation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
