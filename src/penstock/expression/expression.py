"""A compiled expression: source text in, closure out, plain JSON as its value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from penstock.expression.compiler import Builder
from penstock.expression.errors import Fault, SourcePosition
from penstock.expression.limits import MAX_RESULT, MAX_WHOLE_VALUE, Env
from penstock.expression.results import plain
from penstock.expression.syntax.parser import parse
from penstock.expression.syntax.syntax import Index, Name, Node, Select
from penstock.expression.values import spoken


class Expression:
    """An expression over a scope of plain JSON; immutable, equal and hashed by its source."""

    __slots__ = ("_extra", "_limit", "_run", "_start", "guards", "reads", "roots", "source")

    source: str
    reads: tuple[tuple[str, ...], ...]
    guards: tuple[tuple[str, ...], ...]
    roots: frozenset[str]

    def __init__(
        self, source: str, node: Node, names: Collection[str] | None, start: int = 0, end: int | None = None
    ) -> None:
        builder = Builder(source, names)
        self._run = builder.build(node)
        self._extra = [None] * (builder.slots - 2)
        self._start = SourcePosition(source, node.at)
        self._limit = MAX_WHOLE_VALUE if _is_path(node) else MAX_RESULT
        self.source = source[start:end].strip()
        self.reads, self.guards = tuple(builder.reads), tuple(builder.guards)
        self.roots = frozenset(builder.roots)

    def __call__(self, scope: Mapping[str, Any]) -> Any:
        """The value in this scope as plain JSON; raises EvaluationError where there is none."""
        return self.spend([scope, 0, *self._extra] if self._extra else [scope, 0])

    def holds(self, scope: Mapping[str, Any]) -> bool:
        """Whether the condition holds; a value that is not a bool is an EvaluationError."""
        value = self(scope)
        if value is True or value is False:
            return value
        message = f"a condition must be true or false, and this one is {spoken(value)}"
        raise Fault("not_bool", message, self._start).error()

    def env(self, scope: Mapping[str, Any]) -> Env:
        """What `spend` needs, with nothing spent yet."""
        return [scope, 0, *self._extra]

    def spend(self, env: Env) -> Any:
        """The value, with the units it took left in `env`."""
        try:
            value = self._run(env)
            if value is True or value is False:
                return value
            return plain(value, self._limit)
        except Fault as fault:
            fault.place = fault.place or self._start
            raise fault.error() from None
        except RecursionError:
            raise Fault("too_deep", "the data is nested too deep", self._start).error() from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.source == other.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"


def _is_path(node: Node) -> bool:
    """Whether the value is only passed on, such as `steps["a"].output` or `data.files[0]`."""
    while isinstance(node, Select | Index):
        node = node.operand
    return isinstance(node, Name)


def compile_expression(source: str, names: Collection[str] | None = None) -> Expression:
    """The expression of a source text over the variables `names` (None: any); raises ExpressionError."""
    node, _ = parse(source)
    return Expression(source, node, names)
