"""Messages that are posted to a run and take effect later: inputs, and requests to start a child run."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, ValidationError
from msgspec.msgpack import Decoder

from penstock.flow.model.run_input import RunInput
from penstock.runtime.codec.decoder import CorruptRecord
from penstock.runtime.codec.format import encode


class StartChild(Struct, frozen=True, tag=True):
    """Begin a child run under the id that the message is for; its end is reported to `parent`."""

    parent: str
    workflow: str
    subject: str | None = None
    input: Any = None
    wait: bool = True


Message = RunInput | StartChild
_decode = Decoder(Message).decode


def encode_message(message: Message) -> bytes:
    return encode(message)


def decode_message(body: bytes) -> Message:
    """Raises Unreadable."""
    try:
        message: Message = _decode(body)
        return message
    except (ValidationError, ValueError) as error:
        raise CorruptRecord(str(error)) from error
