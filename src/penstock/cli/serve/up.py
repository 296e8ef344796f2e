"""`penstock up`: the API, an engine and a worker in one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from penstock.cli.admin.database import DbOption
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.serve import options
from penstock.cli.serve.announcement import Shown, show_post
from penstock.cli.serve.listen_address import front_of
from penstock.cli.serve.process import Post, read_post, serve
from penstock.cli.serve.settings import settings_of
from penstock.engine.authoring.check_gate import CheckFailed, reject_errors
from penstock.engine.authoring.loader import SUFFIXES, load, read_text
from penstock.engine.services import EngineServices
from penstock.flow.compile.compile import Flow
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.workers.task import Task
from penstock.workers.worker.task_loader import beside
from penstock.workers.worker.worker import CONCURRENCY

Workflows = Annotated[
    str | None,
    option(
        "--workflows",
        "DIR",
        "Publish and start every workflow in this folder, with the .py file of the same name as its tasks.",
    ),
]


class Folder(Struct, frozen=True):
    """The workflows of a folder and the Python files beside them."""

    files: tuple[Path, ...] = ()
    sources: tuple[str, ...] = ()


def up(
    db: DbOption = None,
    host: options.Host = None,
    port: options.Port = None,
    tasks: options.TaskSources = None,
    workflows: Workflows = None,
    store: options.Stores = None,
    bus: options.Buses = None,
    concurrency: options.Concurrency = CONCURRENCY,
    processes: options.Processes = 0,
    task_list: options.TaskLists = None,
    shell: options.Shell = None,
    grace: options.Grace = "30s",
    log_level: options.LogLevel = "info",
    log_format: options.LogFormat = "text",
    stats: options.Stats = None,
    json: AsJson = False,
) -> None:
    """Run workflows here, for as long as the process lives: the API, an engine, and a worker for its tasks.

    Runs are kept in the database, ./penstock.db unless another is named: whatever happens to the process, they continue
    when it is started again. On this machine nobody needs to sign in; any other --host needs a token.
    Ctrl-C or SIGTERM stops it cleanly: running tasks may finish, the others are returned. A second signal ends it
    at once. Exit code 0: stopped. 2: it could not begin. 130: ended at once.

    [bold]Examples[/bold]

      penstock up

      penstock up --workflows workflows --port 8080

      penstock up --db postgresql://penstock@db.example/penstock --workflows workflows --tasks shop.tasks
    """
    settings = settings_of(
        db=db, host=host, port=port, tasks=tasks, workflows=workflows, stores=store, buses=bus
    )
    front = front_of(settings)
    folder = read_folder(settings["workflows"]) if settings["workflows"] is not None else Folder()
    post = read_post(
        settings["db"],
        (*settings["tasks"], *folder.sources),
        task_list,
        concurrency=concurrency,
        processes=processes,
        grace=grace,
        stats=stats,
        front=front,
        settings=settings,
        shell=shell,
    )
    post = serving_lists(post, validate_files(folder.files, post.tasks))

    async def announce(running: EngineServices, base: str | None) -> None:
        shown = [await publish_file(running, file) for file in folder.files]
        await show_post(running, post, shown, json, base)

    serve(post, announce, log_level, "penstock up", log_format)


def read_folder(name: str) -> Folder:
    """What is in a folder of workflows. Raises Wrong where there is none."""
    folder = Path(name)
    if not folder.is_dir():
        raise Wrong.because(f"--workflows '{name}' is no folder: name one with workflows in YAML or JSON.")
    files = tuple(sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file()))
    if not files:
        raise Wrong.because(f"--workflows '{name}' has no workflow: put a .yaml or .json file into it.")
    return folder_of(files)


def folder_of(files: tuple[Path, ...]) -> Folder:
    """These workflows, and the Python files beside them."""
    found = (beside(file) for file in files)
    return Folder(files, tuple(str(path) for path in found if path is not None))


def validate_files(files: Sequence[Path], tasks: Mapping[str, Task]) -> list[Flow]:
    """What the files hold: every one can be published. Nothing was opened yet. Raises Wrong."""
    names: dict[str, Path] = {}
    flows = []
    for file in files:
        try:
            loaded = load(file, tasks)
            reject_errors(loaded)
        except DefinitionError as error:
            raise Wrong.reading(error, str(file), read_text(file)) from None
        except CheckFailed as error:
            raise _refuted(error, file) from None
        other = names.setdefault(loaded.flow.name, file)
        if other != file:
            raise Wrong.because(
                f"{other} and {file} are both named '{loaded.flow.name}': give one of them another name."
            )
        flows.append(loaded.flow)
    return flows


def _refuted(error: CheckFailed, file: Path) -> Wrong:
    """Each error that the checks found, at its line in the file."""
    found = [each for each in error.report.findings if each.severity == "error"]
    return Wrong(
        [Problem(each.code, "", each.message, each.line) for each in found], str(file), read_text(file)
    )


def serving_lists(post: Post, flows: Sequence[Flow]) -> Post:
    """The post with the lists where these workflows put its tasks, unless somebody named the lists."""
    if post.task_lists is not None or not flows:
        return post
    offered = {task.offer.task_list or "default" for task in post.tasks.values()}
    asked = {step.task_list for flow in flows for step in flow.steps.values() if step.task in post.tasks}
    return replace(post, task_lists=tuple(sorted(offered | asked)))


async def publish_file(running: EngineServices, file: Path) -> Shown:
    """Publish a workflow of a folder, where its text is new, and start its source."""
    version = await running.catalog.publish(file, start=True, again=False)
    await running.store.set_started(version.workflow, True)
    running.node.flows.forget()
    return Shown(version.workflow, version.version, str(file))
