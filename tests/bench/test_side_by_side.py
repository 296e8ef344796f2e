"""The benchmark beside the neighbours: it always ends, says what is missing, judges by rounds, and draws."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bench.__main__ import main, write
from bench.bars import bars, best
from bench.charts import charts
from bench.comparison import Plan
from bench.peers.common import emit_latency
from bench.results import Bar, Entry, Figure, Growth, Point, Results, decode, encode
from bench.roster import CONTESTANTS, OURS, PEERS, PLACE, Contestant
from bench.session import Heard, Line, session
from bench.svg import Row, Scale, number
from bench.svg import bars as drawn
from bench.table import bar_lines, table
from tests.cli.command import outside_make
from tests.waiting import until_sync

from bench import flames, setup

WORKS = {
    "W1": (5_000.0, "runs/s"),
    "W2 100": (0.02, "s"),
    "W2 1000": (0.1, "s"),
    "W3 median": (4.0, "ms"),
    "W3 p95": (6.0, "ms"),
    "W4 first run": (0.6, "s"),
    "W4 memory": (50.0, "MB"),
    "W4 processor": (0.0, "%"),
    "W1 of floor": (0.5, ""),
    "floor W1": (10_000.0, "runs/s"),
    "floor W3 median": (2.0, "ms"),
    "W6": (1.0, "times"),
    "floor W3 p95": (3.5, "ms"),
    "W7": (2_000.0, "runs/s"),
    "nodes of floor": (1.0, "times"),
}


def made(rounds: int = 3) -> Results:
    """A measurement in which everybody has every figure, and Penstock is far ahead."""
    found = Results(
        kind="full", began="2026-11-16T22:00:00+00:00", rounds=rounds, python="3.11", machine="here", cores=2
    )
    for each in CONTESTANTS:
        entry = found.entries[each.key] = Entry(each.title, each.settings, each.lacks, {each.peer: "1.0"})
        for work, (value, unit) in WORKS.items():
            slower = 1 if each.peer == OURS else 100 if unit == "runs/s" else 0.01
            for variant in each.variants or ("",):
                for turn in range(rounds):
                    entry.add(work, variant, value / slower * (1 + turn / 10), unit, turn)
    for key, micros in (("penstock-memory", 20.0), ("snakes", 30.0), ("langgraph", 400.0)):
        found.entries[key] = Entry(
            key, figures={"W5 run small": {"": Figure("µs a step", [micros] * rounds)}}
        )
    found.growth = [
        Growth(name="Fan width", of="elements", unit="µs", points=[Point(10, 90.0), Point(1000, 70.0)])
    ]
    found.limits = [{"fsync": 900.0}, {"fsync": 1_000.0}]
    found.bars = bars(found)
    return found


# -- judging -----------------------------------------------------------------------------------------------


def test_every_bar_is_kept_by_who_is_far_ahead_and_each_can_be_missed() -> None:
    found = made()

    assert [bar.name for bar in found.bars if bar.kept is not True] == []
    assert len(found.bars) == 20
    for bar in found.bars:
        assert bar.found is not None
        worse = Bar(name="", found=bar.bar * (0.99 if bar.least else 1.01), bar=bar.bar, least=bar.least)
        assert worse.kept is False


def test_a_ratio_is_of_one_round_and_the_median_counts() -> None:
    found = made()
    found.entries["penstock-sqlite"].figures["W1"][""] = Figure("runs/s", [500.0, 10_000.0, 600.0])
    found.entries["dbos-sqlite"].figures["W1"][""] = Figure("runs/s", [10.0, 100.0, 100.0])

    [bar] = [each for each in bars(found) if each.name == "W1 on SQLite, beside DBOS on SQLite"]

    assert (bar.found, bar.spread, bar.kept) == (50.0, (6.0, 100.0), True)


def test_the_best_neighbour_is_chosen_round_by_round() -> None:
    found = made()
    found.entries["temporal"].figures["W1"] = {"": Figure("runs/s", [1.0, 9.0])}
    found.entries["restate"].figures["W1"] = {"": Figure("runs/s", [5.0, 5.0])}

    rival = best(found, "W1", [("temporal", ""), ("restate", ""), ("nobody", "")], True)

    assert rival is not None and rival.values == [5.0, 9.0]


def test_the_floor_has_its_percentile_beside_ours() -> None:
    """Whether a tail is the engine's or the disk's is seen in one table."""
    [line] = [line for line in table(made(1)).splitlines() if line.startswith("| *floor: SQLite")]

    assert [cell.strip() for cell in line.split("|")[2:-1]] == ["10,000", "–", "–", "2", "3.5", "–", "–", "–"]


def test_the_tail_of_the_bare_database_is_told_beside_ours() -> None:
    found = made()

    [bar] = [each for each in bars(found) if each.name.startswith("W3 p95 on SQLite")]
    assert (bar.found, bar.note) == (1.5, "without an engine 1.75")

    del found.entries["penstock-sqlite"].figures["W3 p95"]
    [bar] = [each for each in bars(found) if each.name.startswith("W3 p95 on SQLite")]
    assert (bar.kept, bar.note) == (False, "no figure")


def test_a_bar_that_is_missed_says_more_in_the_terminal_and_is_missed_all_the_same() -> None:
    found = made()
    found.entries["penstock-sqlite"].figures["W3 p95"][""] = Figure("ms", [100.0] * 3)
    found.bars = bars(found)

    [line] = [each for each in bar_lines(found) if each.startswith("W3 p95 on SQLite")]
    assert line.endswith("MISSED (without an engine 1.75)")
    assert not found.met


def test_who_failed_a_round_is_held_against_the_others_of_the_same_rounds() -> None:
    found = made()
    found.entries["penstock-sqlite"].figures["W1"][""] = Figure("runs/s", [100.0, 10.0, 10.0], [0, 1, 2])
    found.entries["dbos-sqlite"].figures["W1"][""] = Figure("runs/s", [1.0, 1.0], [1, 2])

    [bar] = [each for each in bars(found) if each.name == "W1 on SQLite, beside DBOS on SQLite"]

    assert (bar.found, bar.spread) == (10.0, (10.0, 10.0))
    rival = best(found, "W1", [("dbos-sqlite", ""), ("penstock-sqlite", "")], False)
    assert rival is not None and rival.by_round == {0: 100.0, 1: 1.0, 2: 1.0}


def test_celery_is_no_durable_neighbour_and_one_handler_schedules_no_steps() -> None:
    found = made()
    found.entries["celery"].figures["W1"][""] = Figure("runs/s", [4_000.0] * 3)
    found.entries["restate"].figures["W2 1000"]["steps"] = Figure("s", [0.1] * 3)

    assert all(bar.kept for bar in bars(found))


def test_what_could_not_be_measured_is_told_and_is_not_missed() -> None:
    found = made()
    del found.entries["celery"]
    found.bars = bars(found)

    text = "\n".join(bar_lines(found))

    assert found.met
    assert [bar.name for bar in found.bars if bar.kept is None] == [
        "W3 median on SQLite, beside Celery's",
        "W3 median on PostgreSQL, beside Celery's",
    ]
    assert text.count("not measured") == 2


@pytest.mark.parametrize(
    ("key", "work"),
    [("penstock-postgresql", "W6"), ("penstock-sqlite", "W1"), ("penstock-postgresql", "nodes of floor")],
)
def test_a_bar_for_which_penstock_itself_has_no_figure_is_missed(key: str, work: str) -> None:
    found = made()
    del found.entries[key].figures[work]
    found.bars = bars(found)

    assert not found.met
    assert [bar.kept for bar in found.bars if bar.found is None].count(False) >= 1
    assert "A bar was missed." in list(bar_lines(found))


def test_who_is_missing_among_those_that_the_best_is_taken_of_is_told() -> None:
    found = made()
    del found.entries["procrastinate"]

    [bar] = [bar for bar in bars(found) if "best durable neighbour" in bar.name]

    assert bar.note == "the best: DBOS on PostgreSQL (fan of gathered steps); no figure of Procrastinate"


@pytest.mark.parametrize(("count", "place"), [(3, None), (19, None), (20, 19), (100, 95), (200, 190)])
def test_the_95th_percentile_is_no_maximum(
    count: int, place: int | None, capsys: pytest.CaptureFixture[str]
) -> None:
    emit_latency([float(number) for number in range(count, 0, -1)])

    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert [line["value"] for line in said if line["work"] == "W3 p95"] == ([] if place is None else [place])


# -- writing -----------------------------------------------------------------------------------------------


def test_the_json_is_read_back_and_the_exit_code_says_whether_a_bar_was_missed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = made(), made()
    bad.entries["penstock-sqlite"].figures["W4 memory"][""] = Figure("MB", [91.0])
    bad.bars = bars(bad)
    codes = []
    for name, each in (("good", good), ("bad", bad)):
        (tmp_path / f"{name}.json").write_bytes(encode(each))
        codes.append(main(["--show", str(tmp_path / f"{name}.json"), "--to", str(tmp_path / "out")]))

    assert codes == [0, 1]
    assert decode(encode(good)) == good
    assert re.search(r"W4 idle memory +91 MB +at most 90 +MISSED", capsys.readouterr().out)
    assert {each.name for each in (tmp_path / "out").glob("good*")} == {
        "good.json",
        "good.md",
        *(f"good-{name}.svg" for name in ("w1", "w2", "w3", "w5", "bars", "growth")),
    }


def test_it_ends_after_so_many_minutes_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[float] = []

    def measured(plan: Plan, say: object) -> Results:
        budgets.append(plan.budget)
        return made()

    monkeypatch.setattr("bench.__main__.measure", measured)
    monkeypatch.setattr("bench.__main__.compileall.compile_dir", lambda *_, **__: True)
    for more in ([], ["--minutes", "2"], ["--quick", "--minutes", "1.5"]):
        main([*more, "--to", str(tmp_path)])

    assert budgets == [Plan().budget, 120.0, 90.0]
    # and what was measured earlier on the same day is still there
    assert sorted(path.stem for path in tmp_path.glob("*.json")) == [
        f"2026-11-16-full{number}" for number in ("", "-2", "-3")
    ]


def test_the_table_has_every_contestant_its_settings_and_what_it_lacks() -> None:
    found = made()
    found.entries["prefect"].errors = ["W1: it broke"]
    text = table(found, ["x-w1.svg"])

    for each in CONTESTANTS:
        assert text.count(f"| {each.title}") >= 2 and each.lacks in text and each.settings in text
    assert "- Prefect: W1: it broke" in text and "![w1](x-w1.svg)" in text
    assert "5,500 (5,000–6,000)" in text


@pytest.mark.parametrize("each", CONTESTANTS, ids=[each.key for each in CONTESTANTS])
def test_the_published_figures_are_of_the_settings_of_today(each: Contestant) -> None:
    page = Path("docs/performance.md").read_text(encoding="utf-8")

    assert f"| {each.settings}; W3 of {each.singles} runs | {each.lacks} |" in page


def test_every_chart_is_a_drawing_that_can_be_read_in_the_dark() -> None:
    found = charts(made())

    assert list(found) == ["w1", "w2", "w3", "w5", "bars", "growth"]
    for svg in found.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert "prefers-color-scheme: dark" in svg and "nan" not in svg
    assert "floor: SQLite, no engine" in found["w1"]


def test_a_measurement_without_figures_is_written_too(tmp_path: Path) -> None:
    empty = Results(kind="quick", began="2026-11-16", rounds=1, python="3", machine="m", cores=1)
    empty.bars = bars(empty)

    write(empty, tmp_path, "empty")

    assert charts(empty) == {}
    assert not empty.met
    assert "no figure" in (tmp_path / "empty.md").read_text(encoding="utf-8")


def test_bars_are_as_long_as_the_logarithm_says() -> None:
    scale = Scale(1, 100, 0, 200)
    svg = drawn("t", "u", [Row(name="<a>", value=10, low=5, high=20, text="10")])

    assert [scale.at(each) for each in (0.5, 1, 10, 100)] == [0, 0, pytest.approx(100), pytest.approx(200)]
    assert "&lt;a&gt;" in svg
    assert [number(each) for each in (12345.6, 99.94, 10, 0.0126)] == ["12,346", "99.9", "10", "0.0126"]


# -- sessions ----------------------------------------------------------------------------------------------

PROGRAM = """
import json, subprocess, sys
from bench.peers import common
def work(orders):
    common.emit("W1", 5.0, "runs/s")
    with common.attempt("W2", "v"):
        raise ValueError("no fan")
    print("a library says hello")
    # Both only have to be there until they are ended.
    child = common.spawn([sys.executable, "-c", "import time; time.sleep(600)"], orders.folder / "c.log")
    print(json.dumps({"facts": {"child": child.pid}}), flush=True)
    if orders.wants:
        import time; time.sleep(600)  # until it is ended
