"""What a picture of a workflow shows, before any of it has a place: nodes with ports, joined by wires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Kind = Literal["step", "start", "outside", "missing", "event", "end"]


class Entry(Struct, frozen=True):
    """A place at the left edge where wires arrive: one slot. `word` is "either" or "2 of 3", or nothing."""

    word: str = ""
    need: int = 0
    of: int = 1


class Port(Struct, frozen=True):
    """A place at the right edge where wires leave. `label` is shown inside the box."""

    label: str = ""
    failure: bool = False


class Node(Struct, frozen=True, kw_only=True):
    """A box or a pill. `name` is the step or event, `text` what is shown, `note` the second line."""

    id: str
    kind: Kind
    name: str
    text: str
    note: str = ""
    task: str = ""
    entries: tuple[Entry, ...] = ()
    ports: tuple[Port, ...] = ()
    badges: tuple[str, ...] = ()
    disabled: bool = False
    failure: bool = False
    unused: bool = False


class Wire(Struct, frozen=True):
    """From a port of one node to an entry of another. Wires of one group are drawn as one line.

    A group has one source or one target, so that its line is a tree.
    """

    group: str
    source: str
    port: int
    target: str
    entry: int
    failure: bool = False


class Diagram(Struct, frozen=True, kw_only=True):
    """A whole picture without coordinates. `cancels` holds pairs of node ids: who withdraws whom."""

    title: str
    description: str
    nodes: tuple[Node, ...]
    wires: tuple[Wire, ...]
    cancels: tuple[tuple[str, str], ...] = ()


Marking = Mapping[tuple[str, int], int]
"""(step, index of its slot) -> how many events wait there."""
