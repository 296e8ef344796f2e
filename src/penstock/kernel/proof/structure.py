"""What the drawing alone tells: who feeds whom, what can be filled at all, loops, and steps that only end the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from penstock.kernel.net import CANCEL, ENDINGS, FAIL, START, Exit, Net, Slot, Step

Graph = list[set[int]]


def ends_run(way: Exit) -> bool:
    """Whether a firing that ends this way ends the run early."""
    return FAIL in way.fires or CANCEL in way.fires


def takers(net: Net) -> dict[str, list[int]]:
    """Event name -> the steps with a slot that takes it."""
    found: dict[str, list[int]] = {}
    for index, step in enumerate(net.steps):
        for name in {name for slot in step.slots for name in slot.events}:
            found.setdefault(name, []).append(index)
    return found


def step_graph(
    net: Net, follows: Callable[[Step, Exit], bool] = lambda step, way: not ends_run(way)
) -> Graph:
    """Step -> the steps that take an event it fires on an exit that `follows`."""
    taking = takers(net)
    graph: Graph = [set() for _ in net.steps]
    for index, step in enumerate(net.steps):
        for way in step.exits:
            if follows(step, way):
                graph[index].update(taker for name in way.fires for taker in taking.get(name, ()))
    return graph


def reach(graph: Graph, roots: Iterable[int], without: Set[int] = frozenset()) -> set[int]:
    """The roots and all that can be reached from them, `without` some nodes and what lies behind them."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        fresh = graph[stack.pop()] - seen - without
        seen |= fresh
        stack.extend(fresh)
    return seen


def reverse(graph: Graph) -> Graph:
    back: Graph = [set() for _ in graph]
    for tail, heads in enumerate(graph):
        for head in heads:
            back[head].add(tail)
    return back


def finishing_order(graph: Graph) -> list[int]:
    """The nodes in the order a depth-first walk leaves them: what comes later in a flow comes earlier here."""
    order: list[int] = []
    seen: set[int] = set()
    for root in range(len(graph)):
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(sorted(graph[root])))]
        while stack:
            node, heads = stack[-1]
            head = next((head for head in heads if head not in seen), None)
            if head is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(head)
                stack.append((head, iter(sorted(graph[head]))))
    return order


def loops(graph: Graph) -> list[frozenset[int]]:
    """The sets of steps that lie on a common cycle."""
    back, found, done = reverse(graph), [], set[int]()
    for root in reversed(finishing_order(graph)):
        if root in done:
            continue
        part = reach(back, {root}, without=done)
        done |= part
        if len(part) > 1 or root in graph[root]:
            found.append(frozenset(part))
    return found


def loop_heads(graph: Graph) -> frozenset[int]:
    """Steps to which a depth-first walk comes back: every cycle has one of them."""
    heads: set[int] = set()
    seen: set[int] = set()
    for root in range(len(graph)):
        stack, walk = [(root, iter(graph[root]))] if root not in seen else [], {root}
        seen.add(root)
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                stack.pop()
                walk.discard(node)
            elif following in walk:
                heads.add(following)
            elif following not in seen:
                seen.add(following)
                walk.add(following)
                stack.append((following, iter(graph[following])))
    return frozenset(heads)


def can_fill(slot: Slot, names: Iterable[str]) -> bool:
    """Whether events of these names can fill the slot."""
    return len(set(slot.events).intersection(names)) >= slot.wanted


def fillable(net: Net, given: Iterable[str], follows: Callable[[Step, Exit], bool]) -> frozenset[int]:
    """Steps whose every slot can be filled when each event that is given or fired may come any number of times.

    A step outside this set can never fire; one inside may still be dead.
    """
    names = set(given)
    alive: set[int] = set()
    growing = True
    while growing:
        growing = False
        for index, step in enumerate(net.steps):
            if index not in alive and all(can_fill(slot, names) for slot in step.slots):
                alive.add(index)
                names.update(name for way in step.exits if follows(step, way) for name in way.fires)
                growing = True
    return frozenset(alive)


def upstream(net: Net, graph: Graph, steps: Iterable[int]) -> set[int]:
    """The steps, those that may feed them, and those that cancel any of these."""
    back = reverse(graph)
    for index, step in enumerate(net.steps):
        for victim in (other for other, one in enumerate(net.steps) if one.name in step.cancels):
            back[victim].add(index)
    return reach(back, steps)


def main_names(net: Net) -> set[str]:
    """Events that are there without any step: START and what may come from outside."""
    return {START, *net.outside_names()}


def canceled(net: Net) -> frozenset[int]:
    """Steps that lie in some step's cancel region."""
    named = {name for step in net.steps for name in step.cancels}
    return frozenset(index for index, step in enumerate(net.steps) if step.name in named)


def doomed(net: Net) -> frozenset[int]:
    """Steps that, once fed, can do nothing but end the run: each exit ends it or feeds only such steps."""
    taking, reset = takers(net), canceled(net)
    found: set[int] = set()
    growing = True
    while growing:
        growing = False
        for index, step in enumerate(net.steps):
            if index not in found and index not in reset and _dooms(step, taking, found):
                found.add(index)
                growing = True
    return frozenset(found)


def _dooms(step: Step, taking: dict[str, list[int]], known: set[int]) -> bool:
    plain = len(step.slots) == 1 and step.slots[0].need == 0 and not step.cancels
    sane = any(not way.failure for way in step.exits)
    return plain and sane and all(ends_run(way) or feeds_only(way, taking, known) for way in step.exits)


def feeds_only(way: Exit, taking: dict[str, list[int]], doomed_steps: Iterable[int]) -> bool:
    """Whether all that this exit feeds, and it feeds something, is doomed."""
    fed = {taker for name in way.fires if name not in ENDINGS for taker in taking.get(name, ())}
    return bool(fed) and fed <= set(doomed_steps)