common.main(work, "msgspec")
"""


def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *wants: str, seconds: float = 60.0) -> Heard:
    """A session of the program above."""
    (tmp_path / "planted.py").write_text(PROGRAM)
    environment = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{os.getcwd()}"}
    orders = {"runs": 1, "fans": [], "singles": 1, "idle": 0.1, "wants": wants}
    return session(sys.executable, "planted", orders, tmp_path, seconds, environment)


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has asked about yet counts."""
    return until_sync(lambda: _gone(pid), f"the end of process {pid}")


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_session_gives_figures_and_what_went_wrong_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = program(tmp_path, monkeypatch)

    assert heard.lines == (
        Line(work="W1", value=5.0, unit="runs/s"),
        Line(work="W2", variant="v", error="ValueError: no fan"),
    )
    assert heard.facts["versions"].keys() == {"msgspec"}
    assert gone(heard.facts["child"])
    assert [each.name for each in tmp_path.iterdir() if each.is_dir() and each.name != "__pycache__"] == []


def test_a_program_that_hangs_is_ended_with_all_that_it_started_and_its_figures_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = program(tmp_path, monkeypatch, "hang", seconds=3.0)

    assert heard.lines[0] == Line(work="W1", value=5.0, unit="runs/s")
    assert heard.lines[-1] == Line(work="all", error="not done within 3 seconds")
    assert gone(heard.facts["child"])


