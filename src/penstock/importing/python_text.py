"""Configuration that is written in Python, read without running it: names, literals, sums, and calls as values."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from penstock.flow.model.problems import DefinitionError, Problem
from penstock.importing.json_document import JsonDocument

MAX_TEXT = 512 * 1024
_SUMS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
MAX_NUMBER = 10**12
"""No time and no count is larger; without it a text such as `'a' * 10**9` would fill the memory."""
KEYS = 20_000
"""Characters of keys that are no texts and are written again: one may lie in the other."""


class Call(Struct, frozen=True):
    """A call that stands in the text: its name, what it is given, and its line."""

    name: str
    args: tuple[Any, ...]
    named: dict[str, Any]
    line: int

    def get(self, name: str, position: int | None = None, default: Any = None) -> Any:
        """An argument by its name, or else by its position."""
        if name in self.named:
            return self.named[name]
        return self.args[position] if position is not None and position < len(self.args) else default


class Unknown(Struct, frozen=True):
    """Something that only running the text would tell.

    Its source is written where somebody asks: parts of parts, each written at once, would take minutes.
    """

    node: ast.expr
    line: int

    @property
    def source(self) -> str:
        try:
            return ast.unparse(self.node)
        except RecursionError:
            return "…"


class Module(Struct, frozen=True):
    """What a text assigns at its top level and in its classes, and the line of each value that has one."""

    values: dict[str, Any]
    lines: dict[int, int]  # id of a dict or list -> its line

    def line(self, value: Any) -> int | None:
        """Where a dict, a list or a call stands."""
        return value.line if isinstance(value, Call | Unknown) else self.lines.get(id(value))


def read_either(text: str) -> JsonDocument | Module:
    """A text in JSON, or else in Python. Raises DefinitionError where it is neither."""
    if not text.lstrip().startswith("{"):
        return read_python(text)
    try:
        return JsonDocument(text)
    except DefinitionError as error:
        if "'" not in text or any(each.code != "not_json" for each in error.problems):
            raise
        try:
            return read_python(text)
        except DefinitionError:
            if text.find("'") < text.find('"') or '"' not in text:
                raise
            raise error from None  # it begins as JSON does


def read_python(text: str) -> Module:
    """What the text assigns. Raises DefinitionError where it is no Python."""
    if len(text) > MAX_TEXT:
        raise DefinitionError([Problem("too_large", "", f"the text has more than {MAX_TEXT} bytes")])
    tree = _parsed(text)
    reader = _Reader()
    try:
        for name, value in _assignments(tree.body):
            reader.values[name] = reader.read(value)
        if not reader.values and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
            reader.values[""] = reader.read(tree.body[0].value)
    except RecursionError:
        raise DefinitionError([Problem("too_deep", "", "the text is nested too deeply to be read")]) from None
    return Module(reader.values, reader.lines)


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        # A part of a dictionary, as documents show it, is one without its braces.
        for braced in (f"{{{text}\n}}", "{" + text.strip().rstrip(",") + "}"):
            try:
                return ast.parse(braced.strip())
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
        line, column = getattr(error, "lineno", None), getattr(error, "offset", None)
        why = getattr(error, "msg", None) or str(error)
        raise DefinitionError(
            [Problem("not_python", "", f"this is not Python: {why}", line, column)]
        ) from None


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for each in body:
        if isinstance(each, ast.ClassDef):
            yield from _assignments(each.body)
        elif isinstance(each, ast.Assign):
            for target in each.targets:
                if isinstance(target, ast.Name):
                    yield target.id, each.value
        elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
            yield each.target.id, each.value


class _Reader:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.lines: dict[int, int] = {}
        self.spare = KEYS

    def read(self, node: ast.expr) -> Any:
        """The value of an expression; what cannot be told without running it is Unknown."""
        reads = getattr(self, f"read_{type(node).__name__}", None)
        return Unknown(node, node.lineno) if reads is None else reads(node)

    def read_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def read_Name(self, node: ast.Name) -> Any:
        return self.values[node.id] if node.id in self.values else Unknown(node, node.lineno)

    def read_Dict(self, node: ast.Dict) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name = None if key is None else self.read(key)
            made[name if isinstance(name, str) else self.label(key)] = self.read(value)
        self.lines[id(made)] = node.lineno
        return made

    def label(self, key: ast.expr | None) -> str:
        """What stands for a key that is no text: its source, or where it is once enough of those was written."""
        if key is None:
            return "(**)"
        self.spare -= (key.end_col_offset or 0) - key.col_offset if key.end_lineno == key.lineno else KEYS
        return f"({ast.unparse(key)})" if self.spare >= 0 else f"(line {key.lineno}, column {key.col_offset})"

    def read_List(self, node: ast.List | ast.Tuple) -> Any:
        made = [self.read(each) for each in node.elts]
        self.lines[id(made)] = node.lineno
        return made

    read_Tuple = read_List

    def read_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.read(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(value, int | float):
            return -value
        return Unknown(node, node.lineno)

    def read_BinOp(self, node: ast.BinOp) -> Any:
        left, right, does = self.read(node.left), self.read(node.right), _SUMS.get(type(node.op))
        numbers = all(isinstance(each, int | float) and abs(each) <= MAX_NUMBER for each in (left, right))
        texts = isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add)
        texts = texts and len(left) + len(right) <= MAX_TEXT  # a = a + a, and so on, would fill the memory
        repeated = isinstance(left, list) and isinstance(right, int) and isinstance(node.op, ast.Mult)
        if repeated and len(left) * right <= 1000:
            return left * right
        if (
            does is None
            or not (numbers or texts)
            or (right == 0 and type(node.op) in (ast.Div, ast.FloorDiv, ast.Mod))
        ):
            return Unknown(node, node.lineno)
        return does(left, right)

    def read_Call(self, node: ast.Call) -> Any:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        args = tuple(self.read(each) for each in node.args)
        if name == "str" and len(args) == 1 and isinstance(args[0], int | float | str):
            return str(args[0])
        named = {each.arg: self.read(each.value) for each in node.keywords if each.arg is not None}
        return Call(name, args, named, node.lineno)
