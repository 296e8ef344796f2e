"""Whatever stands in a text of another engine, it is imported or refused in sentences; nothing breaks."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from penstock.flow.model.names import MAX_HINTS
from penstock.flow.model.problems import DefinitionError
from penstock.importing.imported import Imported
from penstock.importing.kinds import import_text
from penstock.importing.pinball import import_pinball
from penstock.importing.python_text import KEYS, Unknown, read_python
from penstock.importing.viblio import import_viblio
from penstock.importing.zenko import import_zenko
from tests.importing.others import PINBALL, VPW, Diagram

ODD: list[Any] = [None, True, -1, 5, 1e308, "", "²", "9" * 5000, "x\0y", [{}], ["s"], {}, {"a": []}]
DIAGRAM = Diagram(
    "find>g g>which which>mark which!>end",
    find=("search", {"subType": "advanced", "script": "tags.a == 'b'", "value": "*.png"}),
    g=("function", {"subType": "azure_function", "endpoint": "https://f.example", "postData": {"a": 1}}),
    which="decision",
    mark="update",
    end="stopper",
)
STAGES = {
    "A": {
        "name": "A",
        "task_list": "L",
        "prerequisites": [],
        "failure_retries": 1,
        "timeout_retries": [1, 2],
        "default_task_schedule_to_close_timeout": "60",
        "default_task_heartbeat_timeout": "NONE",
        "lock_retries": 2,
    },
    "B": {"prerequisites": ["A"]},
}
JOBS = {
    "workflows": {
        "w": {
            "jobs": {
                "a": {
                    "command": "echo '%(x)s'",
                    "max_attempts": 3,
                    "retry_delay_sec": 5,
                    "emails": ["a@b.c"],
                },
                "b": {
                    "class": "B",
                    "parents": ["a"],
                    "priority": 7,
                    "abort_timeout_sec": 60,
                    "disabled": True,
                },
            },
            "final_job_config": {"command": "true"},
            "schedule": {"recurrence_seconds": 3600, "overrun_policy": "SKIP", "max_running_instances": 2},
            "notify_emails": ["a@example.org"],
        }
    }
}
TEXTS: list[tuple[Callable[[str], Imported], Any]] = [
    (import_zenko, json.loads(DIAGRAM.text())),
    (import_viblio, STAGES),
    (import_pinball, JOBS),
]


UNREAD = {
    "_class",
    "selected",
    "in",
    "label",
    "extras",
    "points",
    "color",
    "offsetX",
    "offsetY",
    "nameCounter",
    "zoom",
}
"""What nobody looks at."""


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        if key not in UNREAD:
            yield from paths(each, (*path, key))


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    whole = deepcopy(value)
    place = whole
    for key in path[:-1]:
        place = place[key]
    if odd is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = odd
    return whole


def imported(read: Callable[[str], Imported], text: str) -> bool:
    try:
        read(text)
    except DefinitionError as error:
        assert all(each.message for each in error.problems)
        return False
    return True


@pytest.mark.parametrize(("read", "value"), TEXTS, ids=["zenko", "viblio", "pinball"])
def test_anything_in_place_of_anything_is_taken_or_told(read: Any, value: Any) -> None:
    assert imported(read, json.dumps(value))
    wrong = []
    for path in paths(value):
        for odd in [*ODD, *([...] if path else [])]:
            try:
                imported(read, json.dumps(changed(value, path, odd)))
            except Exception as error:
                wrong.append((path, odd, repr(error)[:200]))
    assert wrong == []


@pytest.mark.parametrize("odd", ["5", "{}", "f(1)", "1e308", "'²'", "*z"])
@pytest.mark.parametrize(
    ("read", "text"), [(import_viblio, VPW), (import_pinball, PINBALL.replace("'hourly'", "'nightly'"))]
)
def test_any_value_of_a_python_text_may_be_odd(read: Any, text: str, odd: str) -> None:
    wrong = []
    starts = [at for at, char in enumerate(text) if char in ":=(,["]
    for start in starts:
        stop = min(text.find(each, start + 1) % len(text) for each in ",)]\n")
        try:
            imported(read, text[: start + 1] + odd + text[stop:])
        except Exception as error:
            wrong.append((text[start - 20 : start + 1], repr(error)[:200]))
    assert wrong == []


def test_a_python_text_without_end_is_told() -> None:
    long = "VPW = {'A': {'prerequisites': [" + "1+" * 50_000 + "1]}}"
    doubled = "a = 'x'\n" + "a = a + a\n" * 60 + "VPW = {'A': {'prerequisites': [], 'task_list': a}}"

    assert not imported(import_viblio, long)
    assert imported(import_viblio, doubled)


def test_the_source_of_what_is_not_known_is_written_where_somebody_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def written(node: ast.AST) -> str:
        raise AssertionError("parts of parts, each written anew, take minutes")

    monkeypatch.setattr(ast, "unparse", written)

    module = read_python("X = [1, 2] - x - x - x")

    assert isinstance(module.values["X"], Unknown)


def test_keys_that_are_no_texts_are_told_by_their_place_once_many_were_written() -> None:
    module = read_python("X = {(1): 1, (2): 2, [" + "1," * KEYS + "]: 3, (4): 4}")

    first, second, *others = module.values["X"]
    assert (first, second) == ("(1)", "(2)")
    assert [other.partition(",")[0] for other in others] == ["(line 1", "(line 1"]


def test_of_many_unknown_parents_the_first_have_a_hint() -> None:
    jobs = ", ".join(f"'known_{n}': JobConfig(Command('x'), ['knowm_{n}'])" for n in range(3 * MAX_HINTS))

    with pytest.raises(DefinitionError) as refused:
        import_text("pinball", f"W = WorkflowConfig(jobs={{{jobs}}})")

    said = [str(each) for each in refused.value.problems if "which is no job" in str(each)]
    assert len(said) == 3 * MAX_HINTS
    assert ["did you mean" in each for each in said].count(True) == MAX_HINTS
