"""The root of all errors. Those of callers are in `runtime/errors.py`, those of the database in `store/errors.py`."""

from __future__ import annotations


class PenstockError(Exception):
    """Root of all errors that Penstock raises on purpose."""

    code = "penstock"
