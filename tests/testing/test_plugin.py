"""The pytest plug-in, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import penstock

pytest_plugins = ["pytester"]

WORKFLOW = """
penstock: 1
name: pair
steps:
  first: {task: t}
  second: {task: t, after: first}
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makefile(".yaml", pair=WORKFLOW)
    return pytester


def test_the_fixture_plays_a_workflow_by_its_path_from_the_root_folder(project: pytest.Pytester) -> None:
    folder = project.mkdir("deep")
    (folder / "test_deep.py").write_text(
        "def test_it(penstock_play):\n    penstock_play('pair.yaml').expect('succeeded', fired=['second'])\n"
    )

    result = project.runpytest("deep/test_deep.py")

    result.assert_outcomes(passed=1)


def test_the_fixture_takes_texts_and_maps_too(project: pytest.Pytester) -> None:
    project.makepyfile(
        f"""
        TEXT = {WORKFLOW!r}
        PLAIN = {{"penstock": 1, "name": "w", "steps": {{"s": {{"task": "t"}}}}}}

        def test_it(penstock_play):
            assert penstock_play(TEXT).status == "succeeded"
            assert penstock_play(PLAIN, stubs={{"s": 1}}).steps["s"].output == 1
        """
    )

    project.runpytest().assert_outcomes(passed=1)


def test_a_path_that_does_not_exist_is_told(project: pytest.Pytester) -> None:
    project.makepyfile("def test_it(penstock_play): penstock_play('pear.yaml')")

    result = project.runpytest()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*pear.yaml*the file does not exist*"])


def test_the_marker_runs_a_test_for_each_scenario(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.penstock_scenarios("pair.yaml")
        def test_ends(scenario):
            assert scenario.play().status == scenario.status
        """
    )

    result = project.runpytest("-v", "--strict-markers")

    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        ["*test_ends[[]as it should go]*", "*test_ends[[]first fails]*", "*test_ends[[]second fails]*"]
    )


def test_a_marker_without_a_workflow_is_refused(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.penstock_scenarios()
        def test_ends(scenario): ...
        """
    )

    result = project.runpytest()

    result.stdout.fnmatch_lines(
        ["*test_ends: write @pytest.mark.penstock_scenarios(source, [*], tasks=None)*"]
    )
    assert result.ret != 0


def test_a_test_that_fails_shows_its_runs_and_only_its_own(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from penstock.testing import play

        def test_earlier():
            assert play("pair.yaml", input={"earlier": True}).status == "succeeded"

        def test_fails():
            run = play("pair.yaml", stubs={"second": lambda: 1 / 0})
            assert run.status == "succeeded"
        """
    )

    result = project.runpytest("-p", "no:randomly")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- Penstock run 1 -*",
            "run of 'pair': failed after 0s (error: ZeroDivisionError: division by zero)",
            "*second ends on failed: error: ZeroDivisionError: division by zero*",
        ]
    )
    assert "Penstock run 2" not in result.stdout.str()


def test_what_expect_has_told_is_not_told_twice(project: pytest.Pytester) -> None:
    project.makepyfile("def test_it(penstock_play): penstock_play('pair.yaml').expect('failed')")

    text = project.runpytest().stdout.str()

    assert "expected the run to be failed, it is succeeded" in text
    assert "Penstock run 1" not in text


def test_a_pytest_that_does_not_use_it_imports_nothing_but_the_plug_in(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text(
        "import sys\n\n"
        "def test_nothing_is_loaded():\n"
        "    loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "    assert not loaded & {'yaml', 'typer', 'rich', 'msgspec', 'jsonschema_rs', 're2'}\n"
        "    assert {name for name in sys.modules if name.startswith('penstock')} == {\n"
        "        'penstock', 'penstock.testing', 'penstock.testing.plugin'}\n"
    )

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "penstock.testing.plugin",
            str(tmp_path),
        ],
        # Plug-ins of others import what they like.
        env={
            **os.environ,
            "PYTHONPATH": str(Path(penstock.__file__).parents[1]),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
