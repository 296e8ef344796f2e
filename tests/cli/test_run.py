"""`penstock run`: exit codes, the run as JSON and for people, inputs, events, tasks."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from tests.cli.command import penstock, write

WORKFLOW = """\
penstock: 1
name: shop
external: [paid]
params: {type: object, properties: {order: {type: integer}}, examples: [{order: 7}]}
steps:
  pack: {task: shop.pack}
  ship: {task: shop.ship, after: [pack, paid], emits: OK}
"""
TASKS = """\
from penstock import Context, Fatal, Out, task


@task("shop.pack")
def pack(ctx: Context):
    print("packing")
    return Out({"box": 1}, set={"packed": True})


@task("shop.ship")
def ship(ctx: Context):
    if ctx.events["paid"] == "never":
        raise Fatal("nobody pays")
    return ctx.events["paid"]
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write(tmp_path, "shop.py", TASKS)
    return write(tmp_path, "shop.yaml", WORKFLOW)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def test_a_run_that_succeeds_exits_0(shop: Path) -> None:
    said = penstock("run", shop, "--event", 'paid={"by": "card"}', "--json")

    run = said.json
    assert said.code == 0
    assert (run["status"], run["input"], run["data"]) == (
        "succeeded",
        {"order": 7},
        {"order": 7, "packed": True},
    )
    assert run["steps"]["ship"]["output"] == {"by": "card"}
    assert run["started_at"].endswith("Z") and run["ended_at"].endswith("Z")


def test_the_json_is_the_run_and_history_only_when_asked_for(shop: Path) -> None:
    plain = penstock("run", shop, "--json", "--event", "paid").json
    with_history = penstock("run", shop, "--json", "--history", "--event", "paid").json

    assert list(plain) == [
        "id",
        "workflow",
        "version",
        "subject",
        "status",
        "ending",
        "input",
        "data",
        "tags",
        "result",
        "labels",
        "keys",
        "parent",
        "rerun_of",
        "started_at",
        "ended_at",
        "error",
        "waiting_for",
        "starving",
        "set_aside",
        "steps",
    ]
    assert list(with_history) == [*plain, "history"]
    assert [entry["seq"] for entry in with_history["history"]] == list(
        range(1, len(with_history["history"]) + 1)
    )


def test_a_run_that_waits_exits_1_and_tells_the_command_that_goes_on(shop: Path) -> None:
    said = penstock("run", shop, "--subject", "order 7", "--fast")

    assert said.code == 1
    assert said.out.startswith("shop waiting · run ")
    assert (
        "It waits for this event from outside: paid. To pass it:\n"
        f"  penstock run {shop} --subject 'order 7' --fast --event paid\n" in said.out
    )


def test_the_command_that_goes_on_has_the_example_of_the_event(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "w.yaml",
        "penstock: 1\nname: w\nexternal: [{name: go, schema: {examples: [{n: 1}]}}]\n"
        "steps: {a: {task: set, after: go, with: {x: 1}}}\n",
    )

    assert f"""  penstock run {path} --event 'go={{"n": 1}}'\n""" in penstock("run", path).out


def test_a_run_that_fails_exits_1_and_tells_the_error_and_where(shop: Path) -> None:
    said = penstock("run", shop, "--event", 'paid="never"')

    line = TASKS.splitlines().index('        raise Fatal("nobody pays")') + 1
    assert said.code == 1
    assert said.out.startswith("shop failed in ")
    assert (
        f"error: step 'ship' failed (fatal): nobody pays (at {shop.with_suffix('.py')}:{line}, in ship)"
        in lines(said.out)
    )


def test_a_run_that_is_stalled_exits_1_and_tells_who_starves(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "stuck.yaml",
        dedent("""\
            penstock: 1
            name: stuck
            steps:
              which: {task: decide, with: {if: "true"}, emits: {then: a, else: b}}
              join: {task: set, after: [a, b], with: {x: 1}}
            """),
    )

    said = penstock("run", path)

    assert said.code == 1
    assert "step 'join' starves for b" in lines(said.out)
    assert penstock("run", path, "--json").json["starving"] == [{"step": "join", "missing": ["b"]}]


def test_what_tasks_print_and_the_progress_go_to_stderr(shop: Path) -> None:
    said = penstock("run", shop, "--event", "paid", "--fast")

    assert "packing" not in said.out
    told = lines(said.err)
    assert told[:3] == [
        f"tasks: {shop.with_suffix('.py')}",
        "input: the first of the examples of `params`",
        "packing",
    ]
    assert [line.split(maxsplit=1)[1] for line in told[3:]] == [
        "event START",
        "pack begins",
        "event paid",
        "pack ends on done",
        "ship begins",
        "ship ends on done",
    ]


def test_with_json_stdout_has_nothing_but_json(shop: Path) -> None:
    said = penstock("run", shop, "--event", "paid", "--json")

    assert said.json["status"] == "succeeded"
    assert "begins" not in said.err


def test_the_table_shows_firings_attempts_ports_and_virtual_time(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "w.yaml",
        "penstock: 1\nname: w\nsteps: {nap: {task: wait, with: {for: 90m}}, next: {task: x, after: nap}}\n",
    )

    said = penstock("run", path, "--fast", "--stub")

    assert lines(said.out)[1:] == [
        "step  status      firings  attempts  port    time",
        "nap   ✓ complete        1            done  1h 30m",
        "next  ✓ complete        1         1  done     0ms",
    ]
    assert said.out.startswith("w succeeded in 1h 30m of virtual time · run ")
    assert said.err.startswith("stubs: x\n")


