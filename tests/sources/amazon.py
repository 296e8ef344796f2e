"""An Amazon of our own: a root, an issuer, a certificate of SNS, and letters signed with it."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID, NameOID

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOPIC = "arn:aws:sns:eu-west-1:123456789012:transcoded"
ADDRESS = "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0a1b.pem"
ISSUER_ADDRESS = "http://crt.r2m01.amazontrust.com/r2m01.cer"
CONFIRM = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn%3Aaws%3Asns%3Aeu-west-1%3A123456789012%3Atranscoded&Token=t0ken"


def _key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=2048)


def _name(text: str) -> x509.Name:
    return x509.Name(
        [x509.NameAttribute(each, text) for each in (NameOID.ORGANIZATION_NAME, NameOID.COMMON_NAME)]
    )


def _usage(authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        key_cert_sign=authority,
        crl_sign=authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _of_a_host(name: str) -> list[x509.ExtensionType]:
    where = x509.AccessDescription(
        AuthorityInformationAccessOID.CA_ISSUERS, x509.UniformResourceIdentifier(ISSUER_ADDRESS)
    )
    return [
        x509.SubjectAlternativeName([x509.DNSName(name)]),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
        x509.AuthorityInformationAccess([where]),
    ]


class Amazon:
    """Issues certificates for SNS and signs letters."""

    def __init__(self) -> None:
        self._root_key, self._issuer_key, self.key = _key(), _key(), _key()
        self.root = self._certificate("Root", "Root", self._root_key, self._root_key, authority=1)
        self.issuer = self._certificate("Issuer", "Root", self._issuer_key, self._root_key, authority=0)
        self.leaf = self.signed()

    def signed(
        self, name: str = "sns.amazonaws.com", since: datetime = NOW - timedelta(days=30), days: int = 90
    ) -> x509.Certificate:
        """A certificate for a host, by the issuer."""
        return self._certificate(name, "Issuer", self.key, self._issuer_key, since=since, days=days)

    def root_of(self, organization: str) -> x509.Certificate:
        """A root of some authority."""
        return self._certificate(organization, organization, self._root_key, self._root_key, authority=1)

    def _certificate(
        self,
        name: str,
        issuer: str,
        key: RSAPrivateKey,
        by: RSAPrivateKey,
        *,
        authority: int | None = None,
        since: datetime = NOW - timedelta(days=400),
        days: int = 3650,
    ) -> x509.Certificate:
        ours = authority is not None
        builder = (
            x509.CertificateBuilder()
            .subject_name(_name(name))
            .issuer_name(_name(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(since)
            .not_valid_after(since + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ours, authority), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key()), critical=False
            )
            .add_extension(_usage(ours), critical=True)
        )
        for extension in () if ours else _of_a_host(name):
            builder = builder.add_extension(extension, critical=False)
        return builder.sign(by, SHA256())

    def letter(self, version: str = "2", **changed: Any) -> dict[str, Any]:
        """A signed letter; what is None is left out."""
        letter = {
            "Type": "Notification",
            "MessageId": "m-1",
            "TopicArn": TOPIC,
            "Subject": "done",
            "Message": json.dumps({"jobId": "7", "outputs": [{"key": "a.mp4"}]}),
            "Timestamp": "2026-03-01T11:59:00.000Z",
            "SignatureVersion": version,
            "SigningCertURL": ADDRESS,
            **changed,
        }
        letter = {name: value for name, value in letter.items() if value is not None}
        names = ("Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type")
        text = "".join(f"{name}\n{letter[name]}\n" for name in names if name in letter).encode()
        digest = SHA1() if version == "1" else SHA256()
        return {**letter, "Signature": b64encode(self.key.sign(text, PKCS1v15(), digest)).decode()}


class Web:
    """What can be fetched, and what was."""

    def __init__(self, amazon: Amazon, pem: bytes | None = None) -> None:
        self.pages = {
            ADDRESS: pem or amazon.leaf.public_bytes(Encoding.PEM),
            ISSUER_ADDRESS: amazon.issuer.public_bytes(Encoding.DER),
            CONFIRM: b"<ConfirmSubscriptionResponse/>",
        }
        self.fetched: list[str] = []
        self.away = False

    async def fetch(self, url: str) -> bytes:
        self.fetched.append(url)
        if self.away or url not in self.pages:
            raise OSError("it does not answer")
        return self.pages[url]


AMAZON = Amazon()


def encoded(letter: dict[str, Any]) -> bytes:
    return json.dumps(letter).encode()
