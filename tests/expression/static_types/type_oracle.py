"""Google's type checker in a process of its own: cases on stdin as JSON, its verdict on each as a line on stdout."""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_strings

    def typed(spec: Any) -> Any:
        """A type as `"int"`, `["list", "int"]` or `["map", "string", "dyn"]` spells it."""
        if isinstance(spec, str):
            return getattr(cel.Type, spec.upper())
        make = cel.Type.List if spec[0] == "list" else cel.Type.Map
        return make(*map(typed, spec[1:]))

    extensions = [ext_strings.ExtStrings()]
    for source, variables in json.load(sys.stdin):
        env = cel.NewEnv(
            variables={name: typed(spec) for name, spec in variables.items()}, extensions=extensions
        )
        try:
            env.compile(source)
            verdict = ""
        except RuntimeError as problem:
            verdict = str(problem).partition("\n")[0]
        print(json.dumps(verdict), flush=True)


if __name__ == "__main__":
    main()
