"""What can be wrong with secrets and their keys. One sentence each, with the remedy; nothing is changed.

PenstockError
├── SecretKeyError       the key of the secrets is missing, is open to others, or is another one
│   ├── KeysElsewhere    the keys are where only a person can put another one
│   └── DamagedSecret    a row is not as it was sealed
└── NotFound
    └── UnknownSecret
"""

from __future__ import annotations

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import NotFound


class SecretKeyError(PenstockError):
    """The key of the secrets is missing, is open to others, or is another one: another node may have it."""

    code = "secret_key"


class KeysElsewhere(SecretKeyError):
    """The keys are where only a person can put another one: in a variable, or on several nodes."""

    code = "keys_elsewhere"


class DamagedSecret(SecretKeyError):
    """A row is not as it was sealed."""

    code = "damaged_secret"

    def __init__(self, name: str) -> None:
        super().__init__(f"the secret '{name}' is not as it was sealed: set it again")


class UnknownSecret(NotFound):
    """There is no such secret."""

    code = "unknown_secret"

    def __init__(self, name: str) -> None:
        super().__init__(f"no secret is named '{name}': set it with `penstock secret set {name}`")
