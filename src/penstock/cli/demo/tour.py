"""What there is to see and to try in the demo: five links, five commands."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote as quoted
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from penstock.cli.author.run_report import STYLES
from penstock.cli.demo.parts import missing_tools
from penstock.cli.demo.scenes import CALLBACK, Played
from penstock.cli.io.console import out, printable
from penstock.cli.io.tables import GAP, LEAST, print_table
from penstock.web.built import document

PICTURE = "holiday/alps.jpg"
WORDS = 60
"""Columns that the words about a run may have."""


class Stage(Struct, frozen=True):
    """All that the demo has set up."""

    base: str
    played: tuple[Played, ...]
    pictures: Path
    release: str | None = None
    no_release: str | None = None  # why there is none
    usual: str = "http://127.0.0.1:7777"  # where a command goes that is not told otherwise
    signed: bool = False  # whether calls must show a token

    def one(self, wanted: Callable[[Played], bool]) -> Played | None:
        return next((each for each in self.played if wanted(each)), None)

    @property
    def called(self) -> Played | None:
        """The run that waits for the transcoder."""
        return self.one(lambda each: CALLBACK in each.words and each.status == "waiting")


class Item(Struct, frozen=True):
    """One thing to open or to type, and what it is about."""

    words: str
    text: str


def command_name() -> str:
    """What to type for this command in another terminal: its path, where only this one would find its name."""
    found = shutil.which("penstock")
    own = Path(sys.executable).parent
    if found is not None and (sys.prefix == sys.base_prefix or Path(found).parent != own):
        return "penstock"
    script = own / "penstock"
    return quoted(str(script)) if script.is_file() else f"{quoted(sys.executable)} -m penstock"


def links(stage: Stage) -> list[Item]:
    """Five pages to open."""
    waiting = stage.called or stage.one(lambda each: each.status == "waiting")
    drawn = stage.one(lambda each: each.scene.workflow == "mediathread") or stage.one(lambda each: True)
    found = [Item("what runs now", f"{stage.base}/")]
    if drawn is not None:
        edited = f"{stage.base}/app/workflows/{quote(drawn.scene.workflow)}/edit"
        found.append(Item("a workflow, drawn and proved", edited))
    if waiting is not None:
        found.append(Item("a run that waits", f"{stage.base}/app/runs/{waiting.run}"))
    found.append(Item("what failed or is stuck", f"{stage.base}/app/incidents"))
    if stage.release is not None:
        found.append(Item("a release that is staged", f"{stage.base}/app/releases/{quote(stage.release)}"))
    return found


def tries(stage: Stage) -> list[Item]:
    """Five commands, for another terminal."""
    found, name = [], command_name()
    if stage.called is not None:
        found.append(
            Item("be the transcoder: the run continues", f"{name} emit {stage.called.run} {CALLBACK}")
        )
    if (stage.pictures / PICTURE).is_file():
        copied = f"cp {quoted(str(stage.pictures / PICTURE))} {quoted(str(stage.pictures / 'new.jpg'))}"
        found.append(Item("drop a picture: a run of auto_tag tags it", copied))
    asked = stage.one(lambda each: each.approval is not None)
    if asked is not None:
        decided = f"{name} approve '{asked.approval}' --field 'names=[\"Ada\"]'"
        found.append(Item("say who is in the video: its run ends", decided))
    stuck = stage.one(lambda each: each.status == "stalled")
    if stuck is not None:
        found.append(Item("help the run that is stuck", f"{name} skip {stuck.run} ship"))
    if stage.release is not None:
        publish = f"{stage.base}/releases/{stage.release}/publish"
        found.append(Item("publish the release", _posted(publish, stage.signed)))
    return found


def _posted(url: str, signed: bool) -> str:
    """What to type to post to an address: with curl or, where there is none, with this Python."""
    if shutil.which("curl"):
        shown = ' -H "Authorization: Bearer $PENSTOCK_TOKEN"' if signed else ""
        return f"curl -X POST{shown} {url}"
    shown = ", headers={'Authorization': 'Bearer $PENSTOCK_TOKEN'}" if signed else ""
    call = f"urlopen(Request('{url}', method='POST'{shown}))"
    return f'{quoted(sys.executable)} -c "from urllib.request import *; print({call}.read().decode())"'


def stage_view(stage: Stage) -> dict[str, Any]:
    """The same for machines."""
    return {
        "runs": [each.view() for each in stage.played],
        "release": stage.release,
        "pictures": str(stage.pictures),
        "links": [each.text for each in links(stage)],
        "tries": [each.text for each in tries(stage)],
    }


def show_stage(stage: Stage, console: Console | None = None) -> None:
    """Tell people: the runs, what is not here, what to open and what to try."""
    console = out() if console is None else console
    console.print()
    _show_runs(console, stage.played)
    lacking = missing_tools()
    if stage.no_release is not None:
        lacking.append(f"No release is staged: {stage.no_release}.")
    if document() is None:
        lacking.append("The web pages are not built here (make install builds them): the links show nothing.")
    if lacking:
        console.print()
    for sentence in lacking:
        console.print(Text(sentence, "faint"), soft_wrap=True)
    _show_title(console, "Open in a browser:")
    for item in links(stage):
        console.print(Text.assemble("  ", item.text, (f"  # {item.words}", "faint")), soft_wrap=True)
    calls_back = [] if stage.usual.rstrip("/") == stage.base else [f"export PENSTOCK_SERVER={stage.base}"]
    if things := tries(stage):
        _show_title(console, "Try in another terminal:")
        for line in calls_back:
            console.print(f"  {line}", soft_wrap=True)
        # What each is about has a line of its own: zsh takes a comment behind it for arguments.
        for item in things:
            console.print(Text(f"  # {item.words}", "faint"), soft_wrap=True)
            console.print(f"  {item.text}", soft_wrap=True)


def _show_runs(console: Console, played: Sequence[Played]) -> None:
    if not played:
        return
    rows = [(each.scene.workflow, each.scene.subject, _status(each), each.run) for each in played]
    wide = [max(cell_len(str(cell)) for cell in column) for column in zip(*rows, strict=True)]
    left = max(min(console.width - sum(wide) - GAP * len(wide), WORDS), LEAST)
    calls_back = [(*row, _words(each, left)) for row, each in zip(rows, played, strict=True)]
    print_table(console, ("workflow", "run of", "status", "run", ""), calls_back, spare=("", "run of"))


def _words(played: Played, limit: int) -> Text:
    words = Text(printable(played.words))
    words.truncate(limit, overflow="ellipsis")
    return words


def _status(played: Played) -> Text:
    bad = "error" if played.status in ("failed", "stalled") else ""
    return Text(played.status, STYLES.get(played.status, bad))


def _show_title(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, "bold"))