def test_a_stub_ends_on_a_port_that_is_there(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "w.yaml",
        "penstock: 1\nname: w\nsteps: {ask: {task: approval, emits: {approved: OK}}}\n",
    )

    assert penstock("run", path, "--stub", "--json").json["steps"]["ask"]["port"] == "approved"


def test_a_task_that_nobody_defines_exits_2_with_the_remedies(shop: Path) -> None:
    said = penstock("run", shop, "--no-tasks")

    assert said.code == 2
    assert said.out == ""
    assert said.err == (
        f"error: {shop}: no Python task is defined for 'shop.pack' (step pack), 'shop.ship' (step ship): name the "
        "module or file that defines them with --tasks, or give --stub to end them on `done` at once.\n"
    )


@pytest.mark.parametrize(("task", "up"), [("shell", "penstock up --shell DIR"), ("approval", "penstock up")])
def test_a_built_in_task_that_needs_a_server_is_not_asked_for_in_a_file(
    task: str, up: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "w.yaml", f"penstock: 1\nname: w\nsteps: {{a: {{task: {task}}}}}\n")

    said = penstock("run", path)

    assert said.code == 2
    assert said.err == (
        f"error: {path}: '{task}' (step a) cannot be done here, where no server runs: publish the workflow to one "
        f"(`{up}`), or give --stub to end such steps at once.\n"
    )


def test_tasks_named_by_hand_take_the_place_of_the_file_beside(shop: Path, tmp_path: Path) -> None:
    other = write(tmp_path, "other.py", TASKS.replace('"box": 1', '"box": 2'))

    said = penstock("run", shop, "--tasks", other, "--event", "paid", "--json")

    assert said.json["steps"]["pack"]["output"] == {"box": 2}
    assert "tasks:" not in said.err


def test_input_comes_from_the_line_from_a_file_and_from_stdin(shop: Path, tmp_path: Path) -> None:
    file = write(tmp_path, "input.json", '{"order": 2}')

    given = [
        penstock("run", shop, "--json", "--input", '{"order": 1}'),
        penstock("run", shop, "--json", "--input", f"@{file}"),
        penstock("run", shop, "--json", "--input", "@-", stdin='{"order": 3}'),
    ]

    assert [said.json["input"] for said in given] == [{"order": 1}, {"order": 2}, {"order": 3}]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--input", "{"], "error: --input:1:2: This is not JSON: "),
        (["--input", '{"a": 1, "a": 2}'], "error: --input:1:10: "),
        (["--input", "@/no/such/file"], "error: /no/such/file: the file does not exist: look at the path\n"),
        (["--input", '{"order": "x"}'], "error: the input does not fit the params of 'shop': order: "),
        (["--event", "paid=x"], "error: --event paid:1:1: This is not JSON: "),
        (["--event", "=1"], "error: --event '=1' names no event: write --event NAME or --event NAME=JSON.\n"),
        (
            ["--event", "payed"],
            "error: 'shop' takes no event 'payed' from outside: it takes paid; list it under `external`.\n",
        ),
        (
            ["--tasks", "a", "--no-tasks"],
            "error: --tasks and --no-tasks contradict each other: give one of them.\n",
        ),
        (["--history"], "error: --history is a part of the JSON: give --json as well.\n"),
        (["--tasks", "no_such"], "error: there is no module 'no_such' here: look at its name, "),
    ],
)
def test_wrong_input_exits_2_with_one_sentence(shop: Path, args: list[str], sentence: str) -> None:
    said = penstock("run", shop, *args)

    assert (said.code, said.out) == (2, "")
    assert sentence in said.err
    assert "Traceback" not in said.err


def test_sync_tasks_run_at_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        "meet.py",
        dedent("""\
            import threading

            from penstock import task

            both = threading.Barrier(2, timeout=20)


            @task("meet")
            def meet():
                return both.wait() in (0, 1)
            """),
    )
    path = write(
        tmp_path, "meet.yaml", "penstock: 1\nname: meet\nsteps: {a: {task: meet}, b: {task: meet}}\n"
    )

    assert penstock("run", path, "--json").json["status"] == "succeeded"


def test_an_event_that_is_not_acted_on_is_told_with_its_reason(shop: Path) -> None:
    said = penstock("run", shop, "--fast", "--event", "paid", "--event", "paid")

    told = [line.split("  ", 1)[1] for line in lines(said.err) if "withdrawn" in line or "acted" in line]
    assert told == ["event paid is not acted on: it came before"]


def test_events_that_a_step_does_not_need_are_not_a_withdrawn_step(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "w.yaml",
        dedent(
            """\
            penstock: 1
            name: w
            steps:
              a: {task: set, with: {x: 1}, emits: [e, f]}
              first: {task: set, after: {need: 1, of: [e, f]}, with: {y: 1}}
              slow: {task: wait, with: {for: 1h}, after: a}
              stop: {task: set, after: first, cancels: slow, with: {z: 1}}
            """
        ),
    )

    said = penstock("run", path, "--fast")

    told = [line.split("  ", 1)[1] for line in lines(said.err) if "withdrawn" in line or "acted" in line]
    assert told == ["event f is not acted on by first: not needed", "slow is withdrawn"]


@pytest.mark.parametrize("name", ["OK", "START", "FAIL", "CANCEL", "TIMEOUT"])
def test_an_event_of_penstock_itself_is_refused_without_a_false_remedy(name: str, shop: Path) -> None:
    said = penstock("run", shop, "--event", name)

    assert (said.code, said.out) == (2, "")
    assert lines(said.err)[-1] == (
        f"error: '{name}' is fired by Penstock itself and cannot come from outside."
    )
