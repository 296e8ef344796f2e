"""Settings: options, `PENSTOCK_…` variables, `penstock.toml` and defaults, each value with its origin."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from penstock.flow.errors import PenstockError
from penstock.flow.model.problems import Problem
from penstock.server import values
from penstock.store.address_redaction import without_password

FILE = "penstock.toml"
PREFIX = "PENSTOCK_"
ALSO = frozenset({"PENSTOCK_TRACEBACK", "PENSTOCK_SECRET_KEY"})
"""Variables that are no settings."""
OPTIONS = {"stores": "--store", "buses": "--bus"}
"""Options that say one thing of several, and are called so."""


class BadSettings(PenstockError):
    """Settings that are not known, or have a value that cannot be: `problems` has a sentence for each."""

    code = "bad_settings"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(" ".join(problem.message for problem in self.problems).removesuffix("."))


class Setting(Struct, frozen=True):
    """One thing that can be set; `read` makes its value of a text or of what TOML has, or raises ValueError."""

    name: str
    read: Callable[[Any], Any]
    default: Any
    says: str
    secret: bool = False
    used: bool = True


SETTINGS = {
    each.name: each
    for each in (
        Setting("db", values.text, "penstock.db", "the database: a path for SQLite, or `postgresql://user@host/name`"),
        Setting("host", values.text, "127.0.0.1", "the address that the server listens on"),
        Setting("port", values.port, 7777, "its port; 0 finds a free one"),
        Setting("stores", values.pairs, {}, "object stores, `NAME=URL`: `s3://bucket?…` or `dir:///path`"),
        Setting("buses", values.buses, {}, "brokers, `NAME=URL`: `nats://…`, `amqp://…` or `kafka://…`"),
        Setting("tasks", values.names, (), "modules and files with Python tasks"),
        Setting("workflows", values.text, None, "the folder of workflows that `up` publishes and starts"),
        Setting("token", values.text, None, "a server's first admin token, and the one that commands show", True),
        Setting("server", values.text, "http://127.0.0.1:7777", "the server that commands act on"),
        Setting("oidc", values.identity, None, "how people sign in through an identity provider: a table", True),
        Setting("sns_topics", values.names, (), "topics of Amazon SNS that hooks with `verify: sns` take"),
        Setting("trusted_proxies", values.networks, (), "proxies whose `X-Forwarded-…` count: addresses, CIDR"),
        Setting("tracing", values.tracing, None, "where traces of runs go: `otlp`, `console` or `off`"),
        Setting("egress_allow", values.names, (), "hosts, `*.suffix` and CIDR that steps may call"),
        Setting("public_url", values.text, None, "the address at which functions call back; the server's own if unset"),
        Setting("payload_limit", values.payload, 256 * 1024, "the largest payload: `1KiB` to `4MiB`"),
        Setting("retention_days", values.days, {}, "how long ended runs are kept: `30`, or by status"),
        Setting("task_list_suffix", values.suffix, None, "what is appended to the names of task lists"),
        Setting("smtp_url", values.text, None, "the mail server: `smtp://user:password@host:587?starttls=yes`", True),
        Setting("release_poll_interval", values.duration, "10s", "how often task services are asked for their state"),
        Setting("release_request_timeout", values.duration, "30s", "how long a task service may take to answer"),
        Setting("release_task_timeout", values.duration, "1h", "how long staging or publishing may take"),
        Setting("release_timeout", values.duration, "1d", "how long a release may stay in one state but `staged`"),
        Setting("release_token", values.text, None, "the bearer token that task services are shown", True),
        Setting("release_oauth", values.credentials, None, "client credentials that fetch that token: a table", True),
        Setting("release_open_reports", values.switch, False, "whether task services need no sign-in to report"),
        Setting("release_dataservice_url", values.text, None, "the data service whose studies `/studies/sync` takes"),
    )
}  # fmt: skip


class Value(Struct, frozen=True):
    """A setting as it is in force, and who says so: an option, a variable, the file, or the default."""

    setting: Setting
    value: Any
    origin: str

    def shown(self) -> Any:
        """The value for people and logs: without what is secret."""
        if self.value is None or not self.setting.secret:
            return without_password(self.value)
        return "(set)"


class Settings(Struct, frozen=True):
    """Every setting by its name."""

    values: dict[str, Value]

    def __getitem__(self, name: str) -> Any:
        return self.values[name].value

    def shown(self) -> list[dict[str, Any]]:
        """All of them for people: what is in force, and who says so."""
        return [
            {"name": name, "value": to_builtins(each.shown(), str_keys=True), "origin": each.origin}
            for name, each in self.values.items()
        ]

    def given(self, name: str) -> bool:
        """Whether somebody said it."""
        return self.values[name].origin != "default"


def read_settings(
    options: Mapping[str, Any] | None = None, *, variables: Mapping[str, str], folder: Path = Path()
) -> Settings:
    """What is in force; an option before a variable before the file before the default. Raises BadSettings."""
    problems: list[Problem] = []
    written = _written(folder / FILE, problems)
    found = {}
    for name, setting in SETTINGS.items():
        said = [
            (OPTIONS.get(name, f"--{name.replace('_', '-')}"), (options or {}).get(name)),
            (f"{PREFIX}{name.upper()}", variables.get(f"{PREFIX}{name.upper()}") or None),
            (FILE, written.get(name)),
        ]
        found[name] = _value(setting, said, problems)
    if problems:
        raise BadSettings(problems)
    return Settings(found)


def _value(setting: Setting, said: Iterable[tuple[str, Any]], problems: list[Problem]) -> Value:
    for origin, given in said:
        if given is None or given == () or given == []:
            continue
        try:
            return Value(setting, setting.read(given), origin)
        except ValueError as error:
            shown = "" if setting.secret else f" '{without_password(given)}'"
            problems.append(
                Problem("bad_setting", setting.name, f"{_named(origin, setting.name)}{shown} {error}.")
            )
            break
    default = setting.default
    return Value(setting, setting.read(default) if isinstance(default, str) else default, "default")


def _named(origin: str, name: str) -> str:
    return f"{name} in {origin}" if origin == FILE else origin


def _written(file: Path, problems: list[Problem]) -> dict[str, Any]:
    """What the file says; nothing where there is none."""
    try:
        found = tomllib.loads(file.read_bytes().decode())
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem("bad_setting", "", f"{file} is not TOML: {error}."))
        return {}
    except OSError as error:
        problems.append(Problem("bad_setting", "", f"{file} cannot be read: {error.strerror}."))
        return {}
    for name in found:
        if name not in SETTINGS:
            problems.append(Problem("unknown_setting", name, f"{file} sets '{name}', {unknown(name)}"))
    return found


def unknown(name: str) -> str:
    """Why a name is none, with the nearest one."""
    close = get_close_matches(name, SETTINGS, 1)
    return (
        f"which is no setting; did you mean '{close[0]}'?" if close else "which is no setting: leave it out."
    )


def unknown_variables(variables: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that looks like a setting and is none."""
    names = {f"{PREFIX}{name.upper()}" for name in SETTINGS} | ALSO
    return [
        f"the variable {each} is set, {unknown(each.removeprefix(PREFIX).lower())}"
        for each in sorted(variables)
        if each.startswith(PREFIX) and each not in names
    ]
