"""Settings: who says what, in which order, and what cannot be."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from scripts.reference.command_line import settings_text

from penstock.server.settings import (
    BadSettings,
    read_settings,
    unknown_variables,
)
from penstock.store.address_redaction import without_password


def write(folder: Path, text: str) -> Path:
    (folder / "penstock.toml").write_text(text, encoding="utf-8")
    return folder


def sentences(folder: Path, **variables: str) -> list[str]:
    """What is wrong with the settings of a folder."""
    with pytest.raises(BadSettings) as caught:
        read_settings(variables=variables, folder=folder)
    return [problem.message for problem in caught.value.problems]


def test_an_option_counts_before_a_variable_before_the_file_before_the_default(tmp_path: Path) -> None:
    folder = write(tmp_path, 'db = "file.db"\nport = 1\nhost = "10.0.0.1"\n')

    found = read_settings(
        {"db": "option.db", "port": None},
        variables={"PENSTOCK_DB": "variable.db", "PENSTOCK_PORT": "2"},
        folder=folder,
    )

    said = {name: (found[name], found.values[name].origin) for name in ("db", "port", "host", "server")}
    assert said == {
        "db": ("option.db", "--db"),
        "port": (2, "PENSTOCK_PORT"),
        "host": ("10.0.0.1", "penstock.toml"),
        "server": ("http://127.0.0.1:7777", "default"),
    }


@pytest.mark.parametrize(
    ("name", "written", "variable", "value"),
    [
        ("tasks", '["a.py", "b"]', "a.py, b", ("a.py", "b")),
        ("egress_allow", '["*.example", "10.0.0.0/8"]', "*.example,10.0.0.0/8", ("*.example", "10.0.0.0/8")),
        ("stores", '{in = "s3://in"}', "in=s3://in", {"in": "s3://in"}),
        ("payload_limit", '"1MiB"', "1048576", 1 << 20),
        ("retention_days", "{failed = 7}", "failed=7", {"failed": timedelta(days=7)}),
        ("release_timeout", '"2h"', "7200", timedelta(hours=2)),
        ("release_open_reports", "true", "yes", True),
    ],
)
def test_a_value_is_the_same_from_a_file_and_from_a_variable(
    tmp_path: Path, name: str, written: str, variable: str, value: Any
) -> None:
    from_file = read_settings(variables={}, folder=write(tmp_path, f"{name} = {written}\n"))
    from_variable = read_settings(variables={f"PENSTOCK_{name.upper()}": variable}, folder=tmp_path / "none")

    assert from_file[name] == from_variable[name] == value


def test_days_count_for_every_status_where_none_is_named(tmp_path: Path) -> None:
    found = read_settings(variables={"PENSTOCK_RETENTION_DAYS": "3"}, folder=tmp_path)

    assert set(found["retention_days"].values()) == {timedelta(days=3)}


def test_everything_wrong_is_told_at_once_in_a_sentence_each(tmp_path: Path) -> None:
    folder = write(tmp_path, 'prot = 80\nport = 70000\nretention_days = "soon"\nzzz = 1\n')

    assert sentences(folder, PENSTOCK_PAYLOAD_LIMIT="big") == [
        f"{folder}/penstock.toml sets 'prot', which is no setting; did you mean 'port'?",
        f"{folder}/penstock.toml sets 'zzz', which is no setting: leave it out.",
        "port in penstock.toml '70000' must be a port, 0 to 65535.",
        "PENSTOCK_PAYLOAD_LIMIT 'big' must be a size such as 256KiB.",
        "retention_days in penstock.toml 'soon' must be days, 1 or more: 30, or by status "
        "(succeeded, canceled, failed, timed_out).",
    ]


@pytest.mark.parametrize("name", ["POLL_INTERVAL", "REQUEST_TIMEOUT", "TASK_TIMEOUT", "TIMEOUT"])
@pytest.mark.parametrize("said", ["0s", "0", "-5s", "soon"])
def test_a_duration_that_cannot_be_is_told(name: str, said: str, tmp_path: Path) -> None:
    [sentence] = sentences(write(tmp_path, ""), **{f"PENSTOCK_RELEASE_{name}": said})

    assert sentence.endswith(f"'{said}' must be a duration above 0, such as 30s or 10m.")


def test_a_file_that_is_no_toml_is_told(tmp_path: Path) -> None:
    [sentence] = sentences(write(tmp_path, "db = \n"))

    assert sentence.startswith(f"{tmp_path}/penstock.toml is not TOML: ")


def test_a_secret_that_is_wrong_is_not_shown(tmp_path: Path) -> None:
    assert sentences(write(tmp_path, "token = 12345678\n")) == ["token in penstock.toml must be a text."]


def test_a_variable_that_is_no_setting_is_told() -> None:
    variables = {"PENSTOCK_PROT": "1", "PENSTOCK_DB": "x", "PENSTOCK_TRACEBACK": "1", "HOME": "/"}

    assert unknown_variables(variables) == [
        "the variable PENSTOCK_PROT is set, which is no setting; did you mean 'port'?"
    ]


def test_secrets_and_passwords_are_not_shown(tmp_path: Path) -> None:
    variables = {"PENSTOCK_TOKEN": "sesame", "PENSTOCK_DB": "postgresql://ann:pw@db/x"}
    found = read_settings(variables=variables, folder=tmp_path)

    assert (found.values["token"].shown(), found.values["db"].shown()) == (
        "(set)",
        "postgresql://ann:***@db/x",
    )


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("penstock.db", "penstock.db"),
        ("postgresql://db/x?user=ann&pool=4", "postgresql://db/x?user=ann&pool=4"),
        ("postgresql://ann:p@w/@db/x", "postgresql://ann:***@db/x"),
        ("postgresql://db/x?user=ann&password=pw&pool=4", "postgresql://db/x?user=ann&password=***&pool=4"),
        ("postgresql://db/x?p%61ssword=pw", "postgresql://db/x?p%61ssword=***"),
        ("host=db password=pw user=ann", "host=db password=*** user=ann"),
        (r"host=db password = 'p \' w' user=ann", "host=db password = *** user=ann"),
        (
            "s3://bucket?access_key=a&secret_key=b&region=c",
            "s3://bucket?access_key=***&secret_key=***&region=c",
        ),
        ({"a": "s3://me:pw@h/b", "n": 1}, {"a": "s3://me:***@h/b", "n": 1}),
        ({"token": "t", "list": ["x://a:b@c"]}, {"token": "***", "list": ["x://a:***@c"]}),
        (("x://a:b@c", "d"), ("x://a:***@c", "d")),
    ],
)
def test_a_password_is_not_shown_in_whatever_form_it_stands(said: Any, shown: Any) -> None:
    assert without_password(said) == shown


def test_passwords_in_maps_and_in_what_is_wrong_are_not_shown(tmp_path: Path) -> None:
    found = read_settings(variables={"PENSTOCK_STORES": "a=s3://me:pw@h/b"}, folder=tmp_path)

    assert found.values["stores"].shown() == {"a": "s3://me:***@h/b"}
    with pytest.raises(BadSettings) as refused:
        read_settings(variables={"PENSTOCK_PORT": "x://a:pw@b"}, folder=tmp_path)
    assert "pw" not in str(refused.value)


def test_the_page_of_settings_is_current() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")

    assert page == settings_text(), "run `make reference`"
