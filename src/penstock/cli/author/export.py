"""`penstock export`: a workflow of a server or a file as text for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from penstock.cli.author.draw import chosen_format, deliver, drawn
from penstock.cli.io.inputs import STDIN, AsJson, Read, read
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.target import Penstock, Target, acting
from penstock.engine.authoring.loader import SUFFIXES, load_text
from penstock.engine.engine import Engine
from penstock.flow.format.yaml_writer import write_json, write_yaml
from penstock.remote.connection import path_of

FORMATS = {
    "yaml": (".yaml", ".yml"),
    "json": (".json",),
    "mmd": (".mmd",),
    "pnml": (".pnml",),
    "svg": (".svg",),
}

Which = Annotated[str, argument("NAME|FILE", "A workflow of the server, or a file; `-` reads stdin.")]
Version = Annotated[int | None, option("--version", "N", "Which version; by default the newest.", min=1)]
Format = Annotated[
    str | None,
    option(
        "--format",
        "FORMAT",
        "yaml, json, mmd, pnml or svg; by default as PATH ends, else yaml.",
        autocompletion=lambda: list(FORMATS),
    ),
]
Output = Annotated[str | None, option("--output -o", "PATH", "Where to write; by default stdout.")]


@acting
def export(
    at: Target,
    which: Which,
    format: Format = None,
    version: Version = None,
    output: Output = None,
    json: AsJson = False,
) -> None:
    """Write a workflow as YAML, JSON, Mermaid, PNML or SVG.

    A published workflow of the server, in its newest version or another, or a file.

    [bold]Examples[/bold]

      penstock export orders > orders.yaml

      penstock export orders --version 3 --format json

      penstock export shop.yaml -o shop.pnml
    """
    known = (", ".join(FORMATS), ", ".join(sum(FORMATS.values(), ())))
    kind = chosen_format(output, format, FORMATS, "yaml", "write", known)
    workflow = _read(at, which, version)
    text = _written(workflow, kind)
    about = {"workflow": workflow.loaded.definition.name, "format": kind}
    deliver(text, "text", about, output, json)


def _read(at: Target, which: str, version: int | None) -> Read:
    """The workflow: a file where it is one, else of the server. Raises Wrong, PenstockError."""
    if which == STDIN or which.endswith(SUFFIXES) or Path(which).is_file():
        if version is not None:
            raise Wrong.because("--version is for a workflow of a server: a file has only one.")
        return read(which, None, no_tasks=True)
    text = at.do(lambda engine: _text_at(engine, which, version))
    return Read(which, text, load_text(text), {})


async def _text_at(engine: Penstock, name: str, version: int | None) -> str:
    if isinstance(engine, Engine):
        number = version or (await engine.drafts.latest(name) or 1)
        return (await engine.drafts.version(name, number)).definition
    if version is None:
        shown = await engine.connection.get(path_of("api", "workflows", name))
        version = shown["published_version"]
        if version is None:
            raise Wrong.because(
                f"'{name}' was never published: publish it, or export the file.", "not_published"
            )
    found = await engine.connection.get(path_of("api", "workflows", name, "versions", str(version)))
    return str(found["text"])


def _written(workflow: Read, kind: str) -> str:
    definition = workflow.loaded.definition
    if kind == "yaml":
        written = workflow.text.removesuffix("\n") + "\n"
        return write_yaml(definition) if written.lstrip().startswith("{") else written
    if kind == "json":
        return write_json(definition)
    return drawn(workflow, "mermaid" if kind == "mmd" else kind)
