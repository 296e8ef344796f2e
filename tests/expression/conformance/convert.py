"""Make `cases.json` and `left_out.json` from the CEL specification's conformance tests.

Usage: python convert.py PACKAGE, where PACKAGE is the unpacked npm package `@bufbuild/cel-spec` (needs node).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILES = (
    *("basic", "comparisons", "conversions", "fields", "fp_math", "integer_math", "lists", "logic"),
    *("macros", "parse", "plumbing", "string", "string_ext", "timestamps"),
)
DUMP = """
const {tests} = require(process.argv[1]);
console.log(JSON.stringify(tests, (key, value) =>
  typeof value === "bigint" ? String(value)
  : value instanceof Uint8Array ? Buffer.from(value).toString("base64")
  : typeof value === "number" && !Number.isFinite(value) ? String(value) : value));
"""
REASONS = (
    (
        "message",
        re.compile(
            r"TestAllTypes|NestedMessage|google\.protobuf\.\w+\s*\{|\bproto2\b|\bproto3\b|GlobalEnum|NullValue"
        ),
    ),
    ("function", re.compile(r"\.format\(|strings\.quote\(|\.reverse\(")),
    ("unknown function", re.compile(r"f_unknown\(|^a\.\w+\(\) \|\| true$")),
    ("optional", re.compile(r"\[\?|\.\?|optional\.")),
)
_QUALIFIED, _EXACT = "fields/qualified_identifier_resolution/", "comparison of int and double is exact"
BY_NAME = {
    _QUALIFIED + "qualified_ident": "variable with dots",
    _QUALIFIED + "map_field_select": "variable with dots",
    _QUALIFIED + "qualified_identifier_resolution_unchecked": "variable with dots",
    _QUALIFIED + "ident_with_longest_prefix_check": "variable with dots",
    "comparisons/lt_literal/not_lt_dyn_int_big_lossy_double": _EXACT,
    "comparisons/gt_literal/not_gt_dyn_big_double_int": _EXACT,
    "comparisons/lte_literal/lte_dyn_big_double_int": _EXACT,
    "comparisons/gte_literal/gte_dyn_int_big_lossy_double": _EXACT,
}


def every_case(package: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cases of the chosen files, each with its full name."""
    data = package / "dist/cjs/testdata/conformance.js"
    dumped = subprocess.run(["node", "-e", DUMP, str(data.resolve())], capture_output=True, check=True)
    for file in json.loads(dumped.stdout)["suites"]:
        for section in file["suites"] if file["name"] in FILES else ():
            for test in section["tests"]:
                yield f"{file['name']}/{section['name']}/{test['original']['name']}", test["original"]


def reason_to_leave_out(name: str, case: dict[str, Any]) -> str | None:
    """Why the language has no such thing; None for a case that it must pass."""
    if name in BY_NAME:
        return BY_NAME[name]
    whole = json.dumps(case)
    if "objectValue" in whole or "enumValue" in whole:
        return "message"
    return next((reason for reason, found in REASONS if found.search(case["expr"])), None)


def compact(name: str, case: dict[str, Any]) -> list[Any]:
    """The case as [name, expression, variables, value], where the value of a failure is `error`."""
    variables = {key: bound["value"] for key, bound in case.get("bindings", {}).items()}
    return [
        name,
        case["expr"],
        variables,
        "error" if "evalError" in case else case.get("value", {"boolValue": True}),
    ]


def main() -> None:
    here = Path(__file__).parent
    taken: list[list[Any]] = []
    left_out: dict[str, list[str]] = {}
    for name, case in every_case(Path(sys.argv[1])):
        reason = reason_to_leave_out(name, case)
        if reason is None:
            taken.append(compact(name, case))
        else:
            left_out.setdefault(reason, []).append(name)
    lines = ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in taken)
    (here / "cases.json").write_text(f"[\n{lines}\n]\n")
    (here / "left_out.json").write_text(json.dumps(left_out, indent=1) + "\n")


if __name__ == "__main__":
    main()
