"""What is deployed calls Penstock as it can be called, without privileges, and is told to stop as it wants to be."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from penstock.cli.main import app

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = ("penstock-server.service", "penstock-worker@.service")


def options(command: str) -> set[str]:
    """The options that a command takes."""
    found = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    return {option for each in found.params for option in each.opts if option.startswith("--")}


def refuse_unknown(words: list[str]) -> None:
    command, *rest = words
    assert {word for word in rest if word.startswith("--")} - options(command) == set()


def unit(name: str) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(DEPLOY / "systemd" / name)
    return parser["Service"]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def seconds(text: str) -> int:
    number, kind = re.fullmatch(r"(\d+)(s|m|min)", text).groups()  # type: ignore[union-attr]
    return int(number) * (1 if kind == "s" else 60)


@pytest.mark.parametrize("name", UNITS)
def test_units_call_commands_as_they_are_and_give_them_time_to_stop(name: str) -> None:
    service = unit(name)
    program, *words = shlex.split(service["ExecStart"].replace("$WORKER_OPTIONS", ""))

    refuse_unknown(words)
    assert program == "/opt/penstock/bin/penstock"
    assert seconds(service["TimeoutStopSec"]) > seconds(words[words.index("--grace") + 1])


@pytest.mark.parametrize("name", UNITS)
def test_units_have_no_privileges(name: str) -> None:
    service = unit(name)

    wanted = {
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "PrivateDevices": "yes",
        "RestrictSUIDSGID": "yes",
        "UMask": "0077",
    }
    assert {key: service.get(key) for key in wanted} == wanted
    assert service["User"].startswith("penstock")


def test_the_image_runs_a_command_as_it_is_and_not_as_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    lines = dict(re.findall(r"^(USER|ENTRYPOINT|CMD) (.+)$", text.rpartition("\nFROM ")[2], re.M))

    refuse_unknown(json.loads(lines["CMD"]))
    assert (json.loads(lines["ENTRYPOINT"]), lines["USER"]) == (["penstock"], "10001:10001")
    installs = re.findall(r"pip install (.+?)(?:\\|$)", text, re.M)
    assert all("--require-hashes" in each or "wheels/" in each for each in installs)


def test_what_the_image_copies_is_there_and_not_left_out() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    copied = [name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M) for name in line.split()]
    kept = [
        line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"
    ]

    hatch = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["tool"]["hatch"]
    assert sorted(copied) == sorted(kept)
    assert [name for name in copied if not (DEPLOY.parent / name).exists()] == []
    assert set(hatch["build"]["targets"]["wheel"]["force-include"]) <= set(
        copied
    )  # a wheel is not built without them


@pytest.mark.parametrize("name", ["server", "worker"])
def test_services_call_commands_as_they_are_without_privileges(name: str) -> None:
    service = compose()["services"][name]

    refuse_unknown(service["command"])
    assert (service["read_only"], service["cap_drop"], service["security_opt"]) == (
        True,
        ["ALL"],
        ["no-new-privileges:true"],
    )
    words = service["command"]
    grace = words[words.index("--grace") + 1] if "--grace" in words else "30s"
    assert seconds(service["stop_grace_period"]) > seconds(grace)


def test_no_service_has_a_password_of_its_own() -> None:
    for name, service in compose()["services"].items():
        for key, value in service["environment"].items():
            if re.search("PASSWORD|TOKEN|KEY", key):
                assert value.startswith("${"), (name, key)
