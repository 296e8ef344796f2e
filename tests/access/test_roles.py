"""Who may do what: the table of roles, and callers that are bound to workflows and task lists."""

from __future__ import annotations

from typing import Any, cast

import pytest

from penstock.access.caller import ANYBODY_HERE, Caller, bounded_text
from penstock.access.errors import Forbidden
from penstock.access.roles import ACTIONS, ROLES, Action, Role, allows
from penstock.flow.values.name_patterns import matches
from penstock.runtime.errors import UnknownWorkflow
from penstock.store.rows.access import AuditRow


def caller(role: Role, **more: Any) -> Caller:
    return Caller(name="amy", role=role, **more)


def test_each_role_may_what_the_table_says_and_nothing_else() -> None:
    table = {role: {action for action in ACTIONS if allows(role, action)} for role in ROLES}

    assert table == {
        "viewer": {"public", "read"},
        "operator": {"public", "read", "operate", "repair"},
        "author": {"public", "read", "operate", "repair", "author"},
        "admin": {"public", "read", "operate", "repair", "author", "admin", "work"},
        "worker": {"public", "work"},
    }


def test_a_role_or_action_that_is_not_known_may_nothing() -> None:
    assert not allows(cast(Role, "root"), "read")
    assert not allows("admin", cast(Action, "delete"))


def test_who_is_bound_to_workflows_may_act_on_those_alone() -> None:
    bound = caller("author", workflows=("media-*", "billing"))

    may = {name: bound.may("author", name) for name in ("media-cut", "billing", "billing2", "media", "")}

    assert may == {"media-cut": True, "billing": True, "billing2": False, "media": False, "": False}


def test_who_is_bound_to_workflows_is_never_admin_of_the_installation() -> None:
    bound = caller("admin", workflows=("a",))

    assert (bound.may("admin"), bound.may("admin", "a"), bound.may("author", "a")) == (False, False, True)
    assert (bound.everywhere, ANYBODY_HERE.everywhere) == (False, True)


def test_a_workflow_that_a_caller_may_not_know_of_is_unknown_to_it() -> None:
    with pytest.raises(UnknownWorkflow, match="no workflow 'b' is published"):
        caller("viewer", workflows=("a",)).require("author", "b")


def test_a_refusal_says_who_may_not_and_which_role_may() -> None:
    with pytest.raises(Forbidden) as refused:
        caller("viewer").require("author", "a")

    assert (refused.value.code, str(refused.value)) == (
        "forbidden",
        "'amy' (viewer) may not do what needs 'author': it takes the role author or admin; "
        "ask an admin for such a token",
    )
    caller("author").require("author", "a")


def test_a_worker_does_the_tasks_of_its_lists_and_reads_nothing() -> None:
    worker = caller("worker", task_lists=("gpu-*",))

    assert [worker.serves(name) for name in ("gpu-1", "default")] == [True, False]
    assert [worker.may(action) for action in ACTIONS] == [action in ("public", "work") for action in ACTIONS]
    assert not caller("author").serves("default")


@pytest.mark.parametrize(
    ("pattern", "name", "holds"),
    [
        ("*", "", True),
        ("*", "anything", True),
        ("a*", "a", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "a-c-b", False),
        ("a*bc*c", "abc", False),
        ("*.v1", "x.v1", True),
        ("*.v1", "xxv1", False),
        ("a?", "ab", False),
        ("[ab]", "a", False),
    ],
)
def test_a_star_stands_for_any_characters_and_nothing_else_does(pattern: str, name: str, holds: bool) -> None:
    assert matches((pattern,), name) is holds


def test_no_pattern_at_all_is_everything_and_an_empty_list_is_nothing() -> None:
    assert (matches(None, "a"), matches((), "a")) == (True, False)


def test_a_pattern_of_many_stars_is_judged_in_no_time() -> None:
    assert not matches(("a*" * 2000 + "b",), "a" * 100_000)


def test_an_entry_of_the_record_says_who_and_keeps_only_what_the_databases_can() -> None:
    entry = caller("admin", token_id="t1", ip="10.0.0.1").audit("publish", "w\0", after=b"h", reason="\ud800")

    assert entry == AuditRow(
        actor="amy",
        token_id="t1",
        ip="10.0.0.1",
        action="publish",
        target="w\ufffd",
        before=None,
        after=b"h",
        reason="\ufffd",
    )
    assert len(bounded_text("x" * 5000)) == 1000
