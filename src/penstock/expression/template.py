"""Values with `${ … }` parts: any JSON whose strings may hold expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import msgspec

from penstock.expression.errors import EvaluationError, ExpressionError
from penstock.expression.expression import Expression
from penstock.expression.limits import MAX_TEMPLATE_COST
from penstock.expression.syntax.parser import parse
from penstock.expression.syntax.syntax import Node

Json = Any
_RENDERED = 256 * 1024
_DEPTH = 64
_OPEN = re.compile(r"\$?\$\{")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_Make = Callable[["_Meter"], Json]


class _Meter:
    """The scope of one evaluation, and the units that its expressions spent together."""

    __slots__ = ("scope", "spent")

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self.scope, self.spent = scope, 0

    def value(self, expression: Expression, path: str) -> Json:
        env = expression.env(self.scope)
        try:
            value = expression.spend(env)
        except EvaluationError as error:
            error.path = path
            raise
        self.spent += env[1]
        if self.spent > MAX_TEMPLATE_COST:
            message = f"the expressions together take more than {MAX_TEMPLATE_COST:,} steps of work"
            raise EvaluationError("cost_exceeded", message, source=expression.source, path=path)
        return value


class Template:
    """A JSON value whose expressions are evaluated together; a constant one is its value."""

    __slots__ = ("_make", "constant", "expressions", "guards", "reads", "roots", "value")

    def __init__(self, value: Json, make: _Make | None, expressions: tuple[Expression, ...]) -> None:
        self.value, self._make, self.expressions = value, make, expressions
        self.constant = make is None
        self.reads = tuple(dict.fromkeys(path for each in expressions for path in each.reads))
        self.guards = tuple(dict.fromkeys(path for each in expressions for path in each.guards))
        self.roots = frozenset(root for each in expressions for root in each.roots)

    def __call__(self, scope: Mapping[str, Any]) -> Json:
        """The value in this scope; raises EvaluationError with the `path` of the part that failed."""
        return self.value if self._make is None else self._make(_Meter(scope))

    def __eq__(self, other: object) -> bool:
        encode = msgspec.json.encode
        return isinstance(other, Template) and encode(self.value) == encode(other.value)

    def __hash__(self) -> int:
        return hash(msgspec.json.encode(self.value))

    def __repr__(self) -> str:
        return f"Template({self.value!r})"


def compile_template(value: Json, names: Collection[str] | None = None) -> Template:
    """The template of a JSON value; raises ExpressionError with the `path` of the string that is wrong."""
    compiler = _Compiler(names)
    constant, make = compiler.compile(value, "", 0)
    return Template(constant if make is None else value, make, tuple(compiler.expressions))


def is_open(value: Any) -> bool:
    """Whether some part of a value is filled in when the firing begins."""
    if isinstance(value, str):
        return "${" in value
    if isinstance(value, Mapping):
        return any(is_open(each) for each in (*value, *value.values()))
    return isinstance(value, list) and any(map(is_open, value))


class _Compiler:
    """Compiles a value to its constant form and, where it holds expressions, what makes it."""

    def __init__(self, names: Collection[str] | None) -> None:
        self.names = names
        self.expressions: list[Expression] = []

    def compile(self, value: Json, path: str, depth: int) -> tuple[Json, _Make | None]:
        if depth > _DEPTH:
            raise ExpressionError("too_deep", f"the value is nested more than {_DEPTH} deep", path=path)
        if isinstance(value, str):
            return self.text(value, path) if "${" in value else (value, None)
        if isinstance(value, list):
            items = [self.compile(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
            return [constant for constant, _ in items], _list(items)
        if isinstance(value, dict):
            entries = {
                key: self.compile(item, path_below(path, key), depth + 1) for key, item in value.items()
            }
            return {key: constant for key, (constant, _) in entries.items()}, _map(entries)
        return value, None

    def text(self, text: str, path: str) -> tuple[Json, _Make | None]:
        pieces: list[str | Expression] = []
        try:
            for part in split_template(text):
                if isinstance(part, str):
                    pieces.append(part)
                    continue
                expression = Expression(text, part.node, self.names, part.start, part.end)
                self.expressions.append(expression)
                pieces.append(expression)
        except ExpressionError as error:
            error.path = path
            raise
        if not any(isinstance(piece, Expression) for piece in pieces):
            return "".join(str(piece) for piece in pieces), None
        if len(pieces) == 1 and isinstance(pieces[0], Expression):
            alone = pieces[0]
            return None, lambda meter: meter.value(alone, path)
        return None, lambda meter: _render(meter, pieces, path)


class Part(msgspec.Struct, frozen=True):
    """An expression within a text, and where it stands between `${` and `}`."""

    node: Node
    start: int
    end: int


def split_template(text: str) -> list[str | Part]:
    """The literal texts and the expressions that a text is made of; raises ExpressionError."""
    parts: list[str | Part] = []
    done = 0
    while (found := _OPEN.search(text, done)) is not None:
        parts.append(text[done : found.start()])
        done = found.end()
        if found.group() == "$${":
            parts.append("${")
        else:
            node, end = parse(text, done, closing="}")
            parts.append(Part(node, done, end - 1))
            done = end
    parts.append(text[done:])
    return [part for part in parts if part != ""]


def path_below(path: str, key: str) -> str:
    """The path of a key of a map: `to.name`, or `to["a name"]`."""
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return f"{path}[{msgspec.json.encode(key).decode()}]"


def _list(items: list[tuple[Json, _Make | None]]) -> _Make | None:
    if all(make is None for _, make in items):
        return None
    return lambda meter: [constant if make is None else make(meter) for constant, make in items]


def _map(entries: dict[str, tuple[Json, _Make | None]]) -> _Make | None:
    if all(make is None for _, make in entries.values()):
        return None
    return lambda meter: {
        key: constant if make is None else make(meter) for key, (constant, make) in entries.items()
    }


def _render(meter: _Meter, pieces: list[str | Expression], path: str) -> str:
    texts = [piece if isinstance(piece, str) else _shown(meter.value(piece, path)) for piece in pieces]
    if sum(map(len, texts)) > _RENDERED:
        message = f"the text is larger than {_RENDERED // 1024} KiB"
        raise EvaluationError("result_too_large", message, path=path)
    return "".join(texts)


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
