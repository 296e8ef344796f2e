"""`penstock demo`: a server with the example workflows, their tasks, and some runs to look at."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer
from msgspec.structs import replace

from penstock.cli.admin.database import address_in
from penstock.cli.author.example_files import BROKEN, examples_in, workflows_in
from penstock.cli.demo.memory_tour import tour as show_tour
from penstock.cli.demo.parts import SECRET, STORE, Parts, parts_of
from penstock.cli.demo.scenes import Scene, first_example, play_all, scenes_of, subject_of
from penstock.cli.demo.tour import Stage, show_stage, stage_view
from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.console import note, print_json
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.serve import options
from penstock.cli.serve.announcement import show_post
from penstock.cli.serve.listen_address import front_of
from penstock.cli.serve.process import Post, read_post, serve
from penstock.cli.serve.settings import settings_of
from penstock.cli.serve.up import Folder, folder_of, publish_file, serving_lists, validate_files
from penstock.engine.authoring.loader import load
from penstock.engine.services import EngineServices
from penstock.store.open import is_shared, sqlite_path

HERE = "127.0.0.1"
"""What steps may call in the demo: the services of its own."""

Examples = Annotated[str | None, option("--examples", "DIR", "The folder of the workflows.")]
DatabaseOption = Annotated[
    str | None,
    option(
        "--db", "URL", "Keep the runs in this database: a path for SQLite, or postgresql://user@host/name."
    ),
]
Tour = Annotated[
    bool, typer.Option("--tour", help="Start no server: prove, draw and run each example here, and end.")
]
Drawings = Annotated[
    str | None,
    option("--output -o", "DIR", "With --tour: where the drawings go; by default they are not kept."),
]


def demo(
    db: DatabaseOption = None,
    host: options.Host = None,
    port: options.Port = None,
    examples: Examples = None,
    tour: Tour = False,
    output: Drawings = None,
    log_level: options.LogLevel = "error",
    json: AsJson = False,
) -> None:
    """Start a server with the example workflows and some runs, and say what to open and what to try.

    Runs have succeeded, failed, got stuck, wait for a person and for a call from outside; a release is staged; a folder
    of pictures is watched. Everything is kept in a temporary folder, which Ctrl-C removes: started again it is fresh.
    With --db runs are kept there and continue, their files in FILE.demo next to it (./penstock-demo with PostgreSQL);
    the services of a release are new each time, and so is the release. With --tour no server is started: each example
    is proved, drawn and run, and broken ones are shown.

    [bold]Examples[/bold]

      penstock demo

      penstock demo --port 8080 --db /tmp/demo.db

      penstock demo --tour -o drawings
    """
    home = examples_in(examples)
    if tour:
        raise typer.Exit(YES if _toured(home, output, json) else NO)
    if output is not None:
        raise Wrong.because("--output says where drawings go, which only --tour makes: give --tour as well.")
    with parts_of(home, _beside(db)) as parts:
        settings = settings_of(
            db=db or str(parts.folder / "penstock.db"),
            host=host,
            port=port,
            stores={STORE: f"dir://{quote(str(parts.pictures))}"},
            egress_allow=(HERE,),
            release_poll_interval="500ms",
            release_open_reports=True,
        )
        folder = folder_of(workflows_in(home))
        post = read_post(
            settings["db"], folder.sources, grace="5s", front=front_of(settings), settings=settings
        )
        folder = replace(folder, files=parts.placed(folder.files))
        post = serving_lists(post, validate_files(folder.files, post.tasks))
        show = _Show(folder, post, parts, home, json, usual=settings["server"])
        serve(post, show, log_level, "penstock demo")


def _toured(home: Path, output: str | None, json: bool) -> bool:
    """Prove, draw and run each example; drawings that nobody wants are not kept."""
    if output is not None:
        return show_tour(home, Path(output), json)
    with tempfile.TemporaryDirectory() as folder:
        return show_tour(home, Path(folder), json, keep=False)


def _beside(db: str | None) -> Path | None:
    """Where the files of runs are that are kept."""
    if db is None:
        return None
    return Path("penstock-demo") if is_shared(db) else Path(f"{sqlite_path(db)[0]}.demo")


def _end_with_the_terminal() -> None:
    """A terminal that is closed ends the demo in good order, unless it was told to outlive it (nohup)."""
    calls_back: list[int] = []

    def end() -> None:
        # The shell and the system may both say so, and a second signal would not wait for the end.
        if not calls_back:
            calls_back.append(signal.SIGHUP)
            os.kill(os.getpid(), signal.SIGTERM)

    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, end)


class _Show:
    """Publishes, plays and tells, once the server answers."""

    def __init__(self, folder: Folder, post: Post, parts: Parts, home: Path, json: bool, usual: str) -> None:
        self.folder, self.post, self.parts, self.home, self.json = folder, post, parts, home, json
        self.usual = usual

    async def __call__(self, running: EngineServices, base: str | None) -> None:
        assert base is not None and self.post.front is not None, "the demo answers over HTTP"
        _end_with_the_terminal()
        if not self.json:
            note("Playing some runs of each example …")
        shown = [await publish_file(running, file) for file in self.folder.files]
        called = await self._let_call(base)
        scenes = [scene for each in shown for scene in await scenes_of(running, each, called)]
        if (stuck := self.home / BROKEN / "stuck.yaml").is_file():
            scenes.append(await self._publish_broken(running, stuck))
        played, (release, why) = await asyncio.gather(play_all(running, scenes), self._release(base))
        stage = Stage(
            base, tuple(played), self.parts.pictures, release, why, self.usual, self._token is not None
        )
        if self.json:
            facts = await running.store.facts()
            workflows = [{"name": each.name, "version": each.version} for each in shown]
            print_json({"server": base, "db": address_in(facts), "workflows": workflows, **stage_view(stage)})
            return
        # Named by their files alone: there are many, and their folder is the same.
        short = [replace(each, file=Path(each.file).name) for each in shown]
        await show_post(running, self.post, short, False, base)
        show_stage(stage)

    async def _let_call(self, base: str) -> bool:
        """Let the transcoder call back; whether it can."""
        if self.parts.transcoder is None:
            return False
        self.parts.transcoder.notify = base
        body = {"value": self.parts.secret}
        try:
            await asyncio.to_thread(self.parts.call, base, self._token, "PUT", f"/api/secrets/{SECRET}", body)
        except OSError as error:
            note(f"The transcoder cannot call back: {error}.")
            return False
        return True

    async def _release(self, base: str) -> tuple[str | None, str | None]:
        """The release that is staged, or why there is none."""
        try:
            return await asyncio.to_thread(self.parts.release, base, self._token), None
        except OSError as error:
            return None, str(error)

    async def _publish_broken(self, running: EngineServices, file: Path) -> Scene:
        """Publish what the checks refute, and the run of it that gets stuck."""
        why = "to show a run that is stuck"
        version = await running.catalog.publish(file, start=True, again=False, override=why)
        example = first_example(load(file).definition.params)
        return Scene(version.workflow, subject_of(example), example, helped=False)

    @property
    def _token(self) -> str | None:
        return None if self.post.front is None else self.post.front.token
