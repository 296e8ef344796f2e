"""`mail`: through a real SMTP server."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from penstock.boxes.mail import Server, _message
from tests.boxes.conftest import site
from tests.waiting import until


class Postbox:
    """Keeps what it gets; refuses mail to no@."""

    def __init__(self) -> None:
        self.got: list[Envelope] = []
        self.late = 0

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: Any
    ) -> str:
        if address.startswith("no@"):
            return "550 nobody here"
        if address.startswith("later@"):
            return "451 try later"
        if address.startswith("second@") and self.late == 0:
            self.late += 1
            return "451 try later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        self.got.append(envelope)
        return "250 OK"


@pytest.fixture
def post() -> Iterator[tuple[Postbox, str]]:
    box = Postbox()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield box, f"smtp://127.0.0.1:{port}?from=robot@penstock.example"
    finally:
        controller.stop()


async def mailed(folder: Path, smtp: str | None, input: Any = None, **params: Any) -> dict[str, Any]:
    async with site(folder, smtp_url=smtp) as here:
        step = {"task": "mail", "with": params, "fails": "bad", "retries": 1, "backoff": {"initial": "1ms"}}
        run = await here.run({"steps": {"m": step}}, input)
        found: dict[str, Any] = run["steps"]["m"]
        return found


def test_a_mail_is_sent_to_all_who_are_named(post: tuple[Postbox, str], tmp_path: Path) -> None:
    box, smtp = post

    step = asyncio.run(
        mailed(
            tmp_path,
            smtp,
            {"user": "ann@example.com"},
            to=["${ data.user }", "Bob Brown <bob@example.com>"],
            cc="eve@example.com",
            reply_to="r@example.com",
            subject="Grüße: video ${ data.user }",
            text="Es ist fertig.\nZeile zwei.",
        )
    )

    [envelope] = box.got
    message = message_from_bytes(envelope.content, policy=policy.default)  # type: ignore[arg-type]
    assert step["status"] == "complete"
    assert envelope.rcpt_tos == ["ann@example.com", "bob@example.com", "eve@example.com"]
    assert message["Subject"] == "Grüße: video ann@example.com"
    assert (message["From"], message["Cc"], message["Reply-To"]) == (
        "robot@penstock.example",
        "eve@example.com",
        "r@example.com",
    )
    assert message.get_content().split() == ["Es", "ist", "fertig.", "Zeile", "zwei."]
    assert step["output"]["to"] == envelope.rcpt_tos


@pytest.mark.parametrize(
    "params",
    [
        {"to": "a@example.com\nBcc: evil@example.com"},
        {"to": "a@example.com", "subject": "hi\r\nBcc: evil@example.com"},
        {"to": "a@example.com", "reply_to": "x@example.com\nX-Evil: 1"},
        {"to": "a@example.com", "subject": "one\u2028two"},
        {"to": "nobody"},
        {"to": []},
    ],
)
def test_a_line_end_in_the_head_and_what_is_no_address_are_refused(
    params: dict[str, Any], post: tuple[Postbox, str], tmp_path: Path
) -> None:
    box, smtp = post
    given = {name: f"${{ data.{name} }}" for name in params}

    step = asyncio.run(mailed(tmp_path, smtp, params, **given))

    assert (step["status"], step["error"]["kind"], step["attempts"], box.got) == ("failed", "fatal", 1, [])


def test_who_is_refused_for_good_is_not_tried_again_and_who_is_put_off_is(
    post: tuple[Postbox, str], tmp_path: Path
) -> None:
    _, smtp = post

    gone = asyncio.run(mailed(tmp_path, smtp, to="no@example.com"))
    later = asyncio.run(mailed(tmp_path, smtp, to="later@example.com"))

    assert (gone["error"]["kind"], gone["attempts"]) == ("fatal", 1)
    assert (later["error"]["kind"], later["attempts"]) == ("error", 2)


def test_without_a_mail_server_the_remedy_is_told(tmp_path: Path) -> None:
    step = asyncio.run(mailed(tmp_path, None, to="a@example.com"))

    assert "set `smtp_url`" in step["error"]["message"]


def test_a_mail_server_that_is_away_is_tried_again(tmp_path: Path) -> None:
    step = asyncio.run(mailed(tmp_path, "smtp://127.0.0.1:1", to="a@example.com"))

    assert (step["status"], step["attempts"]) == ("failed", 2)


def test_people_are_told_and_reminded_by_mail(post: tuple[Postbox, str], tmp_path: Path) -> None:
    box, smtp = post

    async def main() -> None:
        async with site(tmp_path, smtp_url=smtp) as here:
            ask = {"text": "Publish?", "to": "boss@example.com", "remind": "100ms"}
            run = await here.run({"steps": {"ask": {"task": "approval", "with": ask}}})
            await until(lambda: len(box.got) >= 2, "the reminder")
            history = await here.engine.history(run["id"])

            subjects = [message_from_bytes(each.content)["Subject"] for each in box.got]  # type: ignore[arg-type]
            assert sorted(subjects) == ["Please decide: w, ask", "Reminder: please decide: w, ask"]
            assert [entry["data"].get("reminded") for entry in history if entry["kind"] == "attempt"] == [
                True
            ]
            assert (await here.engine.show(run["id"]))["status"] == "waiting"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail.example", Server("mail.example", 25)),
        ("smtps://a%40b:p%2Fw@mail.example", Server("mail.example", 465, True, False, "a@b", "p/w")),
        ("smtp://mail.example:2525?starttls=yes", Server("mail.example", 2525, False, True)),
        ("smtp+starttls://u:p@mail.example", Server("mail.example", 587, False, True, "u", "p")),
    ],
)
def test_the_address_of_a_mail_server_says_all(url: str, server: Server) -> None:
    assert Server.of(url) == server


@pytest.mark.parametrize(
    ("url", "sender"),
    [
        ("smtp://mail.example?from=robot@shop.example", "robot@shop.example"),
        ("smtp://ann%40shop.example:p@mail.example", "ann@shop.example"),
        ("smtp://apikey:p@mail.example", "penstock@mail.example"),
        ("smtp://mail.example", "penstock@mail.example"),
    ],
)
def test_a_mail_that_names_no_sender_has_one(url: str, sender: str) -> None:
    assert Server.of(url).writes_as == sender


def test_a_key_that_signs_in_is_not_taken_for_the_sender() -> None:
    message, _ = _message({"to": "a@example.com"}, "k", Server.of("smtp://apikey:p@mail.example"))

    assert message["From"] == "penstock@mail.example"


def test_a_name_with_a_comma_is_one_address_and_a_mail_has_its_date(
    post: tuple[Postbox, str], tmp_path: Path
) -> None:
    box, smtp = post

    step = asyncio.run(mailed(tmp_path, smtp, to='"Doe, Jane" <j@example.com>, k@example.com'))

    message = message_from_bytes(box.got[0].content, policy=policy.default)  # type: ignore[arg-type]
    assert step["output"]["to"] == ["j@example.com", "k@example.com"]
    assert abs(message["Date"].datetime.timestamp() - time.time()) < 600


def test_an_address_that_cannot_be_written_is_told_and_not_tried_again(
    post: tuple[Postbox, str], tmp_path: Path
) -> None:
    step = asyncio.run(mailed(tmp_path, post[1], to="jäne@example.com"))

    assert (step["error"]["kind"], step["attempts"]) == ("fatal", 1)
    assert "ASCII" in step["error"]["message"]


def test_who_is_refused_beside_others_is_told_and_the_others_get_one_mail(
    post: tuple[Postbox, str], tmp_path: Path
) -> None:
    box, smtp = post

    step = asyncio.run(mailed(tmp_path, smtp, to=["a@example.com", "no@example.com"]))

    assert (step["status"], step["output"]["to"], step["output"]["refused"], len(box.got)) == (
        "complete",
        ["a@example.com"],
        ["no@example.com"],
        1,
    )


def test_who_is_put_off_beside_others_is_tried_again_and_nobody_else(
    post: tuple[Postbox, str], tmp_path: Path
) -> None:
    box, smtp = post

    step = asyncio.run(mailed(tmp_path, smtp, to=["a@example.com", "second@example.com", "no@example.com"]))

    assert [each.rcpt_tos for each in box.got] == [["a@example.com"], ["second@example.com"]]
    assert (step["status"], step["attempts"]) == ("complete", 2)
    assert step["output"]["to"] == ["a@example.com", "second@example.com"]
    assert step["output"]["refused"] == ["no@example.com"]


def test_who_is_put_off_beside_one_who_is_refused_is_tried_again(
    post: tuple[Postbox, str], tmp_path: Path
) -> None:
    box, smtp = post

    step = asyncio.run(mailed(tmp_path, smtp, to=["no@example.com", "second@example.com"]))

    assert [each.rcpt_tos for each in box.got] == [["second@example.com"]]
    assert (step["status"], step["output"]["refused"]) == ("complete", ["no@example.com"])


def test_who_is_put_off_to_the_end_is_told(post: tuple[Postbox, str], tmp_path: Path) -> None:
    box, smtp = post

    step = asyncio.run(mailed(tmp_path, smtp, to=["a@example.com", "later@example.com"]))

    assert (step["status"], len(box.got)) == ("failed", 1)
    assert step["error"]["message"] == "the mail server puts off later@example.com"
