"""The address of a bus: where the broker is, and the options in the query of the URL."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, unquote, urlsplit

from msgspec import Struct

from penstock.flow.values.duration import parse_duration
from penstock.topics.errors import BadBus

KINDS = ("nats", "amqp", "amqps", "kafka")


class Address(Struct, frozen=True):
    """An address taken apart; `url` is all of it, `servers` the URL without the query, `options` the query."""

    url: str
    scheme: str
    hosts: str
    user: str | None
    password: str | None
    path: str
    options: dict[str, str]

    @property
    def servers(self) -> str:
        """The URL that a client takes."""
        who = ""
        if self.user is not None:
            secret = "" if self.password is None else f":{quote(self.password, safe='')}"
            who = f"{quote(self.user, safe='')}{secret}@"
        return f"{self.scheme}://{who}{self.hosts}{self.path}"

    def seconds(self, name: str, default: float) -> float:
        """An option that is a duration. Raises BadBus."""
        if name not in self.options:
            return default
        try:
            return parse_duration(self.options[name]).total_seconds()
        except (ValueError, TypeError):
            raise BadBus(self.url, f"`{name}` must be a duration such as 10s") from None

    def choice(self, name: str, *known: str) -> str:
        """An option that is one of a few words; the first where it is not said. Raises BadBus."""
        said = self.options.get(name, known[0])
        if said not in known:
            raise BadBus(self.url, f"`{name}` must be {' or '.join(known)}")
        return said

    def reject_unknown(self, *known: str) -> None:
        """Raises BadBus for an option that means nothing here."""
        for name in self.options:
            if name not in known:
                raise BadBus(self.url, f"it has no option `{name}`: there is {', '.join(known)}")


def read_address(url: str) -> Address:
    """Raises BadBus."""
    if not isinstance(url, str):
        raise BadBus(str(url), "it must be a text such as nats://127.0.0.1:4222")
    try:
        parts = urlsplit(url)
        options = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise BadBus(url, str(error)) from None
    if parts.scheme not in KINDS:
        raise BadBus(url, "it must begin with nats://, amqp://, amqps:// or kafka://")
    who, _, hosts = parts.netloc.rpartition("@")
    if not hosts:
        raise BadBus(url, f"it names no host: write {parts.scheme}://HOST:PORT")
    user, colon, password = who.partition(":")
    return Address(
        url=url,
        scheme=parts.scheme,
        hosts=hosts,
        user=unquote(user) if who else None,
        password=unquote(password) if colon else None,
        path=parts.path,
        options=dict(options),
    )
