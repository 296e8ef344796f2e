"""Proofs without search: weights on places that no firing can raise bound all counts, and with them the firings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

from penstock.kernel.proof.machine import Machine, Rule

SWEEPS = 40
Group = tuple[int, int]  # step and slot: the places of one slot share a weight
Amount = int | Fraction


class Flow(NamedTuple):
    """What one rule takes and, for each exit, what it puts, counted by slot."""

    rule: int
    takes: dict[Group | int, int]
    puts: tuple[dict[Group | int, int], ...]


def flows(machine: Machine) -> list[Flow]:
    """One flow a rule, the deepest step first, so that weights settle in few sweeps."""
    order = sorted(range(len(machine.rules)), key=machine.rank.__getitem__, reverse=True)
    return [_flow(machine, number, machine.rules[number]) for number in order]


def _flow(machine: Machine, number: int, rule: Rule) -> Flow:
    bind = rule.binds[0]
    takes: Counter[Group | int] = Counter(_group(machine, place) for place in bind.plain)
    for wanted, places in bind.needs:
        takes[_group(machine, places[0])] += wanted
    taken = Counter(bind.takes)
    puts = []
    for move in rule.moves[0]:
        gain = Counter(dict(move.adds))
        gain.update(taken)
        puts.append(dict(_by_group(machine, gain)))
    return Flow(number, dict(takes), tuple(puts))


def _group(machine: Machine, place: int) -> Group | int:
    spot = machine.places[place] if place < len(machine.places) else None
    return (spot.step, spot.slot) if spot is not None else place


def _by_group(machine: Machine, counts: Counter[int]) -> Counter[Group | int]:
    total: Counter[Group | int] = Counter()
    for place, count in counts.items():
        if count > 0:
            total[_group(machine, place)] += count
    return total


def bounded(machine: Machine) -> bool:
    """Whether weights of at least one exist that no firing raises: then no events can pile up (S5)."""
    weight: dict[Group | int, int] = {}
    parts = flows(machine)
    for _ in range(SWEEPS):
        settled = True
        for flow in parts:
            held = sum(weight.get(group, 1) * count for group, count in flow.takes.items())
            for put in flow.puts:
                lack = sum(weight.get(group, 1) * count for group, count in put.items()) - held
                if lack <= 0:
                    continue
                group = next((g for g, count in flow.takes.items() if count > put.get(g, 0)), None)
                if group is None:
                    return False
                raised = -(-lack // (flow.takes[group] - put.get(group, 0)))
                weight[group] = weight.get(group, 1) + raised
                held += raised * flow.takes[group]
                settled = False
        if settled:
            return True
    return False


def most_firings(machine: Machine, parts: list[Flow], step: int, anchor: Callable[[int], Group]) -> Amount:
    """No run fires the step more often than this; -1 where the weights do not settle.

    Each token is worth the firings of the step it may still bring about; a join is paid for from one slot,
    the one that `anchor` names.
    """
    worth: dict[Group | int, Amount] = {}
    for _ in range(SWEEPS):
        settled = True
        for flow in parts:
            owner = machine.rules[flow.rule]
            counts = int(owner.step == step and not owner.begins)
            due = counts + max((_sum(worth, put) for put in flow.puts), default=0)
            group = anchor(owner.step) if not _is_second_half(flow) else next(iter(flow.takes))
            price = due if flow.takes[group] == 1 else Fraction(due) / flow.takes[group]
            if price > worth.get(group, 0):
                worth[group] = price
                settled = False
        if settled:
            return sum(_initial_worth(machine, worth))
    return -1


def _is_second_half(flow: Flow) -> bool:
    return any(isinstance(group, int) for group in flow.takes)


def _sum(worth: dict[Group | int, Amount], put: dict[Group | int, int]) -> Amount:
    return sum((worth[group] * count for group, count in put.items() if group in worth))


def _initial_worth(machine: Machine, worth: dict[Group | int, Amount]) -> Iterator[Amount]:
    for place, count in enumerate(machine.initial[: len(machine.places)]):
        yield worth.get(_group(machine, place), 0) * count
    for _, move in machine.arrivals:
        for place, count in move.adds:
            yield worth.get(_group(machine, place), 0) * count
