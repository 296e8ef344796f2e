"""`penstock demo`: a server with the examples and runs of each."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from rich.console import Console

from penstock.cli.demo.parts import parts_of
from penstock.cli.demo.scenes import Played, Scene
from penstock.cli.demo.tour import Stage, command_name, show_stage, tries
from penstock.cli.io.console import THEME
from tests.cli.command import EXAMPLES, ROOT, SHELF, environment, penstock, write
from tests.cli.serving import Serving, serving
from tests.waiting import until_sync

LINKS = re.compile(r"http://127\.0\.0\.1:\d+/\S*")


def test_the_demo_has_every_example_and_runs_that_succeeded_failed_wait_and_are_stuck(tmp_path: Path) -> None:
    mail = "smtp://127.0.0.1:1"  # where one would fail its run
    with serving(
        "demo", "--json", "--log-level", "info", cwd=tmp_path, PENSTOCK_DB="work.db", PENSTOCK_SMTP_URL=mail
    ) as demo:
        ended = demo.stop()

    statuses = defaultdict(set)
    for run in ended.json["runs"]:
        statuses[run["workflow"]].add(run["status"])
    assert ended.code == 0
    assert not (tmp_path / "work.db").exists(), "the demo must not touch what is set for work"
    assert sorted(each["name"] for each in ended.json["workflows"]) == sorted(path.stem for path in SHELF)
    assert statuses.keys() == {path.stem for path in SHELF} | {"stuck"}
    assert {
        "mediathread": {"succeeded", "waiting"},
        "viblio": {"succeeded", "failed", "running"},  # what it started waits for a person
        "viblio_faces": {"succeeded"},
        "stuck": {"stalled"},
    }.items() <= statuses.items()


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with one workflow."""
    folder = tmp_path / "small"
    folder.mkdir()
    write(
        folder, "hello.yaml", "penstock: 1\nname: hello\nsteps:\n  greet: {task: set, with: {said: hello}}\n"
    )
    return folder


@pytest.mark.long("test_a_demo_whose_terminal_is_closed_leaves_nothing_behind")
def test_the_demo_leaves_nothing_behind_and_starts_fresh(tmp_path: Path, small: Path) -> None:
    found = []
    place = tmp_path / "temporary"
    place.mkdir()
    args = ("demo", "--examples", small, "--json", "--log-level", "info")
    for _ in range(2):
        with serving(*args, cwd=place, TMPDIR=str(place)) as demo:
            [made] = place.iterdir()
            assert made.name.startswith("penstock-demo-")
            demo.signal(signal.SIGINT)
            found.append(demo.end())
        assert list(place.iterdir()) == []

    first, second = ({run["run"] for run in each.json["runs"]} for each in found)
    assert [each.code for each in found] == [0, 0]
    assert first & second == set()


