"""Expressions: the value of one on a sample, for authors who write conditions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from penstock.api.call import Calls, RequestContext
from penstock.api.wire.expressions import Evaluate, Evaluated
from penstock.expression import EvaluationError, ExpressionError, compile_expression, compile_template

calls = Calls("expressions")


@calls.post("/api/expressions", "author", takes=Evaluate, recorded=False, gives=Evaluated)
async def evaluate_expression(context: RequestContext[Evaluate, None]) -> Any:
    """What an expression comes to over the variables of `scope`; nothing is read or kept."""
    return evaluate(context.body)


def evaluate(asked: Evaluate) -> Evaluated:
    """The value, or the sentence that says why there is none; `now` is the time where the scope has no other."""
    scope = {"now": datetime.now(UTC), **asked.scope}
    compiler = compile_template if asked.template else compile_expression
    try:
        return Evaluated(value=compiler(asked.expression)(scope))
    except (ExpressionError, EvaluationError) as error:
        return Evaluated(error=str(error), code=error.code, line=error.line, column=error.column)
