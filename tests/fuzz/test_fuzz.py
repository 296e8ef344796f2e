"""Each decoder is fuzzed from inputs that are kept: nothing crashes it, and a bug that is planted in it does.

A moment each in `make test`; FUZZ_SECONDS makes it longer, as `make trust` does. What is found goes into the corpus.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.running import CORPUS, seeds_of
from tests.fuzz.targets import TARGETS
from tests.fuzz.words import WORDS
from tests.trust.figures import LONG, write

ROOT = Path(__file__).parents[2]
RUNS = 1_000
SECONDS = int(os.environ.get("FUZZ_SECONDS") or (30 if os.environ.get(LONG) else 0))
Found = list[dict[str, Any]]


def fuzz(*options: str) -> Found:
    """What came of it, target by target."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=300 + 30 * SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr[-2000:]
    found: Found = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def fuzzed() -> Found:
    """All targets, as they are and with their bugs. To prepare them takes most of the time, unless it is long."""
    names, parts = list(TARGETS), 2 if SECONDS else 1
    options = ("--runs", str(RUNS), "--seconds", str(SECONDS), "--planted", "also")
    with ThreadPoolExecutor(parts) as threads:
        found = threads.map(lambda part: fuzz(*names[part::parts], *options), range(parts))
        return [each for part in found for each in part]


def test_every_target_has_inputs_that_are_kept_and_words() -> None:
    assert {path.name for path in CORPUS.iterdir()} == {*TARGETS} == {*WORDS}


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_that_is_kept_crashes_a_decoder(name: str) -> None:
    for raw in seeds_of(name):
        TARGETS[name](raw)


def test_no_input_that_is_like_one_that_is_kept_crashes_a_decoder() -> None:
    found = fuzz("--plain", "--runs", str(RUNS // 2))

    assert {each["target"]: each["crash"] for each in found} == dict.fromkeys(TARGETS)


@pytest.mark.long("test_no_input_that_is_like_one_that_is_kept_crashes_a_decoder")
def test_no_input_crashes_a_decoder(fuzzed: Found) -> None:
    found = [each for each in fuzzed if not each["planted"]]
    crashes = {each["target"]: each["crash"] for each in found if each["crash"]}
    write(
        "fuzz",
        {
            "decoders fuzzed": len(found),
            "inputs to decoders": sum(each["inputs"] for each in found),
            "crashes of a decoder": len(crashes),
        },
    )

    assert crashes == {}
    assert {each["target"]: each["inputs"] >= RUNS // 10 for each in found} == dict.fromkeys(TARGETS, True)


@pytest.mark.long("test_it_is_found_without_a_fuzzer_too")
def test_a_bug_that_is_planted_is_found_in_each_decoder(fuzzed: Found) -> None:
    found = [each for each in fuzzed if each["planted"]]
    missed = missed_in(found)
    write("fuzz_planted", {"planted bugs caught": f"{len(found) - len(missed)}/{len(found)}"})

    assert (len(found), missed) == (len(TARGETS), [])


def test_it_is_found_without_a_fuzzer_too() -> None:
    """There is none for every machine."""
    assert missed_in(fuzz("--plain", "--planted", "only")) == []


def missed_in(found: Found) -> list[str]:
    return [each["target"] for each in found if not each["crash"] or each["crash"].startswith("no input")]
