"""What `make trust` runs, in order."""

from __future__ import annotations

from msgspec import Struct

from tests.trust.indices import BAD_INPUTS, guaranteed, listed


class Stage(Struct, frozen=True):
    """Tests that are run together, without those in `but`. `beside`: how many processes share them.

    One that `lasts` is begun first, takes what the others leave of the machine, and is waited for at the end.
    """

    name: str
    about: str
    tests: tuple[str, ...]
    but: tuple[str, ...] = ()
    beside: int = 2
    lasts: bool = False


POWER = "tests/store/sqlite/test_power.py"
SOAK = "tests/trust/test_soaking.py"

ATTACKS = (
    *("tests/access", "tests/sources", "tests/release/test_matrix.py", "tests/web/test_markup.py"),
    *(f"tests/boxes/test_{name}.py" for name in ("egress", "ssrf")),
    *(f"tests/api/test_{name}.py" for name in ("bad_inputs", "requests", "wire", "matrix", "paths", "hooks")),
)
OTHERS = ("tests/store", "tests/simulation", "tests/chaos", "tests/trust")


def not_in(folders: tuple[str, ...], tests: list[str]) -> tuple[str, ...]:
    """Those that do not lie there anyway."""
    return tuple(dict.fromkeys(test for test in tests if not test.startswith(folders)))


STAGES = (
    Stage("soak", "runs that come and go for ten minutes, while all else is tried", (SOAK,), lasts=True),
    Stage("rules", "every rule of the store, on SQLite, PostgreSQL and a model", ("tests/store",), (POWER,)),
    Stage("power", "power cuts of a simulated disk", (POWER,), beside=0),
    Stage("simulation", "the engine on a virtual clock, with seeded faults", ("tests/simulation",)),
    Stage("fuzzing", "decoders, with inputs that nobody thought of", ("tests/fuzz",)),
    Stage(
        "attacks",
        "bad inputs, roles, forged signatures, forbidden addresses, markup in a browser",
        (
            *ATTACKS,
            *not_in((*ATTACKS, *OTHERS), [test for tests in listed(BAD_INPUTS).values() for test in tests]),
        ),
    ),
    Stage(
        "operations",
        "guarantees, backups, retention, upgrades, and bugs planted in the code itself",
        ("tests/trust", *not_in((*ATTACKS, *OTHERS), guaranteed())),
        (SOAK,),
    ),
    Stage(
        "chaos", "real processes that are killed, stopped, cut off and starved", ("tests/chaos",), beside=0
    ),
)


def stage(name: str) -> Stage:
    """Raises KeyError where there is none of this name."""
    return {each.name: each for each in STAGES}[name]
