"""What a task offers to the palette: its name, ports, parameters. The same for Python, HTTP and built-in ones."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Offer(Struct, frozen=True, kw_only=True):
    """One task as the palette shows it and the checks know it."""

    name: str
    ports: tuple[str, ...] = ("done", "failed")
    title: str = ""
    doc: str = ""
    parameters: dict[str, Any] = {}  # JSON Schema of `with`
    task_list: str | None = None
    output: dict[str, Any] | None = None  # JSON Schema of what it gives on `done`
    outputs: dict[str, dict[str, Any]] = {}  # those of its other ports
    sets: dict[str, Any] | None = None  # JSON Schema of what it sets on the run's data
    resumes: bool = False  # an attempt goes on where one before it was: to lose one costs none

    @property
    def schemas(self) -> dict[str, dict[str, Any]]:
        """The schemas of what it gives, by port; a port that is missing may give anything."""
        return self.outputs if self.output is None else {"done": self.output, **self.outputs}
