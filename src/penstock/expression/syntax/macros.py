"""Calls that are syntax and no functions: `has`, and the loops over lists and maps."""

from __future__ import annotations

from penstock.expression.errors import Place
from penstock.expression.syntax.syntax import Call, Constant, Index, Loop, Name, Node, Select

_LOOPS = {"all": (2,), "exists": (2,), "exists_one": (2,), "existsOne": (2,), "filter": (2,), "map": (2, 3)}


def has_argument(call: Call, source: str) -> Node:
    """`has(a.b)` as the test of a selection."""
    argument = call.arguments[0] if len(call.arguments) == 1 else None
    if isinstance(argument, Index) and isinstance(argument.key, Constant) and type(argument.key.value) is str:
        return Select(argument.key.at, argument.operand, argument.key.value, test=True)
    if not isinstance(argument, Select) or argument.test:
        raise Place(source, call.at).refuse("bad_macro", "`has` takes one selection such as `has(data.size)`")
    return Select(argument.at, argument.operand, argument.field, test=True)


def expand(call: Call, target: Node, source: str) -> Node:
    """The loop that a call of a macro stands for; any other call as it is."""
    counts = _LOOPS.get(call.name)
    if counts is None:
        return call
    place = Place(source, call.at)
    if len(call.arguments) not in counts:
        raise place.refuse(
            "bad_macro",
            f"`{call.name}` takes a variable and an expression, as in `list.{call.name}(x, x > 1)`",
        )
    variable, *bodies = call.arguments
    if not isinstance(variable, Name):
        raise place.refuse(
            "bad_macro", f"the first argument of `{call.name}` must be a plain name for each item"
        )
    kind = "exists_one" if call.name == "existsOne" else call.name
    transform = bodies[-1] if kind == "map" else None
    condition = bodies[0] if kind != "map" or len(bodies) == 2 else None
    return Loop(call.at, kind, target, variable.name, condition, transform)
