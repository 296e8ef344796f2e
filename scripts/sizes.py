"""Print functions (signature and docstring apart), files and folders that outgrow their budgets; exit 1 if any do.

A package's docstring says in at most three lines what lives there and, behind "Not here:", what may not.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

FUNCTION, FILE, FOLDER, PURPOSE = 40, 600, 20, 3


def offenders(path: Path) -> Iterator[str]:
    text = path.read_text()
    lines = text.count("\n")
    if lines > FILE:
        yield f"{path}: {lines} lines, {FILE} at most: split it by what it is about"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - _begin(node) + 1
            if size > FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {size} lines, {FUNCTION} at most"


def _begin(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The first line of code: what a command takes, and its help, is no code."""
    body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
    return body[0].lineno


def full_folders(paths: Iterable[Path]) -> Iterator[str]:
    modules = Counter(path.parent for path in paths if path.parts[0] == "src")
    for folder, count in modules.items():
        if count > FOLDER:
            yield f"{folder}: {count} modules, {FOLDER} at most: group them into packages"


def unexplained(path: Path) -> Iterator[str]:
    """What is wrong with the docstring of a package."""
    lines = [line for line in (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines() if line]
    if len(lines) > PURPOSE:
        yield f"{path}: its docstring has {len(lines)} lines, {PURPOSE} at most"
    if not any(line.startswith("Not here: ") for line in lines[1:]):
        yield f"{path}: say what lives here and, in a line that begins with 'Not here: ', what may not"


def main() -> int:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"], capture_output=True, text=True, check=True
    )
    paths = [Path(name) for name in listed.stdout.split() if Path(name).exists()]
    found = [line for path in paths for line in offenders(path)] + list(full_folders(paths))
    packages = [path for path in paths if path.parts[0] == "src" and path.name == "__init__.py"]
    found += [line for path in packages for line in unexplained(path)]
    print(
        "\n".join(found)
        if found
        else "sizes: every function, file and folder within its budget, every package explained"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
