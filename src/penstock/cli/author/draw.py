"""`penstock draw`: the picture of a workflow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from penstock.cli.io.console import answers, note, print_json
from penstock.cli.io.inputs import AsJson, File, NoTasks, Read, Tasks, read
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.flow.drawings import diagram_of, to_mermaid, to_pnml, to_svg
from penstock.steps.kinds import OFFERS

FORMATS = {"svg": (".svg",), "mermaid": (".mmd",), "pnml": (".pnml",)}

Output = Annotated[str | None, option("--output -o", "PATH", "Where to write: .svg, .mmd or .pnml.")]
Format = Annotated[
    str | None,
    option(
        "--format",
        "FORMAT",
        "svg, mermaid or pnml; by default as PATH ends, else mermaid.",
        autocompletion=lambda: list(FORMATS),
    ),
]


def draw(
    file: File,
    output: Output = None,
    format: Format = None,
    tasks: Tasks = None,
    no_tasks: NoTasks = False,
    json: AsJson = False,
) -> None:
    """Draw a workflow as SVG, Mermaid or PNML.

    Without -o the drawing goes to stdout, as Mermaid unless --format says otherwise.
    SVG is a picture for people, Mermaid goes into Markdown, PNML is read by Petri-net tools.

    [bold]Examples[/bold]

      penstock draw shop.yaml -o shop.svg

      penstock draw shop.yaml --format pnml > shop.pnml
    """
    known = ("svg, mermaid or pnml", ".svg, .mmd or .pnml")
    kind = chosen_format(output, format, FORMATS, "mermaid", "draw", known)
    drawing = drawn(read(file, tasks, no_tasks), kind)
    deliver(drawing, "drawing", {"file": file, "format": kind}, output, json)


def deliver(text: str, what: str, about: dict[str, Any], output: str | None, as_json: bool) -> None:
    """Write a text to the file that was named, or print it; JSON has it as `what`."""
    if output is not None:
        write_file(Path(output), text)
    if as_json:
        shown = {**about, "output": output}
        print_json(shown if output is not None else {**shown, what: text})
    elif output is None:
        print(text, end="", file=answers())
    else:
        note(f"wrote {output}")


def chosen_format(
    output: str | None,
    format: str | None,
    formats: Mapping[str, Sequence[str]],
    usual: str,
    verb: str,
    known: tuple[str, str],
) -> str:
    """The format asked for, by name or by the ending of the path; `known` lists both for people. Raises Wrong."""
    if format is not None:
        if format not in formats:
            raise Wrong.because(f"--format '{format}' is not known: say {known[0]}.")
        return format
    if output is None:
        return usual
    ending = Path(output).suffix.lower()
    for name, endings in formats.items():
        if ending in endings:
            return name
    raise Wrong.because(f"'{output}' does not say what to {verb}: end it in {known[1]}, or give --format.")


def drawn(workflow: Read, kind: str) -> str:
    """The drawing as text."""
    flow = workflow.loaded.flow
    if kind == "pnml":
        return to_pnml(flow.net)
    diagram = diagram_of(flow.definition, flow.net, {**OFFERS, **workflow.loaded.offers})
    return to_svg(diagram) if kind == "svg" else to_mermaid(diagram)


def write_file(path: Path, text: str) -> None:
    """Write a text. Raises Wrong."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Wrong.because(f"'{path}' cannot be written: {error.strerror}.", "unwritable") from None
