"""A run as text: what a person reads where a test fails."""

from __future__ import annotations

from penstock.testing import fails, play, returns


def test_attempts_withdrawals_data_and_long_times_are_told() -> None:
    source = """
        penstock: 1
        name: night
        steps:
          load: {task: load, retries: 1, backoff: {initial: 90m, max: 2h, jitter: 0}}
          nap: {task: wait, after: load, with: {for: 2d}}
          extra: {task: extra, after: load}
          stop: {task: stop, after: nap, cancels: [extra], emits: OK}
    """
    stubs = {"load": [fails("busy"), returns({"rows": 3}, set={"rows": 3})], "extra": returns(after="9d")}

    run = play(source, stubs=stubs)

    assert run.explain() == (
        "run of 'night': succeeded after 2d 01:30:00\n"
        "           +0s  event START\n"
        "           +0s  load begins\n"
        "           +0s  load attempt 1 failed: error: busy\n"
        '     +01:30:00  set load: {"rows": 3}\n'
        '     +01:30:00  load ends on done: {"rows": 3}\n'
        "     +01:30:00  event load by load\n"
        "     +01:30:00  nap begins\n"
        "     +01:30:00  extra begins\n"
        "  +2d 01:30:00  nap ends on done\n"
        "  +2d 01:30:00  event nap by nap\n"
        "  +2d 01:30:00  stop begins\n"
        "  +2d 01:30:00  extra withdrawn: cancelled by 'stop'\n"
        "  +2d 01:30:00  stop ends on done\n"
        "  +2d 01:30:00  event OK by stop\n"
        "  +2d 01:30:00  the run ends: succeeded"
    )


def test_items_of_an_each_and_events_from_outside_are_told() -> None:
    steps = {"do": {"task": "t", "after": "go", "each": "[5]"}}

    run = play({"penstock": 1, "name": "w", "external": ["go"], "steps": steps}, events=["go"])

    assert run.explain().splitlines()[2:5] == [
        "           +0s  event go from outside",
        "           +0s  do begins",
        "           +0s  do attempt 1 of item 0 is over",
    ]


def test_a_long_history_is_cut_in_the_middle_and_a_long_line_at_its_end() -> None:
    steps = {"do": {"task": "t", "each": "[" + ",".join("1" * 300) + "]"}}

    lines = play({"penstock": 1, "name": "w", "steps": steps}, stubs={"do": "x" * 200}).explain().splitlines()

    assert len(lines) == 202
    assert lines[101] == "  … 104 lines …"
    assert lines[-2].endswith("xxx…")


def test_the_marking_names_slots_as_people_write_them() -> None:
    source = """
        penstock: 1
        name: w
        external: [a, b, c, go]
        steps:
          some: {task: t, after: [go, {need: 2, of: [a, b, c]}]}
          either: {task: t, after: [go, b | c]}
    """

    assert play(source, events=["c", "a"]).marking() == {
        "some": {"2 of a, b, c": ["c", "a"]},
        "either": {"b | c": ["c"]},
    }
