"""Diagrams of Zenko: what they become, and what its validator refuses."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.expression import compile_expression
from penstock.flow.format.yaml_writer import to_plain
from penstock.flow.model.problems import DefinitionError
from penstock.importing.zenko import import_zenko
from penstock.importing.zenko_conditions import script_condition
from tests.importing.others import Diagram, errors, played

OBJECT = {"bucket": "pictures", "key": "a.jpg"}


def plain(diagram: Diagram) -> dict[str, Any]:
    return to_plain(import_zenko(diagram.text(), "w").definition)


def refused(text: str) -> list[str]:
    with pytest.raises(DefinitionError) as error:
        import_zenko(text)
    return [problem.message for problem in error.value.problems]


def test_the_chain_of_the_proposal_imports_and_runs() -> None:
    made = import_zenko(
        Diagram("new>one one>two two>end", new="data", one="function", two="function", end="stopper").text(),
        "chain",
    )

    run = played(made, OBJECT)
    assert (made.definition.name, errors(made), run["status"]) == ("chain", [], "succeeded")
    assert [name for name, step in run["steps"].items() if step["status"] == "complete"] == [
        "one",
        "two",
        "end",
    ]


def test_the_synchronization_point_of_the_proposal_waits_for_both_and_merges_their_tags() -> None:
    made = import_zenko(
        Diagram(
            "new>step1 step1>step2 step1>step3 step2>step4 step3>step4",
            new="data",
            step1="function",
            step2="tag",
            step3=("tag", {"key": "size", "value": "large"}),
            step4="update",
        ).text()
    )

    run = played(made, OBJECT)
    assert (errors(made), run["status"], run["tags"]) == ([], "succeeded", {"colour": "red", "size": "large"})
    assert run["steps"]["step4"]["output"]["input"] == ["step2", "step3"]


def test_boxes_become_built_in_tasks() -> None:
    found = plain(
        Diagram(
            "new>call call>mark mark>azure azure>write",
            new="data",
            call=("function", {"param": "deep", "asynchronous": True}),
            mark=("tag", {"replace": True}),
            azure=(
                "function",
                {"subType": "azure_function", "endpoint": "https://f.example/a", "postData": "x"},
            ),
            write="update",
        )
    )

    assert found["source"] == {"kind": "object", "store": "pictures", "glob": "*.jpg", "events": ["created"]}
    url = "http://router.fission/fission-function/file-type"
    assert found["steps"] == {
        "call": {"task": "http", "with": {"url": url, "kind": "fission", "params": "deep", "mode": "async"}},
        "mark": {"task": "tag", "after": "call", "with": {"set": {"colour": "red"}, "tags_mode": "replace"}},
        "azure": {
            "task": "http",
            "after": "mark",
            "with": {"url": "https://f.example/a", "kind": "azure", "body": "x"},
        },
        "write": {"task": "update", "after": "azure"},
    }
    assert found["view"] == {
        "positions": {"call": [100, 40], "mark": [200, 40], "azure": [300, 40], "write": [400, 40]}
    }


def test_what_functions_must_be_taught_is_told() -> None:
    azure = {"subType": "azure_function", "endpoint": "https://f.example/a", "postData": "x"}
    made = import_zenko(
        Diagram(
            "new>slow slow>azure azure>end",
            new="data",
            slow=("function", {"asynchronous": True}),
            azure=("function", azure),
            end="stopper",
        ).text()
    )

    assert any(note.startswith("'slow' is asynchronous: its function") for note in made.notes)
    assert any(note.startswith("'azure' is sent its `postData` alone") for note in made.notes)


def test_a_search_becomes_a_source_on_a_clock() -> None:
    found = plain(
        Diagram("find>end", find=("search", {"value": "**/*.png", "cronRule": "0 30 2 * * ?"}), end="stopper")
    )

    assert found["source"] == {
        "kind": "search",
        "store": "pictures",
        "glob": "**/*.png",
        "cron": "30 2 * * *",
    }


def test_a_search_with_a_script_keeps_its_pattern() -> None:
    said = {"subType": "advanced", "script": "tags.a === 'b'", "value": "**/*.png"}
    found = plain(Diagram("find>end", find=("search", said), end="stopper"))

    assert (found["source"]["glob"], "where" in found["source"]) == ("**/*.png", True)


@pytest.mark.parametrize(
    ("operator", "value", "tags", "taken"),
    [
        ("==", "image/jpeg", {"mime": "image/jpeg"}, True),
        ("==", "image/jpeg", {}, False),
        ("!=", "image/jpeg", {"mime": "text/plain"}, True),
        ("!=", "image/jpeg", {}, False),
        ("<", "10", {"mime": "9"}, True),
        ("<=", "10", {"mime": 10}, True),
        (">", "10", {"mime": "9"}, False),
        (">=", "10", {"mime": "many"}, False),
        ("<", "b", {"mime": "a"}, True),
        ("LIKE", "image/%", {"mime": "image/png"}, True),
        ("LIKE", "/^IMAGE/i", {"mime": "image/png"}, True),
        ("LIKE", "image", {"mime": "image/png"}, False),
    ],
)
def test_a_decision_asks_its_tag_and_a_missing_one_is_false(
    operator: str, value: str, tags: dict[str, Any], taken: bool
) -> None:
    made = import_zenko(
        Diagram(
            "new>which which>yes which!>no",
            new="data",
            which=("decision", {"operator": operator, "value": value}),
            yes="update",
            no="stopper",
        ).text()
    )

    run = played(made, OBJECT, tags)
    assert (run["status"], run["steps"]["yes"]["status"]) == ("succeeded", "complete" if taken else "blocked")


def test_branches_of_a_decision_meet_in_one_slot() -> None:
    made = import_zenko(
        Diagram(
            "new>a new>which which>b which!>c a>join b>join c>join",
            new="data",
            a="tag",
            which="decision",
            b="tag",
            c="tag",
            join="update",
        ).text()
    )

    assert (errors(made), to_plain(made.definition)["steps"]["join"]["after"]) == ([], ["a", "b | c"])
    assert any("joins branches of which only one is taken" in note for note in made.notes)


CAT = {"kind": "cat", "age": "7", "empty": ""}


@pytest.mark.parametrize(
    ("script", "holds"),
    [
        ("true;", True),
        ("tags.kind === 'cat' && tags['age'] > 3;", True),
        ("tags.kind === 'cat' && tags['age'] > 30;", False),
        ("7 <= tags.age", True),
        ("tags.age == 7", True),
        ("tags.none >= 18 && !tags.done", False),
        ("!(tags.none >= 18) && !tags.done", True),
        ("tags.none < 18 || tags.none == 'x'", False),
        ("tags.none != 'x'", True),
        ("tags.kind && !tags.empty", True),
        ("!tags.kind.startsWith('d')", True),
        ("tags.none.startsWith('d')", False),
        ("tags.kind !== undefined && tags.none === undefined", True),
    ],
)
def test_a_simple_script_means_in_cel_what_it_meant_in_javascript(script: str, holds: bool) -> None:
    made = script_condition(script, {"tags": "tags"})

    assert made is not None
    assert compile_expression(made, ("tags",))({"tags": CAT}) is holds


@pytest.mark.parametrize(
    "script",
    ["for (;;) {}", "require('fs')", "tags.a.b.c", "window.x", "tags.a == tags.b", "tags.a === true"],
)
def test_a_script_that_is_more_than_that_is_not_carried_over(script: str) -> None:
    assert script_condition(script, {"tags": "tags"}) is None


def test_words_inside_a_text_of_a_script_stay_as_they_are() -> None:
    script = "Key.startsWith('my Key x/') && Bucket === 'pics' && tags.a == 'Key'"
    made = script_condition(script, {"Key": "object.key", "Bucket": "object.bucket", "tags": "object.tags"})

    assert made is not None
    object = {"key": "my Key x/1", "bucket": "pics", "tags": {"a": "Key"}}
    assert compile_expression(made, ("object",))({"object": object}) is True


def test_what_looks_like_an_expression_in_a_parameter_is_a_text() -> None:
    made = import_zenko(
        Diagram(
            "new>f f>end", new="data", end="stopper", f=("function", {"func": "f", "param": {"a": "${x}"}})
        ).text()
    )

    assert to_plain(made.definition)["steps"]["f"]["with"]["params"] == {"a": "$${x}"}


def test_scripts_that_cannot_be_carried_over_are_told_and_take_nothing() -> None:
    made = import_zenko(
        Diagram(
            "new>which which>mark which!>no mark>end",
            new=("data", {"subType": "advanced", "script": "Bucket === 'cats';"}),
            which=("decision", {"subType": "advanced", "script": "let a = 1; a"}),
            mark=("tag", {"subType": "advanced", "script": "({a: 1})"}),
            no="stopper",
            end="update",
        ).text()
    )

    found = to_plain(made.definition)
    assert (found["source"]["store"], found["steps"]["which"]["with"]) == ("cats", {"if": "false"})
    assert len([note for note in made.notes if "JavaScript" in note]) == 2


@pytest.mark.parametrize("replace", [True, False])
def test_that_a_script_replaces_the_tags_is_told_too(replace: bool) -> None:
    mark = ("tag", {"subType": "advanced", "script": "({a: 1})", "replace": replace})
    made = import_zenko(Diagram("new>mark mark>end", new="data", mark=mark, end="stopper").text())

    [told] = [note for note in made.notes if "JavaScript" in note]
    assert ("and `tags_mode: replace`, for the others go" in told) is replace


def test_names_that_cannot_be_names_of_steps_are_made_so() -> None:
    diagram = Diagram("new>a new>b", new="data", a="update", b="stopper")
    diagram.node("a")["name"] = "OK"
    diagram.node("b")["name"] = "write: tags|all"

    assert {name: step.get("title") for name, step in plain(diagram)["steps"].items()} == {
        "update": "OK",
        "write_ tags_all": "write: tags|all",
    }


# -- what the validator refuses ----------------------------------------------------------------------------


def broken(change: Any, links: str = "new>f f>end", **nodes: Any) -> list[str]:
    diagram = Diagram(links, **({"new": "data", "f": "function", "end": "stopper"} | nodes))
    change(diagram)
    return refused(diagram.text())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d: d.node("f").pop("id"), "node 1 has no `id`"),
        (
            lambda d: d.nodes.append({**d.node("end"), "name": "other"}),
            "'other' has the id 'end', which 'end' has too",
        ),
        (
            lambda d: d.node("f")["ports"][0].update(links=[{}]),
            "'f': port 'input' names the link {}, which is not there",
        ),
        (lambda d: d.links[1].update(source=["f"]), "link 1 begins at a port that is not there"),
        (
            lambda d: d.node("f").update(type="magic"),
            "'f' is of type 'magic', which Zenko does not have: data, search, tag, function, decision, update, stopper",
        ),
        (lambda d: d.node("f").pop("func"), "'f' says no `func`, which a fission function needs"),
        (
            lambda d: d.node("f").update(subType="aws_lambda"),
            "'f': 'aws_lambda' is not supported for a function",
        ),
        (lambda d: d.node("f").pop("ports"), "'f' has no `ports`"),
        (lambda d: d.node("f")["ports"][0].pop("id"), "'f': port 'input' has no `id`"),
        (
            lambda d: d.node("f")["ports"][0].update(parentNode="new"),
            "'f': port 'input' says that it belongs to another node",
        ),
        (lambda d: d.node("f")["ports"][0].pop("links"), "'f': port 'input' has no `links`"),
        (lambda d: d.node("f")["ports"][1]["links"].clear(), "'f': port 'output' is not linked to anything"),
        (
            lambda d: d.node("f")["ports"][1]["links"].append("gone"),
            "'f': port 'output' names the link 'gone', which is not there",
        ),
        (lambda d: d.links[1].pop("id"), "link 1 has no `id`"),
        (lambda d: d.links[1].update(target="nowhere"), "link 1 ends at a port that is not there"),
        (
            lambda d: d.links[1].update(targetPort="f.output", target="f"),
            "link 1 ends at port 'output': it must be an input",
        ),
        (
            lambda d: d.links[1].update(source="end", sourcePort="end.input"),
            "link 1 begins at port 'input': it must be an output or output2",
        ),
    ],
)
def test_what_the_validator_of_zenko_refuses_is_refused(change: Any, sentence: str) -> None:
    assert sentence in broken(change)


def test_two_sources_and_a_cycle_are_refused() -> None:
    two = Diagram("new>end again>end", new="data", again="search", end="stopper")
    round = Diagram("new>a a>b b>a", new="data", a="tag", b="tag")

    assert refused(two.text()) == ["'again': only one source per workflow"]
    assert refused(round.text()) == ["the diagram has a cycle: 'a' → 'b' → 'a'"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[]", "this is no diagram of Zenko: it is a map with the lists `nodes` and `links`"),
        (
            '{"nodes": [], "links": []}',
            "the diagram has no box beside its source: there is nothing to import",
        ),
        ('{"nodes": [', "This is not JSON: "),
    ],
)
def test_what_is_no_diagram_is_told(text: str, sentence: str) -> None:
    [said] = refused(text)

    assert said.startswith(sentence)


def test_a_problem_has_its_line() -> None:
    diagram = Diagram("new>end", new="data", end="stopper")
    diagram.node("end")["type"] = "magic"
    text = diagram.text()

    with pytest.raises(DefinitionError) as error:
        import_zenko(text)
    [problem] = error.value.problems
    assert (problem.path, '"type": "magic"' in text.splitlines()[(problem.line or 0) - 1]) == (
        "nodes[1].type",
        True,
    )
