"""The tasks of the worker in compose.yaml: put yours here."""

from __future__ import annotations

from penstock import task


@task("hello")
def hello(name: str = "world") -> str:
    """Greet."""
    return f"hello {name}"
