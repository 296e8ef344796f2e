"""The entry to one suite at a time: what it takes, and what it refuses."""

from __future__ import annotations

import pytest

from bench import suites


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["web"], "invalid choice: 'web'"),
        (["net", "--quick"], "unrecognized arguments: --quick"),
        (["engine", "--runs", "2"], "argument --runs: at least 3"),
    ],
)
def test_wrong_use_exits_2_and_says_why(
    capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        suites.main(arguments)

    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


def test_a_suite_has_the_options_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, object] = {}

    def engine(**options: object) -> int:
        given.update(options)
        return 1

    monkeypatch.setattr(suites, "SUITES", {"engine": engine})

    assert suites.main(["engine", "--db", "x.db", "--runs", "3", "--quick"]) == 1
    assert given == {"json": False, "db": "x.db", "runs": 3, "quick": True}
