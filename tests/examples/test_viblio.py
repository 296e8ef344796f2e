"""Viblio's pipeline: prerequisites, inputs by stage, two budgets of retries, growing time-outs, one user at a time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.cli.command import penstock
from tests.examples.shelf import begin, firings, functions, offered, path_of, played, proposed, states

from penstock import Context
from penstock.testing import Play, Stub, World, after, fails, lost, play, returns, times_out

IDS = {"media_uuid": "5f2b7c1e", "user_uuid": "a1d0c9e4"}
STAGES = ["Transcode", "ActivityDetect", "FaceDetect", "FaceRecognize", "NotifyComplete"]
FACES = returns({"run": "1", "result": {"people": 2, "names": ["Ada"]}})


def minutes(run: Play, step: str) -> list[float]:
    return [(tried.took or timedelta(0)) / timedelta(minutes=1) for tried in run.attempts(step)]


def slow_recognition(world: World, user: str) -> Play:
    """A run whose faces take people an hour."""
    hour = after("1h", FACES)
    return begin(world, "viblio", {**IDS, "user_uuid": user}, stubs={"FaceRecognize": hour})


def test_only_the_stage_without_prerequisites_begins_and_sees_the_callers_extras() -> None:
    seen: list[Any] = []

    def transcode(ctx: Context) -> Any:
        seen.append((ctx.data, ctx.input))
        return functions("viblio").transcode(ctx)

    run = begin(World(), "viblio", {**IDS, "filename": "a.mov", "album": 7}, stubs={"Transcode": transcode})

    assert [step for step, state in states(run).items() if state != "blocked"] == ["Transcode"]
    assert seen == [({**IDS, "filename": "a.mov", "album": 7}, {})]


def test_the_output_of_a_stage_arrives_under_its_name() -> None:
    seen: list[dict[str, Any]] = []

    def face_detect(ctx: Context) -> Any:
        seen.append(ctx.input)
        return functions("viblio").face_detect(ctx)

    played("viblio", stubs={"FaceDetect": face_detect})

    assert seen == [{"Transcode": {**IDS, "key": "5f2b7c1e.mp4", "seconds": 63}}]


@pytest.mark.parametrize("slow", ["FaceRecognize", "ActivityDetect"])
def test_notify_complete_runs_once_after_all_with_their_keys(slow: str) -> None:
    seen: list[set[str]] = []
    tasks = functions("viblio")
    real = {"FaceRecognize": FACES, "ActivityDetect": tasks.activity_detect}

    def notify_complete(ctx: Context) -> Any:
        seen.append(set(ctx.input))
        return tasks.notify_complete(ctx)

    run = played("viblio", stubs={slow: after("2h", real[slow]), "NotifyComplete": notify_complete})

    run.expect("succeeded", result={"media_uuid": "5f2b7c1e", "status": "complete"})
    assert seen == [{"FaceRecognize", "ActivityDetect"}]
    assert firings(run) == dict.fromkeys(STAGES, 1)
    assert run.order[-1] == "NotifyComplete"


def test_one_retry_makes_exactly_two_attempts() -> None:
    run = played("viblio", stubs={"Transcode": fails("encoder crashed")})

    run.expect("failed", never=["ActivityDetect", "FaceDetect"])
    assert [tried.outcome for tried in run.attempts("Transcode")] == ["failed", "failed"]


def test_a_stage_that_fails_once_completes() -> None:
    run = played("viblio", stubs={"FaceRecognize": [fails("no answer"), FACES]})

    run.expect("succeeded", fired={"FaceRecognize": 1})
    assert len(run.attempts("FaceRecognize")) == 2


def test_a_stage_may_have_a_budget_of_its_own() -> None:
    run = played("viblio", stubs={"FaceDetect": fails("out of memory")})

    run.expect("failed")
    assert len(run.attempts("FaceDetect")) == 3


@pytest.mark.parametrize(
    ("step", "never_ends"), [("NotifyComplete", times_out()), ("Transcode", times_out("heartbeat"))]
)
def test_a_worker_that_never_finishes_gets_t_t_2t_4t(step: str, never_ends: Stub) -> None:
    run = played("viblio", stubs={step: never_ends})

    run.expect("failed", fired={step: 1})
    assert minutes(run, step) == [5, 5, 10, 20]
    assert [tried.multiplier for tried in run.attempts(step)] == [1, 1, 2, 4]


def test_the_two_budgets_are_counted_apart() -> None:
    turns = [
        times_out("heartbeat"),
        fails("crash"),
        times_out("heartbeat"),
        times_out("heartbeat"),
        fails("crash"),
    ]

    run = played("viblio", stubs={"Transcode": turns})

    run.expect("failed")
    assert [tried.multiplier for tried in run.attempts("Transcode")] == [1, 1, 1, 2, 4]


def test_what_can_never_work_is_not_tried_again() -> None:
    run = played("viblio", {**IDS, "filename": "notes.txt"})

    run.expect("failed", never=["FaceDetect"])
    assert firings(run) == {"Transcode": 1, "NotifyFailure": 1}
    assert len(run.attempts("Transcode")) == 1
    assert run.data["status"] == "failed"


def test_a_video_that_can_be_watched_stays_visible_when_a_later_stage_fails() -> None:
    run = played("viblio", stubs={"FaceDetect": fails(fatal=True)})

    run.expect("failed", fired={"NotifyFailure": 1}, never=["NotifyComplete"])
    assert run.data["status"] == "visible"


def test_a_killed_worker_is_replaced_and_the_stage_completes_once() -> None:
    detect = functions("viblio").face_detect

    run = played("viblio", stubs={"FaceDetect": [lost(), detect]})

    run.expect("succeeded", fired=dict.fromkeys(STAGES, 1))
    assert [tried.outcome for tried in run.attempts("FaceDetect")] == ["lost", "returned"]


def test_faces_of_one_user_are_recognized_one_video_at_a_time() -> None:
    world = World()
    runs = [slow_recognition(world, "ada") for _ in range(3)]
    world.run()

    tries = [run.attempts("FaceRecognize") for run in runs]
    begun = [tried.began - runs[0].attempts("Transcode")[0].began for [tried] in tries]
    assert begun == [timedelta(0), timedelta(hours=1), timedelta(hours=2)]
    assert {run.status for run in runs} == {"succeeded"}


def test_faces_of_different_users_are_recognized_at_once() -> None:
    world = World()
    runs = [slow_recognition(world, user) for user in ("ada", "bob", "eve")]
    world.run()

    assert len({run.attempts("FaceRecognize")[0].began for run in runs}) == 1


def test_a_stage_that_fails_gives_its_user_back() -> None:
    world = World()
    first = begin(world, "viblio", IDS, stubs={"FaceRecognize": fails(fatal=True, after="1h")})
    second = begin(world, "viblio", IDS)
    world.run()

    assert (first.status, second.status) == ("failed", "succeeded")


def test_a_run_of_more_than_36_hours_is_timed_out_and_told() -> None:
    tasks = functions("viblio")
    slow = {"Transcode": after("5h", tasks.transcode), "FaceRecognize": after("35h", FACES)}

    run = played("viblio", stubs=slow)

    run.expect("timed_out", fired={"NotifyFailure": 1}, never=["NotifyComplete"])
    assert [tried.outcome for tried in run.attempts("FaceRecognize")] == ["withdrawn"]
    assert run.now - run.attempts("Transcode")[0].began == timedelta(hours=36)


@pytest.mark.parametrize(
    "answer",
    [returns({"decision": "rejected", "fields": None}, port="rejected"), fails(fatal=True, after="12h")],
)
def test_faces_that_nobody_names_stay_without_names(answer: Stub) -> None:
    run = played("viblio_faces", stubs={"NameFaces": answer})

    run.expect("succeeded", result={"people": 2, "names": []})


def test_the_names_that_a_person_gave_are_told() -> None:
    faces = played("viblio_faces")
    told = played("viblio", stubs={"FaceRecognize": returns({"run": "1", "result": faces.result})})

    assert faces.result == {"people": 2, "names": ["Ada"]}
    assert told.steps["NotifyComplete"].output["names"] == ["Ada"]


def test_people_are_asked_in_time_and_reminded() -> None:
    run = play(
        path_of("viblio_faces"),
        tasks=offered("viblio_faces"),
        input=proposed("viblio_faces"),
        approvals="wait",
    ).advance("12h")

    assert [entry.data["reminded"] for entry in run.history if "reminded" in (entry.data or {})] == [True]
    run.expect("succeeded", fired={"NoNames": 1})


@pytest.mark.parametrize(
    ("name", "step", "ends"),
    [("viblio", "FaceRecognize", ("done", None)), ("viblio_faces", "NameFaces", ("approved", None))],
)
def test_stubs_end_the_part_of_other_runs_and_of_the_person(name: str, step: str, ends: Any) -> None:
    """As the page says: without a server nobody is found, and no name is given."""
    page = (path_of(name).parent / "README.md").read_text()

    run = penstock("run", path_of(name), "--stub", "--json").json

    assert f"`penstock run examples/viblio/{name}.yaml --stub`" in page
    assert (run["status"], run["result"].get("names", [])) == ("succeeded", [])
    assert (run["steps"][step]["port"], run["steps"][step].get("output")) == ends
