"""Syntax to closures: names are resolved, constants folded, and what the expression reads is noted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from penstock.expression import closures
from penstock.expression.closures import Run, call
from penstock.expression.errors import Fault, SourcePosition, nearest
from penstock.expression.functions import patterns
from penstock.expression.functions.arithmetic import negate
from penstock.expression.functions.equality import contains, equal, unequal
from penstock.expression.functions.functions import FUNCTIONS, MACROS, Function
from penstock.expression.limits import MAX_CHAIN, Env
from penstock.expression.syntax.syntax import (
    Call,
    Chain,
    Choice,
    Constant,
    Entries,
    Index,
    Items,
    Logic,
    Loop,
    Name,
    Node,
    Relation,
    Select,
    Unary,
)
from penstock.expression.values import NUMBERS, TYPES, map_key

_FIRST_SLOT = 2
_STEP_NODES = 16


class Builder:
    """Makes the closure of an expression, and notes what it reads, tests and keeps."""

    def __init__(self, source: str, names: Collection[str] | None) -> None:
        self.source, self.names = source, names
        self.reads: dict[tuple[str, ...], None] = {}
        self.guards: dict[tuple[str, ...], None] = {}
        self.roots: set[str] = set()
        self.slots = _FIRST_SLOT
        self.variables: dict[str, int] = {}
        self.depth = self.nodes = 0

    def build(self, node: Node) -> Run:
        """The closure of a part."""
        self.depth += 1
        self.nodes += 1
        if self.depth > MAX_CHAIN:
            raise self.place(node).error("too_deep", f"more than {MAX_CHAIN} parts in a row")
        run = _BUILD[node.__class__](self, node)
        self.depth -= 1
        return run

    def place(self, node: Node) -> SourcePosition:
        """Where a part stands."""
        return SourcePosition(self.source, node.at)

    # Constants

    def constant(self, node: Constant) -> Run:
        value = node.value
        return lambda env: value

    def items(self, node: Items) -> Run:
        if all(isinstance(item, Constant) for item in node.items):
            self.nodes += len(node.items)
            values = [item.value for item in node.items if isinstance(item, Constant)]
            return lambda env: values
        runs = tuple(self.build(item) for item in node.items)
        return lambda env: [run(env) for run in runs]

    def entries(self, node: Entries) -> Run:
        runs = tuple((self.build(key), self.build(value), self.place(key)) for key, value in node.entries)

        def run(env: Env) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key, value, place in runs:
                stored = _stored(key(env), place)
                if stored in made:
                    raise Fault("duplicate_key", "a key of this map is given twice", place)
                made[stored] = value(env)
            return made

        return run

    # Names and paths

    def name(self, node: Name) -> Run:
        slot = self.variables.get(node.name)
        if slot is not None:
            return lambda env: env[slot]
        found = self.type_named(node.name)
        if found is not None:
            return lambda env: found
        self.note((node.name,), node)
        return closures.read_root(node.name, self.place(node))

    def type_named(self, name: str) -> Any:
        return None if self.names is not None and name in self.names else TYPES.get(name)

    def note(self, path: tuple[str, ...], root: Node, guard: bool = False) -> None:
        if self.names is not None and path[0] not in self.names:
            hint = nearest(path[0], self.names)
            listed = "" if hint else f"; there are {', '.join(f'`{name}`' for name in sorted(self.names))}"
            raise self.place(root).error("unknown_name", f"there is no `{path[0]}` here{hint or listed}")
        self.roots.add(path[0])
        (self.guards if guard else self.reads)[path] = None

    def select(self, node: Select | Index) -> Run:
        if isinstance(node, Select) and node.test:
            return self.test(node)
        base, steps = self.literal_path(node)
        if steps is None:
            assert isinstance(node, Index)
            return closures.read_index(self.build(node.operand), self.build(node.key), self.place(node))
        slot = self.variables.get(base.name) if isinstance(base, Name) else None
        if slot is not None and len(steps.fields) == 1:
            return closures.read_item(slot, steps)
        if slot is not None or not isinstance(base, Name):
            return closures.read_below(self.build(base), steps)
        found = self.type_named(".".join((base.name, *steps.fields)))
        if found is not None:
            return lambda env: found
        self.note((base.name, *steps.fields), base)
        return closures.read_path(base.name, self.place(base), steps)

    def literal_path(self, node: Node) -> tuple[Node, closures.Steps | None]:
        fields: list[str] = []
        places: list[SourcePosition] = []
        while (step := _literal_step(node)) is not None:
            node, field, at = step
            fields.append(field)
            places.append(SourcePosition(self.source, at))
        spelled = node.name if isinstance(node, Name) else "this value"
        steps = closures.Steps(spelled, tuple(reversed(fields)), tuple(reversed(places))) if fields else None
        return node, steps

    def test(self, node: Select) -> Run:
        base, steps = self.literal_path(node.operand)
        place = self.place(node)
        if not isinstance(base, Name) or base.name in self.variables:
            return closures.test_field(self.build(node.operand), node.field, place)
        fields = steps.fields if steps else ()
        self.note((base.name, *fields, node.field), base, guard=True)
        root = self.place(base)
        read = closures.read_path(base.name, root, steps) if steps else closures.read_root(base.name, root)
        return closures.test_field(read, node.field, place)

    # Operators

    def unary(self, node: Unary) -> Run:
        operand, place = self.build(node.operand), self.place(node)
        return closures.invert(operand, place) if node.operator == "!" else call(negate, [operand], place)

    def chain(self, node: Chain) -> Run:
        first = self.build(node.first)
        rest = [(sign, self.build(term), SourcePosition(self.source, at)) for sign, at, term in node.rest]
        return closures.calculate(first, rest)

    def logic(self, node: Logic) -> Run:
        return closures.decided_by(
            node.operator, [(self.build(each), self.place(each)) for each in node.terms]
        )

    def choice(self, node: Choice) -> Run:
        cases = [(self.build(test), self.build(value), self.place(test)) for test, value in node.cases]
        return closures.choose(cases, self.build(node.default))

    def relation(self, node: Relation) -> Run:
        left, right = self.build(node.left), self.build(node.right)
        place, sign = self.place(node), node.operator
        value = node.right.value if isinstance(node.right, Constant) else None
        if sign == "in":
            texts = _texts(node.right)
            return closures.one_of_texts(left, texts) if texts else call(contains, [left, right], place)
        if sign in ("==", "!="):
            if value.__class__ is str:
                return closures.equals_text(left, value, sign == "==")
            if value.__class__ in NUMBERS:
                return closures.equals_number(left, value, sign == "==")
            return call(equal if sign == "==" else unequal, [left, right], place)
        if value.__class__ in NUMBERS:
            return closures.compare_number(sign, left, value, place)
        return closures.compare(sign, left, right, place)

    # Calls and loops

    def call(self, node: Call) -> Run:
        function = FUNCTIONS.get(node.name)
        arguments = (*((node.target,) if node.target else ()), *node.arguments)
        self.require(function, node, len(arguments))
        assert function is not None
        if node.name in ("matches", "glob") and isinstance(arguments[1], Constant):
            return self.pattern(node.name, arguments[0], arguments[1])
        return call(function.run, [self.build(argument) for argument in arguments], self.place(node))

    def require(self, function: Function | None, node: Call, count: int) -> None:
        place, name = self.place(node), node.name
        if function is None:
            hint = nearest(name, (*FUNCTIONS, *MACROS))
            raise place.error("unknown_function", f"there is no function `{name}`{hint}")
        if not (function.method if node.target else function.free):
            written = f"`value.{name}(...)`" if function.method else f"`{name}(...)`"
            raise place.error("unknown_function", f"`{name}` is written as {written}")
        if not function.minimum <= count <= function.maximum:
            minimum, maximum = (n - (node.target is not None) for n in (function.minimum, function.maximum))
            wanted = f"{minimum}" if minimum == maximum else f"{minimum} to {maximum}"
            takes = f"`{name}` takes {wanted} argument{'s' * (wanted != '1')}"
            raise place.error("wrong_arguments", f"{takes}, not {len(node.arguments)}")

    def pattern(self, name: str, text: Node, pattern: Constant) -> Run:
        place, read = self.place(pattern), self.build(text)
        if pattern.value.__class__ is not str:
            raise place.error("bad_regex", "a pattern is a string")
        try:
            compiled = (patterns.compile_glob if name == "glob" else patterns.compile_pattern)(pattern.value)
        except Fault as fault:
            raise place.error(fault.code, fault.message) from None
        return call(lambda env, value: patterns.search(env, compiled, value), [read], place)

    def loop(self, node: Loop) -> Run:
        over = self.build(node.over)
        before, hidden, slot = self.nodes, self.variables.get(node.variable), self.slots
        self.slots = slot + 1
        self.variables[node.variable] = slot
        condition = self.build(node.condition) if node.condition else None
        result = self.build(node.transform) if node.transform else None
        if hidden is None:
            del self.variables[node.variable]
        else:
            self.variables[node.variable] = hidden
        body = closures.Body(over, slot, 1 + (self.nodes - before) // _STEP_NODES, self.place(node))
        return _loop(node.kind, body, condition, result)


def _loop(kind: str, body: closures.Body, condition: Run | None, result: Run | None) -> Run:
    if result is not None:
        return closures.transform(body, condition, result)
    assert condition is not None
    if kind == "filter":
        return closures.keep(body, condition)
    if kind == "exists_one":
        return closures.exactly_one(body, condition)
    return closures.decide(body, condition, stop=kind == "exists")


def _literal_step(node: Node) -> tuple[Node, str, int] | None:
    if isinstance(node, Select) and not node.test:
        return node.operand, node.field, node.at
    if isinstance(node, Index) and isinstance(node.key, Constant) and node.key.value.__class__ is str:
        return node.operand, node.key.value, node.key.at
    return None


def _stored(key: Any, place: SourcePosition) -> Any:
    try:
        return map_key(key)
    except Fault as fault:
        fault.place = place
        raise


def _texts(node: Node) -> frozenset[str] | None:
    """The strings of a list literal that holds nothing else."""
    if not isinstance(node, Items):
        return None
    values = [item.value for item in node.items if isinstance(item, Constant) and item.value.__class__ is str]
    return frozenset(values) if values and len(values) == len(node.items) else None


_BUILD: dict[type[Node], Callable[[Builder, Any], Run]] = {
    Constant: Builder.constant,
    Items: Builder.items,
    Entries: Builder.entries,
    Name: Builder.name,
    Select: Builder.select,
    Index: Builder.select,
    Unary: Builder.unary,
    Chain: Builder.chain,
    Logic: Builder.logic,
    Choice: Builder.choice,
    Relation: Builder.relation,
    Call: Builder.call,
    Loop: Builder.loop,
}
