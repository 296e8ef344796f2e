"""Columns: which wires run backwards, and how far to the right each node stands."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence

from penstock.flow.drawings.diagram import Diagram, Wire


def backward(ids: Sequence[str], wires: Sequence[Wire]) -> set[int]:
    """The indices of the wires that close a loop, when the net is read from its beginnings in that order."""
    leaving: dict[str, list[int]] = defaultdict(list)
    for index, wire in enumerate(wires):
        leaving[wire.source].append(index)
    entered = {wire.target for wire in wires}
    back: set[int] = set()
    done: set[str] = set()
    for root in [*(name for name in ids if name not in entered), *ids]:
        if root not in done:
            _walk(root, wires, leaving, done, back)
    return back


def _walk(
    root: str, wires: Sequence[Wire], leaving: Mapping[str, list[int]], done: set[str], back: set[int]
) -> None:
    """Depth first, without recursion: a chain of a thousand steps must not end in a RecursionError."""
    path = {root}
    stack = [(root, iter(leaving.get(root, [])))]
    while stack:
        node, rest = stack[-1]
        index = next(rest, None)
        if index is None:
            stack.pop()
            path.discard(node)
            done.add(node)
            continue
        target = wires[index].target
        if target in path:
            back.add(index)
        elif target not in done:
            path.add(target)
            stack.append((target, iter(leaving.get(target, []))))


def ranks_of(diagram: Diagram, back: Collection[int]) -> dict[str, int]:
    """The column of each node, none empty; a wire that is not in `back` goes to a column further right."""
    pills = {node.id for node in diagram.nodes if node.kind == "event"}
    forward = [wire for index, wire in enumerate(diagram.wires) if index not in back]
    ranks = _longest([node.id for node in diagram.nodes], forward, pills)
    _pull(diagram, forward, ranks)
    used = {rank: index for index, rank in enumerate(sorted(set(ranks.values())))}
    return {name: used[rank] for name, rank in ranks.items()}


def _length(wire: Wire, pills: Collection[str]) -> int:
    return 1 if wire.source in pills or wire.target in pills else 2


def _longest(ids: Sequence[str], forward: Sequence[Wire], pills: Collection[str]) -> dict[str, int]:
    leaving: dict[str, list[Wire]] = defaultdict(list)
    open_: dict[str, int] = dict.fromkeys(ids, 0)
    for wire in forward:
        leaving[wire.source].append(wire)
        open_[wire.target] += 1
    ranks = dict.fromkeys(ids, 0)
    ready = deque(name for name in ids if not open_[name])
    while ready:
        name = ready.popleft()
        for wire in leaving[name]:
            ranks[wire.target] = max(ranks[wire.target], ranks[name] + _length(wire, pills))
            open_[wire.target] -= 1
            if not open_[wire.target]:
                ready.append(wire.target)
    return ranks


def _pull(diagram: Diagram, forward: Sequence[Wire], ranks: dict[str, int]) -> None:
    """Move what comes from outside next to the first step that waits for it."""
    entered = {wire.target for wire in diagram.wires}
    follows: dict[str, list[str]] = defaultdict(list)
    for wire in forward:
        follows[wire.source].append(wire.target)
    for node in diagram.nodes:
        targets = [ranks[target] for target in follows[node.id]]
        if node.kind != "step" and node.id not in entered and targets:
            ranks[node.id] = min(targets) - 2
