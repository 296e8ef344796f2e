"""What Penstock is made of is told whole, and what must not be in it is found."""

from __future__ import annotations

import json
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from scripts.supply import (
    RUNTIME,
    WEB,
    CannotSay,
    Component,
    Hole,
    accepted_ids,
    faults,
    is_licence,
    judged,
    python_components,
    sbom,
    web_components,
)

TODAY = date(2026, 11, 16)
GOOD = Component("pkg:pypi/a@1", "a", "1", "MIT", (("SHA-256", "0" * 64),))


def parts() -> list[Component]:
    lock = yaml.safe_load((WEB / "pnpm-lock.yaml").read_text())
    return python_components(RUNTIME.read_text()) + web_components(lock, WEB / "node_modules")


def test_all_that_is_locked_is_told_with_hash_and_licence_in_a_valid_document() -> None:
    text = sbom(parts(), "1.0")

    document = json.loads(text)
    assert list(schema().iter_errors(document)) == []
    told = {each["name"] for each in document["components"]}
    assert {"msgspec", "asyncpg", "react", "elkjs", "@xyflow/react"} <= told
    assert told & {"vitest", "vite", "rolldown", "lightningcss", "tailwindcss"} == set()
    assert all(each["hashes"] and each["licenses"] for each in document["components"])
    assert text == sbom(list(reversed(parts())), "1.0")
    assert faults(parts()) == []


def schema() -> Any:
    found = find_spec("cyclonedx")
    assert found is not None and found.origin is not None
    folder = Path(found.origin).parent / "schema" / "_res"
    names = [f"{name}.SNAPSHOT.schema.json" for name in ("bom-1.5", "spdx", "jsf-0.82")]
    main, *others = ((name, json.loads((folder / name).read_text())) for name in names)
    known = [(f"{main[1]['$id'].rpartition('/')[0]}/{name}", each) for name, each in others]
    return jsonschema_rs.validator_for(main[1], registry=jsonschema_rs.Registry(known))


def test_a_part_without_a_hash_or_with_another_licence_is_found() -> None:
    unlocked = Component("pkg:pypi/b@1", "b", "1", "MIT", ())
    bound = Component("pkg:pypi/c@1", "c", "1", "GPL-3.0-only", GOOD.hashes)
    silent = Component("pkg:pypi/d@1", "d", "1", None, GOOD.hashes)

    assert faults([GOOD]) == []
    assert [said.partition(" ")[0] for said in faults([GOOD, unlocked, bound, silent])] == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("Apache-2.0 AND MIT", True),
        ("Apache-2.0 AND GPL-3.0-only", False),
        ("EPL-2.0 OR GPL-3.0-or-later", True),
        ("(MIT OR AGPL-3.0-only)", True),
        ("AGPL-3.0-only", False),
        ("", False),
    ],
)
def test_a_licence_is_allowed_where_one_may_choose_it(expression: str, allowed: bool) -> None:
    assert is_licence(expression) == allowed


def test_a_part_that_is_not_installed_is_not_guessed_at() -> None:
    with pytest.raises(CannotSay, match="make setup"):
        python_components("no-such-part==1 \\\n    --hash=sha256:" + "0" * 64 + "\n")


REPORT = {
    "dependencies": [
        {"name": "a", "version": "1", "vulns": [{"id": "P-1", "aliases": ["CVE-1"], "fix_versions": ["2"]}]},
        {"name": "b", "version": "1", "vulns": []},
    ]
}
ENTRY = '[[accepted]]\npackage = "a"\nid = "CVE-1"\nreason = "never called"\nuntil = {until}\n'


def test_a_known_hole_fails_unless_it_is_accepted_for_today() -> None:
    report = json.dumps(REPORT)

    assert judged(report, "", set())[0] == ["a 1: P-1, mended in 2"]
    assert judged(report, "", accepted_ids(ENTRY.format(until="2026-11-16"), TODAY))[0] == []
    assert judged(report, "", accepted_ids(ENTRY.format(until="2026-11-15"), TODAY))[0] != []
    assert str(Hole("a", "1", "P-1", ("P-1",), ())) == "a 1: P-1, not mended yet"


@pytest.mark.parametrize("gone", ["package", "id", "reason", "until"])
def test_what_is_accepted_needs_a_reason_and_a_date(gone: str) -> None:
    lines = ENTRY.format(until="2026-11-16").splitlines()
    text = "\n".join(line for line in lines if not line.startswith(gone))

    with pytest.raises(CannotSay, match=r"accepted\.toml"):
        accepted_ids(text, TODAY)


def test_where_nobody_can_be_asked_it_is_said_and_nothing_fails() -> None:
    """A part that is skipped is not a part without holes."""
    skipped = {"dependencies": [{"name": "a", "skip_reason": "not found"}]}
    some = {"dependencies": [*REPORT["dependencies"][1:], *skipped["dependencies"]]}

    for told, errors in ((json.dumps(skipped), ""), ("", "x.ConnectionError: Failed to resolve 'x'")):
        wrong, said = judged(told, errors, set())
        assert wrong == [] and said.startswith("not audited: ")
    assert judged(json.dumps(some), "", set())[1].endswith("not audited: a")
    assert judged("", "Traceback\nTypeError: broken", set())[0] != []