def test_a_program_that_cannot_start_tells_its_last_words(tmp_path: Path) -> None:
    heard = session(sys.executable, "bench.no_such_thing", {}, tmp_path, 60.0)

    assert [line.work for line in heard.lines] == ["all"]
    assert "No module named" in (heard.lines[0].error or "")


# -- neighbours --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*PEERS, *setup.LIVED])
def test_all_that_a_neighbour_needs_is_pinned_and_hashed(name: str) -> None:
    text = (PLACE / name / "requirements.txt").read_text(encoding="utf-8")
    parts = [part for part in re.split(r"\n(?=\S)", text) if part.strip()]

    assert parts and all(re.match(r"[\w.\[\],-]+==\S+", part) and "--hash=sha256:" in part for part in parts)
    assert "://" not in text


@pytest.mark.parametrize("name", sorted({each.peer for each in CONTESTANTS} - {OURS}))
def test_a_neighbour_is_one_program_that_needs_nothing_of_penstock(name: str) -> None:
    program = (PLACE / name / "worker.py").read_text(encoding="utf-8")

    assert "penstock" not in program
    assert "common.main(work, " in program and 'if __name__ == "__main__":' in program
    for work in ("W1", "W2", "W3"):
        assert f'common.attempt("{work}"' in program


def test_the_lock_of_node_names_digests_and_no_host() -> None:
    lock = json.loads((PLACE / "restate" / "package-lock.json").read_text())["packages"]

    assert all(each["integrity"].startswith("sha512-") for name, each in lock.items() if name)
    assert "://" not in json.dumps([each for name, each in lock.items() if "resolved" in each])


