"""Secrets: written and never read back, sealed in the store, and blotted out of what people see."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import os
import re
import stat
import subprocess
import time
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from penstock.access.access import Access, SecretView
from penstock.access.caller import ANYBODY_HERE, Caller
from penstock.access.errors import Forbidden, InvalidAccess
from penstock.runtime.dispatch.redaction import WITHHELD, withhold
from penstock.secrets.errors import KeysElsewhere, SecretKeyError, UnknownSecret
from penstock.secrets.keys import Keyring, Keys
from penstock.secrets.redaction import Redactor
from penstock.secrets.vault import Vault, sealed_with
from penstock.store.errors import StoreAway
from penstock.store.open import open_store
from penstock.store.protocol import Store
from penstock.store.rows.access import SecretRow
from tests.store.builders import NOON
from tests.store.places import Place, SqliteFile

VALUE = 'pässwörd/+& "quoted" ~secret'
KEY, OTHER = b"k" * 32, b"o" * 32


def variable(*keys: bytes) -> str:
    return ",".join(base64.b64encode(key).decode() for key in keys)


async def test_a_secret_is_resolved_for_dispatch_and_shown_only_by_name(access: Access) -> None:
    first = await access.set_secret(ANYBODY_HERE, "smtp", "first value")
    second = await access.set_secret(ANYBODY_HERE, "smtp", VALUE)

    assert [first, second] == [SecretView("smtp", version, NOON, first.key) for version in (1, 2)]
    assert await access.list_secrets("", 10) == (second,)
    assert SecretView.__struct_fields__ == ("name", "version", "updated_at", "key")
    assert await access.vault.resolve(["smtp"]) == {"smtp": VALUE}


async def test_an_unknown_secret_is_told_by_its_name(access: Access) -> None:
    await access.set_secret(ANYBODY_HERE, "smtp", VALUE)
    await access.delete_secret(ANYBODY_HERE, "smtp")

    with pytest.raises(UnknownSecret, match="no secret is named 'smtp'"):
        await access.vault.resolve(["smtp"])
    with pytest.raises(UnknownSecret):
        await access.delete_secret(ANYBODY_HERE, "smtp")
    assert await access.vault.resolve([]) == {}


async def test_only_an_admin_sets_and_deletes_secrets(access: Access, keys: Keys) -> None:
    author = Caller(name="eve", role="author")

    with pytest.raises(Forbidden):
        await access.set_secret(author, "smtp", VALUE)
    with pytest.raises(Forbidden):
        await access.delete_secret(author, "smtp")
    with pytest.raises(Forbidden):
        await access.rotate_key(author)
    assert not keys.path.exists()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("", "x", "'' cannot name a secret"),
        ("a b", "x", "'a b' cannot name a secret"),
        ("a", "", "has 0 bytes: use 1 to 65536"),
        ("a", "x" * 65537, "has 65537 bytes"),
        ("a", "\ud800", "half a surrogate pair"),
    ],
)
@pytest.mark.parametrize("kind", ["model"])
async def test_a_secret_that_makes_no_sense_is_not_set(
    access: Access, name: str, value: str, said: str
) -> None:
    with pytest.raises(InvalidAccess, match=said):
        await access.set_secret(ANYBODY_HERE, name, value)


@pytest.mark.parametrize("kind", ["sqlite"])
async def test_no_byte_of_the_database_has_a_secret_in_it(access: Access, place: Place) -> None:
    await access.set_secret(ANYBODY_HERE, "smtp", "correct-horse-battery")

    assert isinstance(place, SqliteFile)
    files = Path(place.url).parent.glob("penstock.db*")
    found = b"".join(file.read_bytes() for file in files)
    assert b"smtp" in found and b"correct-horse" not in found


async def test_the_record_has_no_hash_that_tells_a_short_secret(access: Access, store: Store) -> None:
    for _ in range(2):
        await access.set_secret(ANYBODY_HERE, "pin", "1234")

    first, second = [entry.row.after for entry in (await store.audits(10, after=0)).entries]
    assert first != second


def test_the_key_is_made_with_the_first_secret_for_its_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        keys = Keys(tmp_path / "penstock.key")
        with pytest.raises(SecretKeyError, match=r"penstock\.key' cannot be read"):
            keys.keyring()
        made = keys.keyring(make=True)
    finally:
        os.umask(old)

    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["penstock.key"]
    assert keys.keyring().current == keys.keyring(make=True).current == made.current


def test_a_key_that_cannot_be_written_is_one_sentence_with_the_remedy(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "gone" / "penstock.key")

    with pytest.raises(SecretKeyError, match=r"cannot be written .* set PENSTOCK_SECRET_KEY"):
        keys.keyring(make=True)


def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    keys = Keys(tmp_path / "penstock.key")
    keys.keyring(make=True)
    keys.path.chmod(0o640)

    with pytest.raises(SecretKeyError, match=r"can be read by others: run `chmod 600"):
        keys.keyring(make=True)


@pytest.mark.parametrize("text", ["", "short", "a" * 44, base64.b64encode(b"k" * 16).decode(), "ä"])
def test_what_is_no_key_is_refused_from_both_places(tmp_path: Path, text: str) -> None:
    path = tmp_path / "penstock.key"
    path.write_text(text)
    path.chmod(0o600)

    with pytest.raises(SecretKeyError, match=r"is no key: it takes 32 bytes|cannot be read"):
        Keys(path).keyring()
    with pytest.raises(SecretKeyError, match="PENSTOCK_SECRET_KEY is no key"):
        Keys(path, text).keyring()


def test_what_is_no_key_is_noticed_before_there_is_a_secret(tmp_path: Path) -> None:
    async def main() -> None:
        store = await open_store(str(tmp_path / "p.db"))
        try:
            with pytest.raises(SecretKeyError, match="PENSTOCK_SECRET_KEY is no key"):
                await sealed_with(store, Keys(tmp_path / "penstock.key", "garbage"))
            assert await sealed_with(store, Keys(tmp_path / "penstock.key")) == {}
        finally:
            await store.close()

    asyncio.run(main())


def test_openssl_makes_a_key(tmp_path: Path) -> None:
    made = subprocess.run(["openssl", "rand", "-base64", "32"], capture_output=True, text=True, check=True)

    ring = Keys(tmp_path / "penstock.key", made.stdout).keyring()

    assert ring.unseal("a", *ring.seal("a", VALUE)) == VALUE


def test_a_sealed_secret_opens_under_its_own_name_and_key_alone() -> None:
    ring = Keyring([KEY])
    key, sealed = ring.seal("a", VALUE)
    changed = [
        sealed[:n] + bytes([sealed[n] ^ 1]) + sealed[n + 1 :] for n in (1, 20, 61, 75, len(sealed) - 1)
    ]

    assert ring.unseal("a", key, sealed) == VALUE
    with pytest.raises(SecretKeyError, match="the secret 'b' is not as it was sealed"):
        ring.unseal("b", key, sealed)
    for other in (*changed, sealed[:30], sealed[:1]):
        with pytest.raises(SecretKeyError, match="is not as it was sealed"):
            ring.unseal("a", key, other)
    with pytest.raises(SecretKeyError, match="in a way that this Penstock does not know"):
        ring.unseal("a", key, b"\x02" + sealed[1:])
    with pytest.raises(SecretKeyError, match=f"sealed with the key {key}, which is not here"):
        Keyring([OTHER]).unseal("a", key, sealed)


def test_no_two_seals_are_the_same() -> None:
    ring = Keyring([KEY])

    assert len({ring.seal("a", VALUE) for _ in range(50)}) == 50


async def test_a_new_key_seals_all_anew_and_the_values_stay(
    access: Access, elsewhere: Access, keys: Keys, store: Store
) -> None:
    for n in range(3):
        await access.set_secret(ANYBODY_HERE, f"s{n}", f"value {n}")
    old = keys.keyring().current

    count = await access.rotate_key(ANYBODY_HERE)

    new = keys.keyring().current
    assert (count, new != old) == (3, True)
    assert [row.key_id for row in await store.secrets(limit=10)] == [new] * 3
    assert await elsewhere.vault.resolve(["s0", "s2"]) == {"s0": "value 0", "s2": "value 2"}
    assert [view.version for view in await access.list_secrets("", 10)] == [1, 1, 1]
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o600
    assert [path.name for path in keys.path.parent.glob("*.key*")] == ["penstock.key"]


async def test_a_rotation_that_was_interrupted_can_be_finished(
    access: Access, keys: Keys, store: Store
) -> None:
    await access.set_secret(ANYBODY_HERE, "a", VALUE)
    keys.add()

    before = await access.vault.resolve(["a"])
    counts = [await access.vault.reseal(), await access.vault.reseal()]

    assert (before, counts) == ({"a": VALUE}, [1, 0])
    assert [row.key_id for row in await store.secrets(limit=10)] == [keys.keyring().current]


async def test_what_is_set_while_all_is_sealed_anew_is_sealed_anew_too(
    access: Access, store: Store, keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        await access.set_secret(ANYBODY_HERE, name, VALUE)
    old, put = keys.keyring(), store.put_secret
    ring = keys.add()
    set_again: list[str] = []

    async def resealed(name: str, key_id: str, sealed: bytes, *, was: bytes) -> SecretRow | None:
        done = await put(name, key_id, sealed, was=was)
        if (
            name == "a" and key_id not in set_again
        ):  # a node that looked before sets it again, and "b" still has the old key
            set_again.append(key_id)
            await put("a", *old.seal("a", VALUE), ring.ids)
        return done

    monkeypatch.setattr(store, "put_secret", resealed)
    await access.vault.reseal(ring)

    monkeypatch.undo()
    assert list(await store.secret_keys()) == [ring.current]


async def test_keys_of_a_variable_are_rotated_there(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "penstock.key"
    old = Access(store, Vault(store, Keys(path, variable(KEY))))
    new = Access(store, Vault(store, Keys(path, variable(OTHER, KEY))))
    await old.set_secret(ANYBODY_HERE, "a", VALUE)

    with pytest.raises(SecretKeyError, match="a new key must be on every node"):
        await old.rotate_key(ANYBODY_HERE)
    assert (await new.vault.reseal(), await new.vault.resolve(["a"])) == (1, {"a": VALUE})
    assert await Vault(store, Keys(path, variable(OTHER))).resolve(["a"]) == {"a": VALUE}
    assert not path.exists()


@pytest.mark.parametrize(
    "shown",
    [
        VALUE,
        quote(VALUE, safe=""),
        quote(VALUE),
        VALUE.replace('"', '\\"'),
        VALUE.replace('"', '\\"').replace("/", "\\/"),
        quote(VALUE, safe="!'()*"),
        re.sub("%..", lambda found: found[0].lower(), quote(VALUE, safe="")),
        base64.b64encode(VALUE.encode()).decode(),
        base64.urlsafe_b64encode(VALUE.encode()).decode(),
        base64.b64encode(f"user:{VALUE}".encode()).decode(),
        base64.b64encode(f"me:{VALUE}:more".encode()).decode(),
        base64.b64encode(f"x:y:{VALUE}.".encode()).decode(),
        VALUE.encode().hex(),
        VALUE.replace('"', '\\"').replace("&", "\\u0026"),
        json.dumps(json.dumps(VALUE)[1:-1])[1:-1],
        html.escape(VALUE),
        repr(VALUE + "'")[1:-1].removesuffix("\\'"),
        repr(json.dumps(VALUE))[2:-2],
        repr(VALUE.encode())[2:-1],
    ],
)
def test_a_secret_is_blotted_out_however_it_is_written(shown: str) -> None:
    redactor = Redactor()
    redactor.learn([VALUE])

    text = redactor.redact(f"before {shown} after")

    assert re.fullmatch(r"before [A-Za-z0-9+/=]{0,8}\*\*\*[A-Za-z0-9+/=]{0,8} after", text)


def test_a_secret_that_begins_like_another_is_redacted_whole() -> None:
    """What they share must not be taken for the one that was cut, and the rest of the other be shown."""
    head = "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9."
    other = f"{head}eyJzdWIiOiJib2IifQ.SIGNATURE"
    redactor = Redactor()
    redactor.learn([f"Bearer {head}AAAA.payload-and-more", other, "abcdefgh-1234", "1234-zyxwvuts"])

    shown = [f"401 for Bearer {other} at x", "abcdefgh-1234-zyxwvuts."]

    assert [redactor.redact(text) for text in shown] == ["401 for *** at x", "***."]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("s3cr\"et'pw-9021", "s3cr&#34;et&#39;pw-9021"),
        ("abcdefghijklmnopqr+stuvwxyz/123456==", "abcdefghijklmnopqr\\u002Bstuvwxyz/123456=="),
        ("ein-Schlüssel-für-alles", "ein-Schl\\u00FCssel-f\\u00FCr-alles"),
        ("S3cr$t;p ss&w0rd!long", "S3cr$t;p%20ss&w0rd!long"),
        ("S3cr$t~p ss&w0rd[long", "S3cr$t~p%20ss&w0rd%5Blong"),
        ("s3cr~t*pass word!", "s3cr%7Et*pass+word%21"),
        ("pa|ss^wo[rd]{x}zz", "pa|ss%5Ewo[rd]%7Bx%7Dzz"),
        ("it's <a> secret", "it&#039;s &lt;a&gt; secret"),
    ],
    ids=[
        "html of Go",
        "json of .NET",
        "upper-case json",
        "url of Requests",
        "encodeURI",
        "form",
        "browser",
        "PHP",
    ],
)
def test_a_value_is_found_as_other_languages_write_it(value: str, shown: str) -> None:
    redactor = Redactor()
    redactor.learn([value])

    assert redactor.redact(f"it was {shown}.") == "it was ***."


def test_of_the_values_that_are_made_under_a_name_the_last_are_known() -> None:
    redactor = Redactor()
    redactor.learn(["hunter22"])
    for number in range(10):
        redactor.learn_made("BEARER", f"Bearer token-number-{number}")

    assert redactor.redact("hunter22 token-number-9 token-number-2") == "*** *** ***"
    assert redactor.redact("token-number-1") == "token-number-1"


def test_short_values_and_plain_texts_stay() -> None:
    redactor = Redactor()
    plain = redactor.redact("hello")
    redactor.learn(["12345", "", "a.c.e.g"])

    assert (plain, redactor.redact("12345 abcdefg a.c.e.g")) == ("hello", "12345 abcdefg ***")


def test_of_two_secrets_the_longer_one_is_blotted_out_whole() -> None:
    redactor = Redactor()
    redactor.learn(["secret", "secret-and-more"])

    assert redactor.redact("secret-and-more secret") == "*** ***"


def test_many_secrets_are_found_as_a_few_are() -> None:
    few, many = Redactor(), Redactor()
    values = ["hunter22", "hunter-and-more", "https://h.example/T0/abc", "ter22https"]
    few.learn(values)
    many.learn([*values, *(f"{number:06}-filler" for number in range(100))])

    texts = [f"a {one}{two[:9]} b {two[3:]}{one} hunt" for one in values for two in values]
    assert [few.redact(text) for text in texts] == [many.redact(text) for text in texts]
    assert "***" in few.redact(texts[0])


def test_a_long_line_that_begins_like_a_secret_is_read_through_at_once() -> None:
    redactor = Redactor()
    values = [base64.b64encode(sha256(b"%d" % number).digest()).decode() for number in range(1_000)]
    redactor.learn([*values, "hunter22"])
    line = "hunter" + "abc 123/" * 30_000

    begin = time.process_time()
    shown = redactor.redact(line + "hunter22")

    assert shown == line + "***"
    assert time.process_time() - begin < 3  # every form at every place: eight seconds


def test_values_are_redacted_to_their_leaves() -> None:
    redactor = Redactor()
    redactor.learn(["hunter22"])

    assert redactor.redact_value({"hunter22": [1, None, "x hunter22"], "a": ("hunter22",), "b": 2.5}) == {
        "***": [1, None, "x ***"],
        "a": ["***"],
        "b": 2.5,
    }


async def test_what_was_set_or_resolved_here_is_blotted_out(access: Access, elsewhere: Access) -> None:
    await access.set_secret(ANYBODY_HERE, "a", "hunter22")
    before = elsewhere.vault.redactor.redact("hunter22")
    await elsewhere.vault.resolve(["a"])

    assert (access.vault.redactor.redact("hunter22"), before) == ("***", "hunter22")
    assert elsewhere.vault.redactor.redact("hunter22") == "***"


async def test_every_secret_is_known_after_a_restart_if_it_can_be_opened(
    access: Access, elsewhere: Access, store: Store
) -> None:
    for name in ("a", "b"):
        await access.set_secret(ANYBODY_HERE, name, f"hunter22-{name}")
    stranger = Access(store, Vault(store, Keys(Path("nowhere"), variable(OTHER))))

    await elsewhere.vault.check()
    with pytest.raises(SecretKeyError, match="and this node has"):
        await stranger.vault.check()
    assert elsewhere.vault.redactor.redact("hunter22-a hunter22-b") == "*** ***"
    assert stranger.vault.redactor.redact("hunter22-a") == "hunter22-a"


class Interrupted:
    """A store whose second page of secrets fails once: the database is away, or whoever asks has gone."""

    def __init__(self, store: Store, error: BaseException) -> None:
        self._store, self._error = store, [error]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def secrets(self, *names: Any, after: str = "", limit: int = 0) -> list[SecretRow]:
        if after and self._error:
            raise self._error.pop()
        return await self._store.secrets(*names, after=after, limit=limit)


@pytest.mark.parametrize("error", [StoreAway("it is restarted"), asyncio.CancelledError()], ids=repr)
async def test_a_look_at_the_secrets_that_breaks_off_is_begun_anew(
    access: Access, store: Store, keys: Keys, error: BaseException
) -> None:
    await access.set_secret(ANYBODY_HERE, "a", "hunter22")
    vault = Vault(Interrupted(store, error), keys)

    with pytest.raises(type(error)):
        await vault.redaction()
    redact = await vault.redaction()

    assert redact("as hunter22") == "as ***"


async def test_many_who_ask_at_once_all_know_the_secrets(access: Access, store: Store, keys: Keys) -> None:
    await access.set_secret(ANYBODY_HERE, "a", "hunter22")
    vault = Vault(store, keys)

    found = await asyncio.gather(*(vault.redaction() for _ in range(5)))

    assert [redact("hunter22") for redact in found] == ["***"] * 5


async def test_where_a_key_is_missing_words_are_withheld_until_it_is_there(
    access: Access, store: Store, tmp_path: Path, keys: Keys
) -> None:
    elsewhere = Keys(tmp_path / "elsewhere.key")
    vault = Vault(store, elsewhere)
    await access.set_secret(ANYBODY_HERE, "a", "hunter22")

    before = (await vault.redaction())(["no hunter22"])
    elsewhere.path.write_bytes(keys.path.read_bytes())
    elsewhere.path.chmod(0o600)
    after = (await vault.redaction())(["no hunter22"])

    assert (before, after) == ([WITHHELD], ["no ***"])


async def test_a_key_that_other_nodes_would_lack_is_not_made(store: Store, tmp_path: Path) -> None:
    access = Access(store, Vault(store, Keys(tmp_path / "penstock.key", shared=True)))
    await access.set_secret(ANYBODY_HERE, "a", VALUE)

    with pytest.raises(KeysElsewhere, match="a new key must be on every node"):
        await access.rotate_key(ANYBODY_HERE)


async def test_a_node_that_got_the_key_of_others_beside_its_own_seals_with_theirs(
    access: Access, store: Store, keys: Keys, tmp_path: Path
) -> None:
    await access.set_secret(ANYBODY_HERE, "a", VALUE)
    own = Keys(tmp_path / "own.key")
    first = own.keyring(make=True).current
    own.path.write_bytes(own.path.read_bytes() + b"\n" + keys.path.read_bytes())

    await Access(store, Vault(store, own)).set_secret(ANYBODY_HERE, "b", VALUE)

    assert own.keyring().current == first
    assert list(await store.secret_keys()) == [keys.keyring().current]
    assert await access.vault.resolve(["b"]) == {"b": VALUE}


async def test_a_key_that_is_away_while_secrets_are_learned_leaves_nothing_half_learned(
    access: Access, store: Store, keys: Keys
) -> None:
    await access.set_secret(ANYBODY_HERE, "a", "hunter22")
    vault, away = Vault(store, keys), keys.path.with_suffix(".away")
    async with vault._learning:  # as if somebody else were learning
        asked = asyncio.ensure_future(vault.redaction())
        await asyncio.sleep(0.05)  # it waits for its turn, the key is still there
        keys.path.rename(away)
    during = (await asked)("as hunter22")
    away.rename(keys.path)
    after = (await vault.redaction())("as hunter22")

    assert (during, after) == (WITHHELD, "as ***")


@pytest.mark.parametrize(
    ("value", "text", "shown"),
    [
        ("hunter22-and-more", "cut: hunter22-an", "cut: ***"),
        ("hunter22-and-more", "cut: hunte", "cut: hunte"),
        ("hunter22-and-more-of-it", "'hunter22-and-more-' is no JSON", "'***' is no JSON"),
        ("hunter22-and-more-of-it", "'hunter22-and-m' is no JSON", "'hunter22-and-m' is no JSON"),
        ("hunter22\n", "as hunter22.", "as ***."),
        ("first line of it\nsecond line of it\nend", "second line of it", "***"),
    ],
)
def test_what_is_cut_or_shown_line_by_line_is_found(value: str, text: str, shown: str) -> None:
    redactor = Redactor()
    redactor.learn([value])

    assert redactor.redact(text) == shown


def test_what_is_withheld_keeps_its_shape() -> None:
    found = withhold({"at": 0.5, "with": ["hunter22", None, True]})

    assert list(found.values()) == [0.5, [WITHHELD, None, True]]
    assert all(key.startswith(WITHHELD) for key in found)
