"""Settings of a command: its options before the environment before `penstock.toml`."""

from __future__ import annotations

import os
from typing import Any

from penstock.server.settings import Settings, read_settings


def settings_of(**options: Any) -> Settings:
    """What is in force for a command with these options. Raises BadSettings."""
    return read_settings(options, variables=os.environ)
