"""Nets in one line a step: `step("join", "a b|c", done="x", failed="y")`, compiled by the rules R3 and R7."""

from __future__ import annotations

from penstock.kernel.net import CANCEL, FAIL, OK, START, Exit, Net, Outside, Slot, Step

HANDLING = {OK, FAIL, CANCEL}


def slot(text: str) -> Slot:
    """`a`, `a|b`, `2of:a|b|c`, `2of:a|b|c+` (the rest is kept)."""
    need, _, names = text.rpartition("of:")
    return Slot(tuple(names.rstrip("+").split("|")), int(need or 0), names.endswith("+"))


def step(name: str, after: str = START, cancels: str = "", **ports: str) -> Step:
    """A step whose exits fire what is listed, `<step>.<port>` and, on done, the step's name; `none` has no port."""
    exits = []
    for port, listed in (ports or {"done": ""}).items():
        events = tuple(dict.fromkeys(listed.split()))
        if port == "none":
            exits.append(Exit(None, events))
            continue
        own = (f"{name}.{port}", name) if port == "done" else (f"{name}.{port}",)
        exits.append(Exit(port, (*events, *own), failure=port == "failed"))
    return Step(name, tuple(slot(part) for part in after.split()), tuple(exits), tuple(cancels.split()))


def net(
    *steps: Step, outside: str = "", on_failure: str = "fail", endless: bool = False, timeout: bool = False
) -> Net:
    """A net of these steps; `outside`: names, with `*` for many and `?` for optional."""
    awaited = {name for one in steps for part in one.slots for name in part.events}
    return Net(
        steps=tuple(_settled(one, awaited, on_failure) for one in steps),
        outside=tuple(
            Outside(name.rstrip("*?"), many="*" in name, optional="?" in name) for name in outside.split()
        ),
        endless=endless,
        has_timeout=timeout,
    )


def _settled(one: Step, awaited: set[str], on_failure: str) -> Step:
    exits = []
    for way in one.exits:
        handled = not way.failure or (awaited | HANDLING) & set(way.fires)
        if not handled and on_failure == "continue":
            way = Exit(way.port, way.fires, failure=True, put_off=True)
        elif not handled:
            way = Exit(way.port, (*way.fires, FAIL), failure=True)
        exits.append(way)
    return Step(one.name, one.slots, tuple(exits), one.cancels)


def branches(count: int, length: int, failing: str | None = "failed") -> list[Step]:
    """Parallel branches from START to one join that fires OK."""
    found = []
    for branch in range(count):
        for number in range(length):
            after = START if number == 0 else f"s{branch}.{number - 1}"
            ports = {"done": ""} if failing is None else {"done": "", "failed": failing}
            found.append(step(f"s{branch}.{number}", after, **ports))
    join = " ".join(f"s{branch}.{length - 1}" for branch in range(count))
    found.append(step("join", join, done="OK", failed=failing or ""))
    return found
