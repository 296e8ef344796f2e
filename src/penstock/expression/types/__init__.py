"""Static types of expressions: from schemas, of expressions and templates, how they fit, and what may be written where.

Not here: workflows, and data. A check knows only the types that it is given.
"""

from penstock.expression.types.checking import Checked, check, check_expression
from penstock.expression.types.completion import Item, complete, complete_template
from penstock.expression.types.fitting import Fit, fits
from penstock.expression.types.json_schema import SchemaType, read_schema
from penstock.expression.types.narrowing import Scope
from penstock.expression.types.problems import Problem
from penstock.expression.types.templates import CheckedTemplate, check_template

__all__ = [
    "Checked",
    "CheckedTemplate",
    "Fit",
    "Item",
    "Problem",
    "SchemaType",
    "Scope",
    "check",
    "check_expression",
    "check_template",
    "complete",
    "complete_template",
    "fits",
    "read_schema",
]
