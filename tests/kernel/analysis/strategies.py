"""Random small nets: either/or and n-of-m slots, several exits, outside events, cancel regions, OK and FAIL."""

from __future__ import annotations

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
