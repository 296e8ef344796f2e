"""`mail`: one mail through the mail server of the installation."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from collections.abc import Iterable, Mapping
from email.message import EmailMessage
from email.utils import formataddr, formatdate, getaddresses, parseaddr
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from msgspec import Struct

from penstock.boxes.failures import Failing, wrong
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.model.run_input import Done, Outcome
from penstock.workers.context import Context

SMTP_TIMEOUT = 30.0
MAX_ADDRESSES = 100
"""Addresses that one mail may go to."""


class Server(Struct, frozen=True):
    """A mail server: `smtp://user:password@host:587?starttls=yes&from=a@b.example`, or `smtps://…`."""

    host: str
    port: int
    secure: bool = False
    starttls: bool = False
    user: str | None = None
    password: str | None = None
    sender: str | None = None

    @property
    def writes_as(self) -> str:
        """The default sender; the user name may be a key (`apikey`, `AKIA…`), which is no address."""
        user = self.user if self.user is not None and "@" in self.user else None
        return self.sender or user or f"penstock@{self.host}"

    @classmethod
    def of(cls, url: str) -> Server:
        """Raises ValueError with the end of a sentence."""
        parts = urlsplit(url)
        if parts.scheme not in ("smtp", "smtps", "smtp+starttls") or not parts.hostname:
            raise ValueError(
                "is no mail server: write it like smtp://user:password@mail.example:587?starttls=yes"
            )
        secure, asked = parts.scheme == "smtps", parse_qs(parts.query)
        starttls = parts.scheme == "smtp+starttls" or asked.get("starttls", ["no"])[0] in ("yes", "true", "1")
        return cls(
            parts.hostname,
            parts.port or (465 if secure else 587 if starttls else 25),
            secure,
            starttls,
            unquote(parts.username) if parts.username else None,
            unquote(parts.password) if parts.password else None,
            asked.get("from", [None])[0],
        )


async def send_mail(environment: TaskEnvironment, ctx: Context, **params: Any) -> Outcome:
    """One attempt of a `mail` step. Raises Failing."""
    message, to = _message(params, ctx.idempotency_key, server_of(environment))
    had = await _had(environment, ctx)
    codes = await deliver(environment, message, [each for each in to if each not in (*had.got, *had.refused)])
    refused = [each for each in to if each in had.refused or codes.get(each, 0) >= 500]
    got = [each for each in to if each in had.got or each not in (*codes, *refused)]
    if any(code < 500 for code in codes.values()):
        # For the next attempt: who got the mail must not get it again because another was put off.
        if environment.parts.jobs is not None:
            await environment.parts.jobs.keep(ctx, msgspec.json.encode(Had(got, refused)).decode())
        raise _refused(codes)
    if not got:
        raise _refused(codes)
    for each in refused:
        ctx.log.warning("the mail server refuses %s; the others got the mail", each)
    return Done(output={"to": got, "refused": refused, "message_id": str(message["Message-ID"])})


class Had(Struct, frozen=True):
    """To whom the attempts before this one have sent the mail, and who was refused for good."""

    got: list[str] = []
    refused: list[str] = []


async def _had(environment: TaskEnvironment, ctx: Context) -> Had:
    kept = (
        await environment.parts.jobs.known(ctx) if environment.parts.jobs is not None and ctx.again else None
    )
    return Had() if kept is None else msgspec.json.decode(kept, type=Had)


def server_of(environment: TaskEnvironment) -> Server:
    """Raises Failing."""
    if environment.smtp_url is None:
        raise wrong(
            "there is no mail server: an administrator can set `smtp_url`, such as smtp://mail.example"
        )
    try:
        return Server.of(environment.smtp_url)
    except ValueError as error:
        raise wrong(f"`smtp_url` {error}") from None


async def tell_by_mail(environment: TaskEnvironment, to: Any, subject: str, text: str, key: str) -> None:
    """A mail of the engine itself, such as a reminder. Raises Failing."""
    message, addresses = _message({"to": to, "subject": subject, "text": text}, key, server_of(environment))
    codes = await deliver(environment, message, addresses)
    if all(each in codes for each in addresses):
        raise _refused(codes)


def _message(params: Mapping[str, Any], key: str, server: Server) -> tuple[EmailMessage, list[str]]:
    to, copies = addresses(params.get("to"), "to"), addresses(params.get("cc"), "cc")
    if not to:
        raise wrong("`mail` needs `to`: one address or several")
    if len(to) + len(copies) > MAX_ADDRESSES:
        raise wrong(f"a mail goes to {MAX_ADDRESSES} addresses at most: send several")
    message = EmailMessage()
    message["From"] = addresses(params.get("from") or server.writes_as, "from")[0]
    message["To"] = ", ".join(to)
    if copies:
        message["Cc"] = ", ".join(copies)
    if params.get("reply_to"):
        message["Reply-To"] = addresses(params["reply_to"], "reply_to")[0]
    message["Subject"] = _line(params.get("subject") or "", "subject")
    message["Date"] = formatdate()
    # The same over all attempts: mail readers recognise a mail that was sent twice.
    message["Message-ID"] = f"<{key}@penstock.invalid>"
    message.set_content(str(params.get("text") or ""))
    return message, [parseaddr(each)[1] for each in (*to, *copies)]


def addresses(value: Any, what: str) -> list[str]:
    """Mail addresses, each in one line. Raises Failing."""
    given: Iterable[Any] = [value] if isinstance(value, str) else value or []
    found: list[str] = []
    for each in given:
        if not isinstance(each, str):
            raise wrong(f"`{what}` must be one address or several, as texts")
        for name, address in getaddresses([_line(each, what)]):
            if "@" not in address or address.startswith("@") or any(sign in address for sign in " \t<>\"'"):
                raise wrong(
                    f"`{what}` has {(address or name or each).strip()[:80]!r}, which is no mail address"
                )
            if not address.isascii():
                raise wrong(
                    f"`{what}` has {address[:80]!r}: write the domain of an address in its ASCII form (xn--…)"
                )
            found.append(formataddr((name, address)))
    return found


def _line(text: Any, what: str) -> str:
    """A text that stays one line: a line end would begin another header."""
    if not isinstance(text, str):
        raise wrong(f"`{what}` must be a text")
    if len(text.splitlines()) > 1 or text != text.rstrip("\r\n\v\f\x85\u2028\u2029") or "\0" in text:
        raise wrong(f"`{what}` has a line end in it: a mail's head has one line for each thing")
    return text


async def deliver(environment: TaskEnvironment, message: EmailMessage, to: list[str]) -> dict[str, int]:
    """Whom the server refused, and by which code; the others got the mail. Raises Failing."""
    server = server_of(environment)
    try:
        return await asyncio.to_thread(_deliver, server, message, to)
    except smtplib.SMTPResponseException as error:
        said = error.smtp_error
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
        raise _failing(f"answered {error.smtp_code} {said[:200]}", error.smtp_code) from None
    except (smtplib.SMTPException, OSError) as error:
        raise Failing(f"the mail server {server.host} cannot be used now: {error}") from None


def _refused(codes: Mapping[str, int]) -> Failing:
    """The recipients to retry; if there are none, those that are rejected for good."""
    later = [each for each, code in codes.items() if code < 500]
    if later:
        return _failing(f"puts off {', '.join(later)[:200]}", codes[later[0]])
    return _failing(f"refuses {', '.join(codes)[:200]}", 550)


def _failing(what: str, code: int) -> Failing:
    final = code >= 500
    return Failing(f"the mail server {what}", "fatal" if final else "error", retry=not final)


def _deliver(server: Server, message: EmailMessage, to: list[str]) -> dict[str, int]:
    trust = ssl.create_default_context()
    if server.secure:
        client: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=SMTP_TIMEOUT, context=trust)
    else:
        client = smtplib.SMTP(server.host, server.port, timeout=SMTP_TIMEOUT)
    with client:
        if server.starttls:
            client.starttls(context=trust)
        if server.user is not None:
            client.login(server.user, server.password or "")
        try:
            refused = client.send_message(message, to_addrs=to)
        except smtplib.SMTPRecipientsRefused as error:
            refused = error.recipients
        return {address: code for address, (code, _) in refused.items()}
