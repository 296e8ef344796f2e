"""What Penstock is made of: writes dist/sbom.cdx.json, and looks for known holes in what a server runs with.

Fails where a component has no hash or a licence that is not allowed, and where a known hole is not accepted, with a
reason and a date, in requirements/accepted.toml. Where nobody can be asked about holes it says so, and does not fail.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path
from typing import Any

import msgspec
import yaml

ROOT = Path(__file__).resolve().parent.parent
RUNTIME, ACCEPTED = ROOT / "requirements" / "runtime.lock", ROOT / "requirements" / "accepted.toml"
WEB, SBOM = ROOT / "web", ROOT / "dist" / "sbom.cdx.json"

BUILD_TOOLS = frozenset({"@tailwindcss/vite", "@vitejs/plugin-react", "tailwindcss", "vite"})
"""Dependencies in web/package.json that build the pages and are not shipped with them."""

ALLOWED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "EPL-2.0",
        "ISC",
        "LicenseRef-any-OSI",
        "MIT",
        "MIT-0",
        "PSF-2.0",
        "Unlicense",
    }
)
"""EPL-2.0 binds changes of the component itself alone, and nothing of it is changed here."""

SPDX = {
    "any-OSI": "LicenseRef-any-OSI",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "MIT License": "MIT",
    "ISC License": "ISC",
    "OSI Approved :: Apache Software License": "Apache-2.0",
    "OSI Approved :: BSD License": "BSD-3-Clause",
    "OSI Approved :: MIT License": "MIT",
}
"""What packages call a licence → its name in SPDX."""

_PINNED = re.compile(r"([A-Za-z0-9_.-]+)==([^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_WEB = re.compile(r"(@?[^@]+)@([^(]+)")


class CannotSay(Exception):
    """What there is cannot be read; the message says why and what to do."""


class Component(msgspec.Struct, frozen=True):
    """One locked part. Hashes are (algorithm, hexadecimal digits)."""

    purl: str
    name: str
    version: str
    licence: str | None
    hashes: tuple[tuple[str, str], ...]


class Hole(msgspec.Struct, frozen=True):
    """A known vulnerability of a part."""

    package: str
    version: str
    id: str
    names: tuple[str, ...]
    mended_in: tuple[str, ...]

    def __str__(self) -> str:
        mended = f", mended in {' or '.join(self.mended_in)}" if self.mended_in else ", not mended yet"
        return f"{self.package} {self.version}: {self.id}{mended}"


# -- what there is -----------------------------------------------------------------------------------------


def python_components(lock: str) -> list[Component]:
    """The parts in a hashed lock. Raises CannotSay where one is not installed, so that its licence is not known."""
    found = []
    for block in re.split(r"\n(?=\S)", lock.strip()):
        pinned = _PINNED.match(block)
        if pinned is None:
            raise CannotSay(f"{block.splitlines()[0]!r} in the lock names no version: run `make lock`")
        name, number = pinned[1], pinned[2]
        hashes = tuple(("SHA-256", digits) for digits in sorted(_HASH.findall(block)))
        found.append(Component(f"pkg:pypi/{name}@{number}", name, number, python_licence(name), hashes))
    return found


def python_licence(name: str) -> str | None:
    """The licence in SPDX that an installed package tells. Raises CannotSay where it is not installed."""
    try:
        about = metadata(name)
    except PackageNotFoundError:
        raise CannotSay(f"{name} is locked and not installed: run `make setup`") from None
    classes = [each.removeprefix("License :: ") for each in about.get_all("Classifier") or ()]
    told = [*(about.get_all("License-Expression") or ()), *(about.get_all("License") or ()), *classes]
    names = [SPDX.get(each, each) for each in told]
    return next((each for each in names if is_licence(each)), names[0].partition("\n")[0] if names else None)


def web_components(lock: dict[str, Any], installed: Path) -> list[Component]:
    """The parts that the pages are made of, as their lock has them. Raises CannotSay where one is not installed."""
    found = {}
    for key in _reached(lock):
        parts = _WEB.match(key)
        if parts is None:
            raise CannotSay(f"'{key}' in web/pnpm-lock.yaml names no version")
        name, number = parts[1], parts[2]
        integrity = lock["packages"][f"{name}@{number}"].get("resolution", {}).get("integrity")
        purl = f"pkg:npm/{name.replace('@', '%40', 1)}@{number}"
        found[purl] = Component(
            purl, name, number, web_licence(installed, name, number), tuple(_integrity(integrity or ""))
        )
    return [found[purl] for purl in sorted(found)]


def _reached(lock: dict[str, Any]) -> set[str]:
    """The dependencies that are shipped with the pages, and everything that these need."""
    direct = lock["importers"]["."]["dependencies"].items()
    todo = [f"{name}@{told['version']}" for name, told in direct if name not in BUILD_TOOLS]
    seen: set[str] = set()
    while todo:
        key = todo.pop()
        if key not in seen:
            seen.add(key)
            for kind in ("dependencies", "optionalDependencies"):
                below = lock["snapshots"][key].get(kind) or {}
                todo.extend(f"{name}@{number}" for name, number in below.items())
    return seen


def _integrity(text: str) -> Iterator[tuple[str, str]]:
    for each in text.split():
        algorithm, _, digest = each.partition("-")
        yield algorithm.upper().replace("SHA", "SHA-"), base64.b64decode(digest).hex()


def web_licence(installed: Path, name: str, number: str) -> str | None:
    """The licence that an installed part of the pages tells. Raises CannotSay where it is not installed."""
    folder = f"{name.replace('/', '+')}@{number}"
    for pattern in (folder, f"{folder}_*"):
        for path in sorted(installed.glob(f".pnpm/{pattern}/node_modules/{name}/package.json")):
            told = json.loads(path.read_text(encoding="utf-8")).get("license")
            return told if isinstance(told, str) else None
    raise CannotSay(f"{name} {number} is locked and not installed in web/: run `make setup`")


# -- what is wrong with it ---------------------------------------------------------------------------------


def is_licence(expression: str) -> bool:
    """Whether an SPDX expression gives us an allowed licence: one of those after OR, all of those after AND."""
    choices = expression.strip("()").split(" OR ")
    return any(all(each in ALLOWED for each in choice.strip("()").split(" AND ")) for choice in choices)


def faults(components: list[Component]) -> list[str]:
    """What must not be, in plain words."""
    said = [f"{each.name} {each.version} has no hash in its lock" for each in components if not each.hashes]
    for each in components:
        if each.licence is None:
            said.append(f"{each.name} {each.version} tells no licence: see what it is before you use it")
        elif not is_licence(each.licence):
            said.append(f"{each.name} {each.version} has the licence {each.licence}, which is not allowed")
    return said


def sbom(components: list[Component], release: str) -> str:
    """A CycloneDX 1.5 document: the same text for the same parts."""
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "penstock", "version": release}},
        "components": [_entry(each) for each in sorted(components, key=lambda each: each.purl)],
    }
    return json.dumps(document, indent=2) + "\n"


def _entry(component: Component) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": component.purl,
        "name": component.name,
        "version": component.version,
        "purl": component.purl,
        "hashes": [{"alg": algorithm, "content": digits} for algorithm, digits in component.hashes],
        "licenses": [_licence(component.licence)] if component.licence else [],
    }


def _licence(told: str) -> dict[str, Any]:
    if told.startswith("LicenseRef-"):
        return {"license": {"name": told.removeprefix("LicenseRef-")}}
    return {"expression": told} if " " in told else {"license": {"id": told}}


# -- known holes -------------------------------------------------------------------------------------------


def holes_in(report: dict[str, Any]) -> tuple[list[Hole], list[str]]:
    """The holes in a report of pip-audit, and the parts that nobody could tell about."""
    found = [
        Hole(
            part["name"],
            part["version"],
            hole["id"],
            (hole["id"], *hole.get("aliases", ())),
            tuple(hole.get("fix_versions", ())),
        )
        for part in report["dependencies"]
        for hole in part.get("vulns", ())
    ]
    return found, [part["name"] for part in report["dependencies"] if "skip_reason" in part]


def accepted_ids(text: str, today: date) -> set[tuple[str, str]]:
    """Package and name of each hole that is accepted today. Raises CannotSay where an entry says too little."""
    found = set()
    for entry in tomllib.loads(text).get("accepted", []):
        package, name, until = entry.get("package"), entry.get("id"), entry.get("until")
        if not package or not name or not str(entry.get("reason", "")).strip() or type(until) is not date:
            raise CannotSay(
                f"requirements/accepted.toml: {entry} needs `package`, `id`, `reason` and `until`, a date"
            )
        if today <= until:
            found.add((package, name))
    return found


def open_holes(holes: list[Hole], accepted: set[tuple[str, str]]) -> list[Hole]:
    """Those that nobody accepted."""
    return [hole for hole in holes if not any((hole.package, name) in accepted for name in hole.names)]


def audit() -> tuple[list[str], str]:
    """What is wrong, and what the look at known holes came to."""
    accepted = accepted_ids(ACCEPTED.read_text(encoding="utf-8"), datetime.now(UTC).date())
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(RUNTIME), "--no-deps", "--disable-pip"]
    options = ["--format", "json", "--progress-spinner", "off", "--timeout", "10"]
    try:
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return [], "not audited: the service of known holes did not answer in five minutes"
    return judged(done.stdout, done.stderr, accepted)


def judged(told: str, errors: str, accepted: set[tuple[str, str]]) -> tuple[list[str], str]:
    """What is wrong, and a sentence, from what pip-audit wrote."""
    try:
        report = json.loads(told)
    except ValueError:
        last = (errors.strip().splitlines() or [""])[-1]
        if re.search(r"Connection|Timeout|resolve|ServiceError|HTTPError|SSLError", last):
            return [], "not audited: the service of known holes cannot be reached from here"
        return [f"pip-audit said nothing that can be read: {last[:200]}"], "not audited"
    holes, skipped = holes_in(report)
    everything = len(report["dependencies"])
    wrong = [str(hole) for hole in open_holes(holes, accepted)]
    if len(skipped) == everything:
        return (
            wrong,
            f"not audited: the service of known holes knows none of {everything} components from here",
        )
    said = f"audited: {everything - len(skipped)} components, {len(holes)} known holes, {len(wrong)} not accepted"
    return wrong, said + (f"; not audited: {', '.join(skipped)}" if skipped else "")


def main() -> int:
    try:
        parts = python_components(RUNTIME.read_text(encoding="utf-8"))
        lock = yaml.safe_load((WEB / "pnpm-lock.yaml").read_text(encoding="utf-8"))
        parts += web_components(lock, WEB / "node_modules")
        wrong = faults(parts)
        SBOM.parent.mkdir(exist_ok=True)
        SBOM.write_text(sbom(parts, version("penstock")), encoding="utf-8")
        holes, said = audit()
    except CannotSay as error:
        print(f"supply: {error}", file=sys.stderr)
        return 1
    for line in wrong + holes:
        print(f"supply: {line}", file=sys.stderr)
    print(f"supply: {len(parts)} components in {SBOM.relative_to(ROOT)}; {said}")
    return 1 if wrong or holes else 0


if __name__ == "__main__":
    sys.exit(main())
