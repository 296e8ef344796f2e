"""From a definition and its net to the diagram: which ports matter, which events are named, who is joined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.drawings.diagram import Diagram, Entry, Kind, Node, Port, Wire
from penstock.flow.drawings.ranks import backward
from penstock.flow.model import definition as model
from penstock.flow.model.definition import Definition
from penstock.flow.model.offer import Offer
from penstock.kernel.net import FAIL, RESERVED, START, Exit, Net, Slot, Step


class _Producer(Struct, frozen=True):
    step: str
    port: int
    own: bool
    failure: bool


def diagram_of(definition: Definition, net: Net, offers: Mapping[str, Offer]) -> Diagram:
    """The picture of a workflow: every step, every listed event, and who waits for what."""
    exits = {step.name: _exits(definition, net, step) for step in net.steps}
    producers = _producers(net, exits)
    awaited = _awaited(net)
    names = dict.fromkeys([START, *net.outside_names(), *producers, *awaited])
    own = {name for name in names if _is_own(producers.get(name, []))}
    events = [
        node for name in names if (node := _event_node(net, name, producers.get(name, []), name in awaited))
    ]
    steps = [_step_node(definition, step, exits[step.name], offers) for step in net.steps]
    firsts = [node for node in events if node.kind in ("start", "outside", "missing")]
    rest = [node for node in events if node.kind in ("event", "end")]
    wires = tuple(_wires([*firsts, *rest], producers, awaited, own))
    nodes = tuple(_mark_loops([*firsts, *steps, *rest], wires))
    cancels = tuple((f"step:{step.name}", f"step:{name}") for step in net.steps for name in step.cancels)
    known = {node.id for node in nodes}
    return Diagram(
        title=definition.title or definition.name,
        description=definition.description or "",
        nodes=nodes,
        wires=wires,
        cancels=tuple(pair for pair in cancels if pair[1] in known),
    )


def _exits(definition: Definition, net: Net, step: Step) -> list[tuple[Exit, list[str]]]:
    """The exits worth a port, each with the events worth showing; failures last."""
    shown = []
    for way in step.exits:
        listed = _listed(definition, step.name, way)
        events = [name for name in way.fires if name in listed or _matters(net, way, name)]
        if events:
            shown.append((way, events))
    return sorted(shown, key=lambda pair: pair[0].failure)


def _listed(definition: Definition, step: str, way: Exit) -> Sequence[str]:
    written = definition.steps.get(step)
    return () if written is None or way.port is None else (written.emits or {}).get(way.port, ())


def _matters(net: Net, way: Exit, name: str) -> bool:
    if name in RESERVED:
        # Every unhandled failure fires FAIL: a wire from each box says nothing.
        return not (way.failure and name == FAIL)
    return name in net.awaited


def _producers(net: Net, exits: Mapping[str, list[tuple[Exit, list[str]]]]) -> dict[str, list[_Producer]]:
    found: dict[str, list[_Producer]] = defaultdict(list)
    for step in net.steps:
        for index, (way, events) in enumerate(exits[step.name]):
            for name in events:
                own = name in (step.name, f"{step.name}.{way.port}")
                found[name].append(_Producer(step.name, index, own, way.failure))
    return found


def _awaited(net: Net) -> dict[str, list[tuple[str, int]]]:
    """Event -> the (step, slot) that wait for it."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for step in net.steps:
        for index, slot in enumerate(step.slots):
            for name in dict.fromkeys(slot.events):
                found[name].append((step.name, index))
    return found


def _is_own(producers: Sequence[_Producer]) -> bool:
    return len(producers) == 1 and producers[0].own


def _event_node(net: Net, name: str, fired: Sequence[_Producer], waits: bool) -> Node | None:
    """The pill of an event; None where its wire needs no name or nobody awaits it."""
    outside = next((event for event in net.outside if event.name == name), None)
    entries = (Entry(),) if fired else ()
    ports = (Port(),) if waits else ()
    kind: Kind = "event" if fired else "missing"
    identity, note = f"event:{name}", ""
    if name == START:
        if not waits:
            return None
        kind, identity = "start", "start"
    elif name in RESERVED:
        kind, identity = "end", f"end:{name}"
    elif outside is not None:
        kind, identity = "outside", f"outside:{name}"
        note = ", ".join(word for word in ("many", "optional") if getattr(outside, word))
    elif _is_own(fired):
        return None
    return Node(
        id=identity,
        kind=kind,
        name=name,
        text=name,
        note=note,
        entries=entries,
        ports=ports,
        failure=kind == "event" and all(producer.failure for producer in fired),
        unused=kind == "event" and not waits,
    )


def _step_node(
    definition: Definition, step: Step, exits: Sequence[tuple[Exit, list[str]]], offers: Mapping[str, Offer]
) -> Node:
    written = definition.steps.get(step.name)
    task = written.task if written else ""
    title = (written.title if written else None) or step.name
    ports = [
        Port("" if way.port in (None, "done", "failed") else str(way.port), way.failure) for way, _ in exits
    ]
    return Node(
        id=f"step:{step.name}",
        kind="step",
        name=step.name,
        text=title,
        note=task,
        task=task,
        entries=tuple(_entry(slot) for slot in step.slots),
        ports=tuple(ports),
        badges=tuple(_badges(written, step, task in offers or not offers)) if written else (),
        disabled=bool(written and written.disabled),
    )


def _entry(slot: Slot) -> Entry:
    if slot.need:
        return Entry(f"{slot.need} of {len(slot.events)}", slot.need, len(slot.events))
    count = len(slot.events)
    return Entry(("", "either", f"any of {count}")[min(count, 3) - 1], 0, count)


def _badges(written: model.Step, step: Step, offered: bool) -> Iterator[str]:
    if written.disabled:
        yield "disabled"
    if written.each is not None:
        yield "each"
    if (written.policy.parallel or 1) > 1:
        yield f"{written.policy.parallel} at once"
    if written.serialize is not None:
        yield f"{written.serialize_limit or 1} per key"
    if written.match is not None:
        yield "match"
    if step.cancels:
        yield f"cancels {len(step.cancels)}"
    if not offered:
        yield "unknown task"


def _wires(
    events: Sequence[Node],
    producers: Mapping[str, list[_Producer]],
    awaited: Mapping[str, list[tuple[str, int]]],
    own: set[str],
) -> Iterator[Wire]:
    for node in events:
        for producer in producers.get(node.name, []):
            group = f"in:{node.name}:{'failed' if producer.failure else 'done'}"
            yield Wire(group, f"step:{producer.step}", producer.port, node.id, 0, producer.failure)
        for step, slot in awaited.get(node.name, []):
            yield Wire(f"out:{node.name}", node.id, 0, f"step:{step}", slot, node.failure)
    straight: list[Wire] = []
    for name in awaited:
        if name in own:
            [producer] = producers[name]
            group = f"own:{producer.port}:{producer.step}"
            source = (group, f"step:{producer.step}", producer.port)
            straight += [
                Wire(*source, f"step:{step}", slot, producer.failure) for step, slot in awaited[name]
            ]
    yield from dict.fromkeys(straight)


def _mark_loops(nodes: Sequence[Node], wires: Sequence[Wire]) -> Iterator[Node]:
    """The same nodes, with a badge on each step that a wire comes back to."""
    back = {wires[index].target for index in backward([node.id for node in nodes], wires)}
    back |= {wire.target for wire in wires if wire.source in back and wire.source.startswith("event:")}
    for node in nodes:
        loops = node.kind == "step" and node.id in back
        yield replace(node, badges=("loop", *node.badges)) if loops else node