def test_what_a_demo_that_was_killed_has_left_goes_and_what_another_one_uses_stays(
    tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    for name, process in (("killed", killed.pid), ("other", os.getpid())):
        (place / f"penstock-demo-{name}").mkdir()
        write(place / f"penstock-demo-{name}", "process", str(process))

    with parts_of(small) as parts:
        meanwhile = {each.name for each in place.iterdir()}

    assert meanwhile == {"penstock-demo-other", parts.folder.name}
    assert [each.name for each in place.iterdir()] == ["penstock-demo-other"]


@pytest.mark.long("test_what_a_demo_that_was_killed_has_left_goes_and_what_another_one_uses_stays")
def test_what_a_demo_that_was_killed_has_left_is_removed_by_the_next(tmp_path: Path, small: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    args = ("demo", "--examples", small, "--json", "--log-level", "info")
    with serving(*args, cwd=place, TMPDIR=str(place)) as demo:
        demo.signal(signal.SIGKILL)
        demo.end()
    assert len(list(place.iterdir())) == 1

    with serving(*args, cwd=place, TMPDIR=str(place)) as demo:
        demo.stop()

    assert list(place.iterdir()) == []


def test_a_second_demo_on_a_database_shows_the_runs_of_the_first(tmp_path: Path, small: Path) -> None:
    args = ("demo", "--db", "keep.db", "--examples", small, "--json", "--log-level", "info")
    runs = []
    for _ in range(2):
        with serving(*args, cwd=tmp_path) as demo:
            runs.append(demo.stop().json["runs"])

    assert runs[0] == runs[1] != []


@pytest.mark.long("test_a_second_demo_on_a_database_shows_the_runs_of_the_first")
def test_a_second_demo_on_a_database_has_all_that_the_first_had(tmp_path: Path) -> None:
    args = ("demo", "--db", "keep.db", "--json", "--log-level", "info")
    with serving(*args, cwd=tmp_path) as demo:
        before = said_so_far(demo)
        switch_services_off(before["server"])  # as examples/release/release.py does when it ends
        demo.stop()
    with serving(*args, cwd=tmp_path) as demo:
        told = said_so_far(demo)
        released = json.loads(read(f"{told['server']}/releases/{told['release']}")[1])
        for line in told["tries"][:3]:
            subprocess.run(
                line,
                shell=True,
                check=True,
                capture_output=True,
                timeout=60,
                cwd=tmp_path,
                env=environment(PATH="/usr/bin:/bin", PENSTOCK_SERVER=told["server"]),
            )
        waiting = next(run["run"] for run in told["runs"] if run["subject"] == "uploads/slow.mov")
        until(told["server"], f"/api/runs/{waiting}", "status", "succeeded")
        demo.stop()

    assert told["runs"] == before["runs"]
    assert (len(told["links"]), len(told["tries"])) == (5, 5)
    assert (released["state"], len(released["tasks"])) == ("staged", 3)
    assert sorted(path.name for path in tmp_path.glob("*.demo")) == ["keep.db.demo"]


def test_a_demo_whose_terminal_is_closed_leaves_nothing_behind(tmp_path: Path, small: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    args = ("demo", "--examples", small, "--json", "--log-level", "info")
    with serving(*args, cwd=place, TMPDIR=str(place)) as demo:
        demo.signal(signal.SIGHUP)
        assert demo.end().code == 0

    assert list(place.iterdir()) == []


def test_a_tour_whose_drawings_nobody_wants_leaves_none(
    tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    said = penstock("demo", "--tour", "--examples", small)

    assert (said.code, "--output DIR" in said.out) == (0, True)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_demo_says_what_to_open_and_to_try(tmp_path: Path) -> None:
    with serving("demo", "--log-level", "info", cwd=tmp_path) as demo:
        said = demo.stop().out

    opened, tried = said.partition("Open in a browser:")[2].split("Try in another terminal:")
    assert len(LINKS.findall(opened)) == 5
    lines = [line.strip() for line in tried.splitlines() if line]
    typed = [line for line in lines if not line.startswith("#")]
    assert [Path(line.split()[0]).name for line in typed][1:] == [
        "penstock",
        "cp",
        "penstock",
        "penstock",
        "curl",
    ]
    assert len(lines) - len(typed) == 5
    assert [line for line in typed if " # " in line] == [], "zsh would take what follows for arguments"


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_each_run_has_one_line_in_any_terminal(width: int) -> None:
    words = "checksum: a645cafb028598897c174554329a07c82b64909de5c4748058c9f1"
    played = [
        Played("1a1e4e276f7fbedf9d6e", Scene("pinball_stream", "birthday.mov of another user"), status, words)
        for status in ("succeeded", "waiting")
    ]
    console = Console(width=width, file=StringIO(), theme=THEME)

    show_stage(Stage("http://127.0.0.1:7777", tuple(played), Path("pictures")), console)

    assert isinstance(console.file, StringIO)
    table = console.file.getvalue().strip().split("\n\n")[0].splitlines()
    assert [re.search("succeeded|waiting", line) is not None for line in table] == [False, True, True]
    assert all("1a1e4e276f7fbedf9d6e" in line and len(line) <= width for line in table[1:])
    assert ("checksum" in table[1]) == (width >= 100)


@pytest.mark.parametrize(
    ("usual", "told"),
    [
        ("http://127.0.0.1:7777", False),
        ("http://127.0.0.1:7777/", False),
        ("https://penstock.example", True),  # PENSTOCK_SERVER, or penstock.toml, names the one for work
    ],
)
def test_commands_are_led_to_the_demo_where_they_would_go_elsewhere(usual: str, told: bool) -> None:
    console = Console(width=200, file=StringIO(), theme=THEME)

    show_stage(Stage("http://127.0.0.1:7777", (), Path("pictures"), "RE_1", usual=usual), console)

    assert isinstance(console.file, StringIO)
    assert ("  export PENSTOCK_SERVER=http://127.0.0.1:7777\n" in console.file.getvalue()) == told


@pytest.mark.parametrize(
    ("curl", "typed"),
    [
        (True, 'curl -X POST -H "Authorization: Bearer $PENSTOCK_TOKEN" {url}'),
        (
            False,
            """{python} -c "from urllib.request import *; print(urlopen(Request('{url}', method='POST', """
            """headers={{'Authorization': 'Bearer $PENSTOCK_TOKEN'}})).read().decode())\"""",
        ),
    ],
)
def test_what_is_called_without_the_command_shows_the_token_that_the_server_wants(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, curl: bool, typed: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if curl:
        write(tmp_path, "curl", "").chmod(0o755)
    stage = Stage("http://127.0.0.1:7777", (), Path("pictures"), "RE_1", signed=True)

    [publish] = [each.text for each in tries(stage)]

    assert publish == typed.format(url="http://127.0.0.1:7777/releases/RE_1/publish", python=sys.executable)


@pytest.mark.parametrize(
    ("place", "typed"), [("elsewhere", "penstock"), ("own", "{own}/penstock"), (None, "{own}/penstock")]
)
def test_a_command_is_named_so_that_another_terminal_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str | None, typed: str
) -> None:
    for name in ("elsewhere", "own"):
        (tmp_path / name).mkdir()
        command_on(tmp_path / name)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "own" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / place) if place else "/nowhere")

    assert command_name() == typed.format(own=tmp_path / "own")


@pytest.mark.long(
    "test_the_demo_says_what_to_open_and_to_try",
    "test_the_demo_has_every_example_and_runs_that_succeeded_failed_wait_and_are_stuck",
)
@pytest.mark.parametrize("path", [os.environ["PATH"], "/nowhere"], ids=["tools", "only Python"])
def test_the_links_open_and_the_five_things_to_try_work(tmp_path: Path, path: str) -> None:
    proxy = "http://127.0.0.1:1"  # for the way to elsewhere: nobody is there
    place = tmp_path / "it's 100%25 #1"
    place.mkdir()
    args = ("demo", "--json", "--log-level", "info")
    with serving(*args, cwd=tmp_path, http_proxy=proxy, PATH=path, TMPDIR=str(place)) as demo:
        told = said_so_far(demo)
        pages = [read(link) for link in told["links"]]
        for line in told[
            "tries"
        ]:  # in another terminal, which knows nothing of where this one found the command
            subprocess.run(
                line,
                shell=True,
                check=True,
                capture_output=True,
                timeout=60,
                cwd=tmp_path.parent,
                env=environment(PATH="/usr/bin:/bin", PENSTOCK_SERVER=told["server"]),
            )
        waiting = {
            run["workflow"]: run["run"]
            for run in told["runs"]
            if run["status"] in ("waiting", "running", "stalled")
        }
        ended = {
            name: until(told["server"], f"/api/runs/{waiting[name]}", "status", "succeeded")
            for name in ("mediathread", "viblio", "stuck")
        }
        released = until(told["server"], f"/releases/{told['release']}", "state", "published")
        tagged = until_run(told["server"], "auto_tag", "pictures/new.jpg")
        demo.stop()

    assert len(told["tries"]) == 5
    assert ("curl" in told["tries"][-1]) == (shutil.which("curl", path=path) is not None)
    assert [status for status, _ in pages] == [200] * 5
    assert all("<html" in text for _, text in pages)
    assert ended["viblio"]["steps"]["NotifyComplete"]["output"]["names"] == ["Ada"]
    assert released["version"] == "0.1.0"
    assert (tagged["tags"]["mime"], tagged["tags"]["camera"]) == ("image/jpeg", "Pinhole 1")


def said_so_far(demo: Serving) -> Any:
    """What it printed as JSON; it goes on."""
    assert demo.process.stdout is not None
    lines = []
    while (line := demo.process.stdout.readline()) not in ("}\n", ""):
        lines.append(line)
    return json.loads("".join([*lines, line]))


def read(url: str) -> tuple[int, str]:
    with urlopen(url, timeout=20) as answer:
        return answer.status, answer.read().decode()


def switch_services_off(base: str) -> None:
    about = {"Content-Type": "application/json"}
    for each in json.loads(read(f"{base}/task-services")[1])["results"]:
        url = f"{base}/task-services/{each['kf_id']}"
        urlopen(Request(url, b'{"enabled": false}', about, method="PATCH"), timeout=20).close()


def until(base: str, path: str, key: str, value: str) -> Any:
    """What is at an address, once it says so."""
    return until_sync(
        lambda: json.loads(read(base + path)[1]),
        f"{path} to be {value}",
        so=lambda found: found[key] == value,
    )


def until_run(base: str, workflow: str, subject: str) -> Any:
    """A run of a subject, once there is one that has succeeded."""
    found = until_sync(
        lambda: json.loads(read(f"{base}/api/runs?workflow={workflow}&subject={subject}")[1])["items"],
        f"a run of {subject}",
    )
    return until(base, f"/api/runs/{found[0]['id']}", "status", "succeeded")


def command_on(folder: Path) -> None:
    """The command under its name, as an installation has it."""
    shim = write(folder, "penstock", f'#!/bin/sh\nexec {sys.executable} -m penstock "$@"\n')
    shim.chmod(0o755)


def test_the_demo_of_a_folder_with_other_workflows_plays_those(tmp_path: Path, small: Path) -> None:
    params = "params: {type: object, required: [size]}"
    write(
        small,
        "needy.yaml",
        f"penstock: 1\nname: needy\n{params}\nsteps: {{a: {{task: set, with: {{b: 1}}}}}}\n",
    )
    with serving("demo", "--examples", small, "--json", "--log-level", "info", cwd=tmp_path) as demo:
        ended = demo.stop()

    assert [(run["workflow"], run["status"]) for run in ended.json["runs"]] == [("hello", "succeeded")]
    assert (ended.code, ended.json["release"]) == (0, None)
    assert [link.partition("/app/")[2] for link in ended.json["links"]] == [
        "",
        "workflows/hello/edit",
        "incidents",
    ]
    assert "No run is shown, for the input does not fit the params of 'needy'" in demo.err


def test_drawings_without_a_tour_are_refused() -> None:
    said = penstock("demo", "-o", "drawings")

    assert (said.code, said.err) == (
        2,
        "error: --output says where drawings go, which only --tour makes: give --tour as well.\n",
    )


def test_the_wheel_has_the_examples(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )

    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("penstock/examples/")}
    there = {path for path in EXAMPLES.rglob("*") if path.is_file() and path.parent.name != "__pycache__"}
    assert {f"penstock/examples/{path.relative_to(EXAMPLES)}" for path in there} == held
