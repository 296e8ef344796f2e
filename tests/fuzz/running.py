"""Runs a target on many inputs in a process of its own: by coverage with atheris where that is there, else plainly."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.fuzz.words import WORDS

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 4096
"""Bytes of an input."""
SLOW = 5
"""Seconds for one input, which then counts as a crash."""
MEMORY = 2 * 1024**3
_DONE = re.compile(r"Done (\d+) runs")
_FEATURES = re.compile(r"cov: (\d+)")

Target = Callable[[bytes], None]


class Limits(Struct, frozen=True):
    """How much is tried. `seconds` of 0: as many as `runs`. `planted`: with the bug of the target."""

    runs: int
    seconds: int = 0
    seed: int = 1
    plain: bool = False
    planted: bool = False
    keep: Path | None = None


def load(plain: bool) -> Mapping[str, Target]:
    """The targets, with their decoders prepared to tell which of their branches were taken."""
    if plain or not has_atheris():
        return importlib.import_module("tests.fuzz.targets").TARGETS  # type: ignore[no-any-return]
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["penstock", "cronsim", "tests.fuzz.targets"]):
        return importlib.import_module("tests.fuzz.targets").TARGETS  # type: ignore[no-any-return]


def has_atheris() -> bool:
    """There are wheels of it for some machines only."""
    return importlib.util.find_spec("atheris") is not None


def seeds_of(name: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def fuzzed(name: str, target: Target, limits: Limits) -> dict[str, Any]:
    """What came of it: how many inputs were tried, and the one that crashed, if one did."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "new").mkdir()
        began = time.monotonic()
        plain = limits.plain or not has_atheris()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _child(name, target, limits, place, plain)
        _, status = os.waitpid(child, 0)
        said = (place / "said").read_text(errors="replace")
        crash = next(
            iter(sorted([*place.glob("crash-*"), *place.glob("timeout-*"), *place.glob("oom-*")])), None
        )
        done = _DONE.search(said)
        if limits.keep:
            shutil.copytree(place, limits.keep / name, dirs_exist_ok=True)
        broken = status != 0 or done is None
        return {
            "target": name,
            "planted": limits.planted,
            "by": "plain" if plain else "atheris",
            "inputs": int(done[1]) if done else 0,
            "branches": max(map(int, _FEATURES.findall(said)), default=0),
            "seconds": round(time.monotonic() - began, 1),
            "crash": _told(crash, said) if crash or broken else None,
        }


def _told(crash: Path | None, said: str) -> str:
    what = base64.b64encode(crash.read_bytes()).decode() if crash else "no input"
    return f"{what}\n{said[-3000:]}"


def _child(name: str, target: Target, limits: Limits, place: Path, plain: bool) -> None:
    """Never comes back."""
    try:
        out = os.open(place / "said", os.O_WRONLY | os.O_CREAT)
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limits.planted:
            importlib.import_module("tests.fuzz.planted").plant(name)
        (_plainly if plain else _by_coverage)(name, target, limits, place)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)


def _by_coverage(name: str, target: Target, limits: Limits, place: Path) -> None:
    atheris = importlib.import_module("atheris")
    words = place / "words"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in WORDS[name]))
    enough = f"-max_total_time={limits.seconds}" if limits.seconds else f"-runs={limits.runs}"
    options = (
        enough,
        f"-seed={limits.seed}",
        f"-max_len={LONGEST}",
        f"-timeout={SLOW}",
        f"-rss_limit_mb={MEMORY // 2**20}",
        f"-dict={words}",
        f"-artifact_prefix={place}/",
    )

    def kept(raw: bytes) -> None:
        try:
            target(raw)
        except BaseException:
            (place / "crash-input").write_bytes(raw)
            raise

    atheris.Setup(["fuzz", str(place / "new"), str(CORPUS / name), *options], kept)
    atheris.Fuzz()


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def _plainly(name: str, target: Target, limits: Limits, place: Path) -> None:
    rng, seeds, words = random.Random(limits.seed), seeds_of(name), [word.encode() for word in WORDS[name]]
    end = time.monotonic() + limits.seconds
    tried = 0
    while tried < limits.runs or time.monotonic() < end:
        raw = seeds[tried] if tried < len(seeds) else mutated(rng, seeds, words)
        began = time.process_time()
        try:
            target(raw)
        except BaseException:
            (place / "crash-plain").write_bytes(raw)
            raise
        if time.process_time() - began > SLOW:
            (place / "timeout-plain").write_bytes(raw)
            raise TimeoutError(f"one input took more than {SLOW} seconds")
        tried += 1
    print(f"Done {tried} runs")


def mutated(rng: random.Random, seeds: list[bytes], words: list[bytes]) -> bytes:
    """A seed after some changes: bytes and words put in, taken out, repeated, or taken from another seed."""
    raw = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randint(0, len(raw))
        to = min(len(raw), at + rng.choice((0, 1, 2, 8, 32)))
        other = rng.choice(seeds)
        raw[at:to] = rng.choice(
            (b"", rng.choice(words), rng.randbytes(rng.randint(1, 3)), raw[at:to] * 3, other[at : at + 40])
        )
    return bytes(raw[:LONGEST])
