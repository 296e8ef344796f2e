"""The diagram as Mermaid text, for pages that draw it themselves."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.flow.drawings.diagram import Diagram, Node, Wire
from penstock.flow.drawings.shapes import words_of

_FRAMES = {
    "step": ("[", "]"),
    "start": ("([", "])"),
    "end": ("([", "])"),
    "outside": (">", "]"),
    "missing": ("{{", "}}"),
    "event": ("(", ")"),
}
_CLASSES = (
    "classDef step fill:#ffffff,stroke:#c8ced5,color:#14191f",
    "classDef event fill:#ffffff,stroke:#c8ced5,color:#4a5460",
    "classDef outside fill:#ffffff,stroke:#7d8794,color:#4a5460,stroke-dasharray:3 2",
    "classDef start fill:#ffffff,stroke:#4a5460,color:#14191f",
    "classDef ok fill:#ffffff,stroke:#1a7244,color:#1a7244",
    "classDef bad fill:#ffffff,stroke:#b3261e,color:#b3261e",
    "classDef disabled fill:#eff1f3,stroke:#c8ced5,color:#4a5460,stroke-dasharray:3 3",
)


def to_mermaid(diagram: Diagram) -> str:
    """A `flowchart LR` that Mermaid 10 and later draws; names of any script, quoted and escaped."""
    short = {node.id: f"n{index}" for index, node in enumerate(diagram.nodes)}
    nodes = {node.id: node for node in diagram.nodes}
    lines = ["---", f"title: {_yaml(diagram.title)}", "---", "flowchart LR"]
    lines += [f"  {short[node.id]}{_node(node)}" for node in diagram.nodes]
    lines += [f"  {short[wire.source]} {_arrow(nodes, wire)} {short[wire.target]}" for wire in diagram.wires]
    lines += [f"  {short[source]} -. cancels .-x {short[target]}" for source, target in diagram.cancels]
    lines += [f"  {line}" for line in _CLASSES]
    lines += _members(diagram, short)
    return "\n".join(lines) + "\n"


def _node(node: Node) -> str:
    opening, closing = _FRAMES[node.kind]
    parts = [_text(node.text)]
    if node.note:
        parts.append(f"<small>{_text(node.note)}</small>")
    marks = [*(word for word in words_of(node) if word and node.kind == "step"), *node.badges]
    if marks:
        parts.append(f"<small>{_text(' · '.join(marks))}</small>")
    return f'{opening}"{"<br/>".join(parts)}"{closing}'


def _arrow(nodes: dict[str, Node], wire: Wire) -> str:
    source = nodes[wire.source]
    label = source.ports[wire.port].label
    stroke = "-.->" if wire.failure else "-->"
    return f'{stroke}|"{_text(label)}"|' if label else stroke


def _text(text: str) -> str:
    """A name inside a quoted label. Every sign that Mermaid or HTML could read becomes an entity code."""
    return "".join(letter if _plain(letter) else f"#{ord(letter)};" for letter in text)


def _plain(letter: str) -> bool:
    return letter.isalnum() or letter in " _.-/(),:·?!" or (ord(letter) > 127 and letter.isprintable())


def _yaml(text: str) -> str:
    """The title as a YAML string in double quotes."""
    return '"' + "".join(_yaml_letter(letter) for letter in text) + '"'


def _yaml_letter(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


def _members(diagram: Diagram, short: dict[str, str]) -> Iterator[str]:
    """One line a class, with all its nodes."""
    classes: dict[str, list[str]] = {}
    for node in diagram.nodes:
        classes.setdefault(_class(node), []).append(short[node.id])
    for name, members in classes.items():
        yield f"  class {','.join(members)} {name}"


def _class(node: Node) -> str:
    if node.kind == "end":
        return {"OK": "ok", "FAIL": "bad", "TIMEOUT": "bad"}.get(node.name, "start")
    if node.kind == "missing":
        return "bad"
    return "disabled" if node.disabled else node.kind
