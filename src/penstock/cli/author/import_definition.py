"""`penstock import`: definitions of other engines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from penstock.cli.author.check import report_of
from penstock.cli.author.draw import write_file
from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.console import answers, err, note, print_json, printable
from penstock.cli.io.inputs import STDIN, STDIN_NAME, AsJson, Read, text_in
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.problems import Wrong
from penstock.engine.authoring.loader import load
from penstock.flow.format.yaml_writer import to_plain
from penstock.flow.model.problems import DefinitionError
from penstock.importing.imported import Imported
from penstock.importing.kinds import KINDS, import_text
from penstock.workers.worker.task_loader import beside

BUDGET = 2.0

File = Annotated[str, argument("FILE", "What the other engine has: JSON, or Python. `-` reads stdin.")]
From = Annotated[
    str,
    option("--from", "ENGINE", f"The other engine: {', '.join(KINDS)}.", autocompletion=lambda: list(KINDS)),
]
Output = Annotated[str | None, option("--output -o", "PATH", "Where the YAML goes; by default stdout.")]
Name = Annotated[
    str | None,
    option(
        "--name",
        "NAME",
        "The name of the workflow; where FILE has several, the one to import. By default that of the file.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Something that could not be carried over also makes exit code 1.")
]


def import_(
    file: File,
    kind: From,
    output: Output = None,
    name: Name = None,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Make a workflow of another engine's definition, and say what could not be carried over.

    Reads a diagram of Zenko (JSON), the stage dictionary of Viblio and the workflow configuration of Pinball (Python,
    which is read and never run, or the same in JSON). What is made is checked.
    Exit code 0: it was imported. 1: the checks find an error in it (with --strict: or something was not carried over).
    2: FILE cannot be read.

    [bold]Examples[/bold]

      penstock import diagram.json --from zenko -o tagging.yaml

      penstock import VPWorkflow.py --from viblio --name video

      penstock import workflows.py --from pinball --name tutorial_workflow
    """
    shown = STDIN_NAME if file == STDIN else file
    _validate_target(file, output)
    text = None
    try:
        text = text_in(file)
        # The name of the file, where the text itself has none.
        own = None if file == STDIN or kind == "pinball" else Path(file).stem
        made = import_text(kind, text, name or own)
    except DefinitionError as error:
        raise Wrong.reading(error, shown, text) from None
    yaml = made.yaml()
    report = report_of(Read(output or made.definition.name, yaml, load(yaml), {}), BUDGET)
    findings = [each for each in report.findings if each.code != "unknown-task"]
    if output is not None:
        write_file(Path(output), yaml)
    if json:
        plain = {"definition": to_plain(made.definition), "notes": list(made.notes)}
        print_json(
            {**plain, "output": output, "verdict": report.verdict, "findings": report.to_plain()["findings"]}
        )
    else:
        if output is None:
            print(yaml, end="", file=answers())
        _say(made, output)
        for each in findings:
            err().print(
                Text.assemble((each.severity, each.severity), f"[{each.code}]: {printable(each.message)}")
            )
    bad = report.verdict == "refuted" or (strict and made.notes)
    raise typer.Exit(NO if bad else YES)


def _validate_target(file: str, output: str | None) -> None:
    """Raises Wrong where FILE would be taken for the tasks of what is made of it, and be run."""
    if output is None or file == STDIN or beside(Path(output)) is None:
        return
    if Path(file).resolve() == Path(output).with_suffix(".py").resolve():
        raise Wrong.because(
            f"{output} would be next to {file}, which then counts as its tasks and is run: write it under another "
            "name with -o."
        )


def _say(made: Imported, output: str | None) -> None:
    steps = len(made.definition.steps)
    note(
        f"{made.definition.name}: {steps} step{'' if steps == 1 else 's'}{f', wrote {output}' if output else ''}"
    )
    for each in made.notes:
        err().print(Text.assemble(("note", "info"), ": ", printable(each)))
