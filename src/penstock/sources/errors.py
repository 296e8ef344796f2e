"""Why a call of a hook is rejected. Nothing of such a call is stored; `reason` is what metrics count.

PenstockError
├── Unverified            nobody is known to have sent it; says no more, for a stranger reads it
│   └── Stale             it was signed too long ago, or in the future
├── Untrusted             it speaks for a topic, or points to a certificate, that is not on our list
├── CertificateAway       the certificate that it is signed with could not be fetched now
├── NotFound
│   └── UnknownHook       there is no such hook
├── Conflict
│   └── SourceStopped     the workflow takes no calls now
└── Invalid
    └── CallRefused       an expression of the hook or topic has no value for what came
"""

from __future__ import annotations

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import Conflict, Invalid, NotFound


class Unverified(PenstockError):
    """The call does not show who sent it."""

    code = "unverified"

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(message or "the call is not signed by the sender that this hook knows")
        self.reason = reason


class Stale(Unverified):
    """The call is genuine and too old, or from the future: it may be a replay."""

    code = "stale"

    def __init__(self) -> None:
        super().__init__("stale", "the call was signed too long ago, or in the future: send it again")


class Untrusted(PenstockError):
    """The call speaks for something that is not on the list of this hook."""

    code = "untrusted"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class CertificateAway(PenstockError):
    """Amazon, which the call must be checked against or confirmed to, does not answer; it may be sent again."""

    code = "certificate_away"

    def __init__(self, why: str) -> None:
        super().__init__(f"the sender could not be checked just now ({why}): send the call again")


class UnknownHook(NotFound):
    """No hook of that name."""

    code = "unknown_hook"

    def __init__(self, workflow: str, event: str | None) -> None:
        wanted = (
            "a source of kind webhook" if event is None else f"an event '{event}' that comes from a webhook"
        )
        super().__init__(f"there is no such hook: '{workflow}' does not have {wanted}")


class SourceStopped(Conflict):
    """The source of the workflow is stopped."""

    code = "source_stopped"

    def __init__(self, workflow: str) -> None:
        super().__init__(f"the source of '{workflow}' is stopped: start it with `penstock start-source`")


class CallRefused(Invalid):
    """An expression of the hook or topic has no value for what came, or one that cannot be used."""

    code = "call_refused"

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"`{key}` of this hook cannot be worked out for this call: {why}")
        self.key, self.why = key, why
