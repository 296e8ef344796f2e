"""Print functions (signature and docstring apart) and files that outgrow the budgets of the house; exit 1 if any do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FUNCTION, FILE, TEST_FILE = 40, 400, 600


def offenders(path: Path) -> Iterator[str]:
    text = path.read_text()
    budget = TEST_FILE if "tests" in path.parts else FILE
    lines = text.count("\n")
    if lines > budget:
        yield f"{path}: {lines} lines, {budget} at most: split it by what it is about"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - _begin(node) + 1
            if size > FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {size} lines, {FUNCTION} at most"


def _begin(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The first line of code: what a command takes, and its help, is no code."""
    body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
    return body[0].lineno


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"], capture_output=True, text=True, check=True
    )
    found = [line for name in listed.stdout.split() if Path(name).exists() for line in offenders(Path(name))]
    print("\n".join(found) if found else "sizes: every function and file within its budget")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
