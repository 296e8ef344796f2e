"""What can be wrong with secrets and their keys. One sentence each, with the remedy; nothing is changed.

StoreUnavailable
└── SecretKeyError       the key of the secrets is missing, is open to others, or is another one
    └── KeysElsewhere    the keys are in a variable, where only a person can put another one
NotFound
└── UnknownSecret
"""

from __future__ import annotations

from penstock.runtime.errors import NotFound
from penstock.store.errors import StoreUnavailable


class SecretKeyError(StoreUnavailable):
    """The key of the secrets is missing, is open to others, or is another one: another node may have it."""

    code = "secret_key"

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, sentence)


class KeysElsewhere(SecretKeyError):
    """The keys are in a variable, where only a person can put another one."""

    code = "keys_elsewhere"


class UnknownSecret(NotFound):
    """There is no such secret."""

    code = "unknown_secret"

    def __init__(self, name: str) -> None:
        super().__init__(f"no secret is named '{name}': set it with `penstock secret set {name}`")