def test_a_neighbour_that_cannot_be_installed_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []

    def run(command: list[str], until: float, **more: object) -> None:
        tried.append(" ".join(command))
        if "dbos" in command[-1] and "pip" in command:
            raise setup.CannotInstall("no such package")
        if "venv" in command:
            Path(command[-1]).mkdir(parents=True)

    monkeypatch.setattr(setup, "ENVS", tmp_path)
    monkeypatch.setattr(setup, "_run", run)
    monkeypatch.setattr(setup, "_node", lambda *_: None)

    assert setup.main(["dbos", "celery"]) == 0
    assert setup.main(["celery"]) == 0
    assert setup.main(["dbos"]) == setup.main(["dbos", "tools"]) == 1  # nobody is there to be held beside
    assert setup.main([".."]) == 2
    said = capsys.readouterr()
    assert "bench-setup: 'dbos' cannot be installed: no such package" in said.err
    assert re.search(r"celery +installed.*celery +is there", said.out, re.S)


def test_an_installer_that_takes_too_long_is_ended() -> None:
    with pytest.raises(setup.CannotInstall, match="not done in time"):
        # Far longer than it may take.
        setup._run([sys.executable, "-c", "import time; time.sleep(600)"], time.monotonic() + 1)


# -- flames ------------------------------------------------------------------------------------------------

STACKS = """\
process 1;main (x.py);run (/site-packages/penstock/engine/loop.py);advance (/src/penstock/flow/decisions/advance.py) 30
process 1;main (x.py);run (/a/site-packages/penstock/engine/loop.py);commit (/r/src/penstock/store/sqlite/store.py) 70
"""


def test_a_flame_graph_shows_which_part_had_the_time() -> None:
    stacks = flames.read(STACKS)

    svg = flames.drawn(flames.grown(flames.below(stacks)), "W1")

    assert flames.shares(stacks) == {"kernel and flow: deciding": 0.3, "store: rows and statements": 0.7}
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert "advance penstock/flow/decisions/advance.py 30.0 %" in svg and "main" not in svg.replace(
        "main.py", ""
    )


def test_the_targets_of_make_are_those_of_the_benchmark() -> None:
    shown = subprocess.run(
        ["make", "-n", "bench", "QUICK=1"], capture_output=True, text=True, check=False, env=outside_make()
    )

    assert shown.stdout.splitlines()[-1] == ".venv/bin/python -m bench --quick"
