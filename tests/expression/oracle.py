"""Google's CEL in a process of its own: expressions on stdin as JSON, one outcome a line on stdout.

It is run as a script, a few hundred expressions at a time: it aborts after some thousand null results.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from typing import Any


def spell(value: Any) -> str:
    """A value as text that tells types apart, the same for both implementations."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return f"{'int' if isinstance(value, int) else 'double'} {value}"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bytes | bytearray):
        return f"bytes {bytes(value).hex()}"
    if isinstance(value, timedelta):
        return f"duration {value // timedelta(microseconds=1)}"
    if isinstance(value, list):
        return "[" + ", ".join(spell(each) for each in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted(f"{spell(key)}: {spell(each)}" for key, each in value.items())) + "}"
    return f"time {value.isoformat()}"


def main() -> None:
    from cel_expr_python import cel

    scope, sources = json.load(sys.stdin)
    env = cel.NewEnv(variables=dict.fromkeys(scope, cel.Type.DYN))
    for source in sources:
        try:
            value = env.compile(source, disable_check=True).eval(data=scope)
            outcome = "error" if value.type().name() == "ERROR" else spell(value.plain_value())
        except (RuntimeError, OverflowError, ValueError) as problem:
            outcome = f"error {problem}" if "Syntax" in str(problem) else "error"
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main()
