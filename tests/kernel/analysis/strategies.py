"""Random small nets: either/or and n-of-m slots, several exits, outside events, cancel regions, OK and FAIL."""

from __future__ import annotations

from random import Random

from hypothesis import strategies as st
from tests.kernel.analysis.nets import net, step

from penstock.kernel.net import Net, Step

EVENTS = ("a", "b", "c", "d")


@st.composite
def slots(draw: st.DrawFn, names: tuple[str, ...], needs: bool) -> str:
    kind = draw(st.integers(0, 9))
    if kind < 6:
        return draw(st.sampled_from(names))
    count = draw(st.integers(2, 3))
    some = draw(st.lists(st.sampled_from(names), min_size=count, max_size=count, unique=True))
    if kind < 8 or not needs:
        return "|".join(some)
    return f"{draw(st.integers(1, count))}of:" + "|".join(some)


@st.composite
def steps(
    draw: st.DrawFn, name: str, names: tuple[str, ...], others: tuple[str, ...], needs: bool, cancels: bool
) -> Step:
    first = draw(st.integers(0, 2)) == 0
    parts = ["START"] if first else draw(st.lists(slots(names, needs), min_size=1, max_size=2))
    ports = draw(
        st.sampled_from([("done",), ("done", "failed"), ("done", "failed"), ("then", "else"), ("none",)])
    )
    fired = {}
    for port in ports:
        events = draw(st.lists(st.sampled_from(EVENTS), max_size=2, unique=True))
        special = draw(st.sampled_from(["", "", "", "", "", "OK", "OK", "FAIL"]))
        fired[port] = " ".join([*events, special])
    region = draw(st.sampled_from(others)) if cancels and draw(st.integers(0, 3)) == 0 else ""
    return step(name, " ".join(parts), region, **fired)


@st.composite
def nets(
    draw: st.DrawFn, needs: bool = True, cancels: bool = False, outside: bool = True, size: int = 5
) -> Net:
    count = draw(st.integers(2, size))
    own = tuple(f"s{number}" for number in range(count))
    coming = draw(st.sampled_from(["", "e", "e", "e f", "e? f"])) if outside else ""
    names = (*EVENTS, *own, "START", *(name.rstrip("?") for name in coming.split()))
    found = [draw(steps(name, names, own, needs, cancels)) for name in own]
    return net(*found, outside=coming, on_failure=draw(st.sampled_from(["fail", "continue"])))


# -- the same without Hypothesis, for very many of them -------------------------------------------------------


def random_net(chance: Random) -> Net:
    """A net of two to five steps with what makes the order matter: cancel regions, `many` events, loops, failures."""
    own = tuple(f"s{number}" for number in range(chance.randint(2, 5)))
    coming = chance.choice(["", "", "e", "e f", "e? f", "e*", "e*", "e* f", "e*? f"])
    names = (*EVENTS, *own, "START", *(name.rstrip("*?") for name in coming.split()))
    found = [_random_step(chance, name, names, own) for name in own]
    return net(*found, outside=coming, on_failure=chance.choice(["fail", "fail", "continue"]))


def _random_step(chance: Random, name: str, names: tuple[str, ...], own: tuple[str, ...]) -> Step:
    slots = [_random_slot(chance, names) for _ in range(chance.choice([1, 1, 1, 2, 2]))]
    fired = {}
    for port in chance.choice([("done",), ("done", "failed"), ("then", "else"), ("none",)]):
        special = chance.choice(["", "", "", "", "", "OK", "OK", "FAIL"])
        fired[port] = " ".join([*chance.sample(EVENTS, chance.choice([0, 1, 1, 2])), special])
    region = " ".join(chance.sample(own, chance.choice([1, 1, 1, 2]))) if chance.random() < 0.3 else ""
    return step(name, "START" if chance.random() < 0.3 else " ".join(slots), region, **fired)


def _random_slot(chance: Random, names: tuple[str, ...]) -> str:
    kind = chance.random()
    if kind < 0.65:
        return chance.choice(names)
    some = chance.sample(names, chance.randint(2, 3))
    return "|".join(some) if kind < 0.85 else f"{chance.randint(1, len(some))}of:{'|'.join(some)}"
