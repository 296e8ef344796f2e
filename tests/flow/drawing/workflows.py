"""Workflows for the pictures, and the nets that the rules of running make of them."""

from __future__ import annotations

from typing import Any

from penstock.flow.drawings import Diagram, diagram_of
from penstock.flow.model.definition import Definition, External, Policy, Slot, Step
from penstock.kernel import net

PORTS = {
    "decide": ("then", "else", "failed"),
    "approval": ("approved", "rejected", "failed"),
    "wait": ("done",),
}


def slot_of(text: str) -> Slot:
    """`a`, `a | b`, or `2 of a, b, c`."""
    if " of " in text:
        need, names = text.split(" of ")
        return Slot(tuple(name.strip() for name in names.split(",")), int(need))
    return Slot(tuple(name.strip() for name in text.split("|")))


def step(
    task: str = "work", after: str = "", emits: str | dict[str, str] = "", fails: str = "", **more: Any
) -> Step:
    ports = {"done": emits} if isinstance(emits, str) else emits
    ports = {**ports, "failed": fails}
    listed = {port: tuple(names.split(" + ")) for port, names in ports.items() if names}
    slots = tuple(slot_of(text) for text in after.split(" + ")) if after else None
    return Step(task=task, after=slots, emits=listed or None, **more)


def net_of(definition: Definition) -> net.Net:
    """The net of a definition, by rules R3, R6 and R7, as far as the pictures need them."""
    awaited = {name for one in definition.steps.values() for slot in one.after or () for name in slot.events}
    steps = tuple(_compiled(name, one, awaited) for name, one in definition.steps.items())
    outside = tuple(
        net.Outside(event.name, bool(event.many), bool(event.optional)) for event in definition.external or ()
    )
    return net.Net(steps, outside)


def _compiled(name: str, one: Step, awaited: set[str]) -> net.Step:
    emits = one.emits or {}
    ports = PORTS.get(one.task) or (
        "done",
        *(port for port in emits if port not in ("done", "failed")),
        "failed",
    )
    exits = []
    for port in ports:
        fires = [*emits.get(port, ()), f"{name}.{port}", *([name] if port == "done" else [])]
        if port == "failed" and not awaited & set(fires) and not net.RESERVED & set(fires):
            fires.append(net.FAIL)
        exits.append(net.Exit(port, tuple(fires), port == "failed"))
    slots = tuple(
        net.Slot(slot.events, slot.need or 0, slot.keep) for slot in one.after or (Slot((net.START,)),)
    )
    return net.Step(name, slots, tuple(exits), one.cancels or (), one.match is not None)


def workflow(name: str = "w", external: tuple[str, ...] = (), title: str = "", **steps: Step) -> Definition:
    outside = tuple(External(name=event) for event in external)
    return Definition(name=name, title=title or None, external=outside or None, steps=steps)


def drawn(definition: Definition) -> Diagram:
    return diagram_of(definition, net_of(definition), {})


def mediathread() -> Definition:
    return Definition(
        name="mediathread",
        title="Video for Mediathread",
        description="Takes an uploaded video, has it transcoded, and files it with its poster in the course.",
        external=(External(name="et_job_finished"),),
        steps={
            "extract_metadata": step("video.extract_metadata", "", "metadata_extracted", "failed"),
            "create_et_job": step("video.create_et_job", "", "et_job_created", "failed"),
            "pull_thumbnails": step("video.pull_thumbnails", "et_job_finished", "poster_created", "failed"),
            "copy_to_cunix": step("video.copy_to_cunix", "et_job_finished", "uploaded", "failed"),
            "submit": step(
                "video.mediathread_submit",
                "metadata_extracted + poster_created + uploaded",
                "submitted",
                "failed",
            ),
            "email_ok": step("mail", "submitted", "OK", "failed"),
            "email_failure": step("mail", "failed", "FAIL", "FAIL"),
        },
    )


def decision() -> Definition:
    return workflow(
        title="Order with a decision",
        check=step("decide", title="Is it in stock?"),
        reserve=step("stock.reserve", "check.then"),
        buy=step("stock.buy", "check.else"),
        invoice=step("billing.invoice", "reserve | buy", title="Write invoice"),
        pack=step("ware.pack", "reserve | buy", title="Pack"),
        ship=step("ware.ship", "invoice + pack", "OK", "FAIL", title="Ship"),
    )


def loop() -> Definition:
    return workflow(
        title="Review until approved",
        external=("withdrawn",),
        draft=step("docs.draft", "START | changes", "drafted", title="Write the draft"),
        review=step(
            "approval",
            "drafted",
            {"approved": "accepted", "rejected": "changes"},
            title="Review",
            cancels=None,
        ),
        publish=step("docs.publish", "accepted", "OK", title="Publish"),
        stop=step("docs.clean", "withdrawn", "CANCEL", title="Clean up", cancels=("draft", "review")),
    )


def zenko() -> Definition:
    return workflow(
        title="Auto-tag pictures",
        fetch=step("http", title="Fetch object"),
        faces=step("http", "fetch", title="Find faces", each="data.faces", policy=Policy(parallel=4)),
        text=step("http", "fetch", title="Read text"),
        labels=step("http", "fetch", title="Label", serialize="data.bucket"),
        scan=step("http", "fetch", "clean", title="Virus scan", disabled=True),
        collect=step("tag", "faces + text + labels + clean", title="Collect tags"),
        quick=step("tag", "2 of faces, text, labels", title="First impression", match="data.key"),
        write=step("update", "collect", "OK", title="Write back"),
    )


def fork_join(width: int, depth: int) -> Definition:
    steps = {"split": step("work")}
    for row in range(width):
        for column in range(depth):
            before = f"b{row}.{column - 1}" if column else "split"
            steps[f"b{row}.{column}"] = step("work", before)
    steps["join"] = step("work", " + ".join(f"b{row}.{depth - 1}" for row in range(width)), "OK")
    return Definition(name="fork", title=f"{width} branches of {depth}", steps=steps)


def mixed(count: int) -> Definition:
    """A net of `count` steps with everything in it, always the same."""
    steps: dict[str, Step] = {"s0": step("decide", title="Which way?")}
    state = 7
    for index in range(1, count):
        state = (state * 1103515245 + 12345) % 2**31
        near = max(0, index - 1 - state % 5)
        before = "s0.then" if near == 0 and state % 2 else "s0.else" if near == 0 else f"s{near}"
        kind = index % 7
        if kind == 3 and index > 6:
            steps[f"s{index}"] = step("work.merge", f"s{index - 2} + s{index - 4}", fails="failed")
        elif kind == 5:
            steps[f"s{index}"] = step("work.load", before, f"loaded {index}", fails="failed")
        elif kind == 6 and index > 6:
            steps[f"s{index}"] = step("mail", f"loaded {index - 1} | s{index - 3}")
        else:
            steps[f"s{index}"] = step("work.do", before)
    steps["sorry"] = step("mail", "failed", "FAIL", title="Say sorry")
    steps["end"] = step("work.end", f"s{count - 2} + s{count - 1}", "OK")
    return Definition(name="mixed", title=f"{count} mixed steps", steps=steps)


EXAMPLES = (mediathread(), decision(), loop(), zenko(), fork_join(10, 5), mixed(40), mixed(120))
