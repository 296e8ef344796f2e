"""Zenko's diagrams: what its own validator refuses, each with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.importing.imported import Wrongs, circle_in

SOURCES = ("data", "search")
TYPES = (*SOURCES, "tag", "function", "decision", "update", "stopper")
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "LIKE")
BASIC, ADVANCED = "basic", "advanced"
FISSION, AZURE = "fission", "azure_function"
_DEFAULTS = {"function": FISSION}
_NEEDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("data", BASIC): ("key",),
    ("data", ADVANCED): ("script",),
    ("search", BASIC): ("key", "cronRule"),
    ("search", ADVANCED): ("key", "script", "cronRule"),
    ("tag", BASIC): ("key", "value"),
    ("tag", ADVANCED): ("script",),
    ("decision", BASIC): ("key", "operator", "value"),
    ("decision", ADVANCED): ("script",),
    ("function", FISSION): ("func", "asynchronous"),
    ("function", AZURE): ("func", "endpoint", "postData"),
}
"""What a node must say, by its type and subtype."""


def subtype_of(node: Mapping[str, Any]) -> str:
    """The subtype of a node; where it says none, the one that the editor gives it."""
    return str(node.get("subType") or _DEFAULTS.get(str(node.get("type")), BASIC))


def called(node: Mapping[str, Any], number: int) -> str:
    """How a node is called in a sentence."""
    return f"'{node['name']}'" if node.get("name") else f"node {number}"


def check_model(model: Any, wrongs: Wrongs) -> None:
    """Record everything that Zenko would not run. Later rules are only looked at where the earlier ones hold."""
    if not isinstance(model, dict) or not all(isinstance(model.get(key), list) for key in ("nodes", "links")):
        wrongs.say("", "this is no diagram of Zenko: it is a map with the lists `nodes` and `links`")
        return
    for number, node in enumerate(model["nodes"]):
        _check_node(node, number, wrongs)
    _check_ids(model["nodes"], wrongs)
    for number, link in enumerate(model["links"]):
        if not isinstance(link, dict) or not isinstance(link.get("id"), str):
            wrongs.say(f"links[{number}]", f"link {number} has no `id`")
    _check_sources(model["nodes"], wrongs)
    if not wrongs.problems:
        _check_ports(model, wrongs)
        _check_links(model, wrongs)
    if not wrongs.problems:
        _check_cycles(model, wrongs)


def _check_ids(nodes: list[Any], wrongs: Wrongs) -> None:
    """Two nodes with one id would become one box, and nobody could say which."""
    seen: dict[str, str] = {}
    for number, node in enumerate(nodes):
        if not isinstance(node, dict) or not isinstance(node.get("id"), str):
            continue
        id, name = node["id"], called(node, number)
        if id in seen:
            wrongs.say(f"nodes[{number}].id", f"{name} has the id {id[:80]!r}, which {seen[id]} has too")
        seen.setdefault(id, name)


def _check_node(node: Any, number: int, wrongs: Wrongs) -> None:
    path = f"nodes[{number}]"
    if not isinstance(node, dict) or not isinstance(node.get("id"), str):
        wrongs.say(path, f"node {number} has no `id`")
        return
    name, kind = called(node, number), node.get("type")
    if kind not in TYPES:
        wrongs.say(
            f"{path}.type", f"{name} is of type {kind!r}, which Zenko does not have: {', '.join(TYPES)}"
        )
        return
    if kind not in ("update", "stopper"):
        _check_fields(node, name, path, wrongs)
    ports = node.get("ports")
    if not isinstance(ports, list) or not all(isinstance(port, dict) for port in ports):
        wrongs.say(path, f"{name} has no `ports`")


def _check_fields(node: Mapping[str, Any], name: str, path: str, wrongs: Wrongs) -> None:
    kind, subtype = str(node["type"]), subtype_of(node)
    needs = _NEEDS.get((kind, subtype))
    if needs is None:
        wrongs.say(f"{path}.subType", f"{name}: '{subtype}' is not supported for a {kind}")
        return
    for key in needs:
        if node.get(key) is None:
            wrongs.say(path, f"{name} says no `{key}`, which a {subtype} {kind} needs")
    if "operator" in needs and node.get("operator") not in (None, *OPERATORS):
        wrongs.say(
            f"{path}.operator",
            f"{name} has the operator {node['operator']!r}: it is one of {' '.join(OPERATORS)}",
        )


def _check_sources(nodes: list[Any], wrongs: Wrongs) -> None:
    sources = [
        (number, node)
        for number, node in enumerate(nodes)
        if isinstance(node, dict) and node.get("type") in SOURCES
    ]
    for number, node in sources[1:]:
        wrongs.say(f"nodes[{number}]", f"{called(node, number)}: only one source per workflow")


def _check_ports(model: Mapping[str, Any], wrongs: Wrongs) -> None:
    links = {link["id"] for link in model["links"]}
    for number, node in enumerate(model["nodes"]):
        for place, port in enumerate(node["ports"]):
            problem = _port_problem(node, port, links)
            if problem is not None:
                wrongs.say(f"nodes[{number}].ports[{place}]", f"{called(node, number)}: {problem}")


def _port_problem(node: Mapping[str, Any], port: Mapping[str, Any], links: set[str]) -> str | None:
    named = f"port '{port.get('name')}'"
    if not isinstance(port.get("id"), str):
        return f"{named} has no `id`"
    if port.get("parentNode") != node["id"]:
        return f"{named} says that it belongs to another node"
    if not isinstance(port.get("links"), list):
        return f"{named} has no `links`"
    if not port["links"]:
        return f"{named} is not linked to anything"
    unknown = [each for each in port["links"] if not isinstance(each, str) or each not in links]
    return f"{named} names the link {unknown[0]!r}, which is not there" if unknown else None


def _check_links(model: Mapping[str, Any], wrongs: Wrongs) -> None:
    ports = {
        (node["id"], port["id"]): str(port.get("name"))
        for node in model["nodes"]
        for port in node["ports"]
        if isinstance(port.get("id"), str)
    }
    for number, link in enumerate(model["links"]):
        start, end = _port(ports, link, "source"), _port(ports, link, "target")
        for which, name, allowed in (("begins", start, ("output", "output2")), ("ends", end, ("input",))):
            if name is None:
                wrongs.say(f"links[{number}]", f"link {number} {which} at a port that is not there")
            elif name not in allowed:
                words = " or ".join(allowed)
                wrongs.say(
                    f"links[{number}]", f"link {number} {which} at port '{name}': it must be an {words}"
                )


def _port(ports: Mapping[tuple[str, str], str], link: Mapping[str, Any], which: str) -> str | None:
    """The name of the port that a link names; None: it is not there."""
    node, port = link.get(which), link.get(f"{which}Port")
    return ports.get((node, port)) if isinstance(node, str) and isinstance(port, str) else None


def edges_of(model: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each link of a diagram as source node, name of its port, target node."""
    names = {
        (node["id"], port["id"]): str(port.get("name")) for node in model["nodes"] for port in node["ports"]
    }
    for link in model["links"]:
        yield link["source"], names[link["source"], link["sourcePort"]], link["target"]


def _check_cycles(model: Mapping[str, Any], wrongs: Wrongs) -> None:
    graph: dict[str, set[str]] = {node["id"]: set() for node in model["nodes"]}
    for start, _, end in edges_of(model):
        graph[end].add(start)
    if circle := circle_in(graph):
        ids = [node["id"] for node in model["nodes"]]
        names = {node["id"]: called(node, number) for number, node in enumerate(model["nodes"])}
        said = " → ".join(names[each] for each in circle)
        wrongs.say(f"nodes[{ids.index(circle[0])}]", f"the diagram has a cycle: {said}")
