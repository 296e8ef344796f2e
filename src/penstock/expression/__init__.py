"""The expression language of workflows: CEL over plain JSON, metered, with `${ … }` templates.

Not here: workflows. An expression knows only the values that it is given.
"""

from penstock.expression.errors import EvaluationError, ExpressionError
from penstock.expression.expression import Expression, compile_expression
from penstock.expression.template import Template, compile_template

__all__ = [
    "EvaluationError",
    "Expression",
    "ExpressionError",
    "Template",
    "compile_expression",
    "compile_template",
]
