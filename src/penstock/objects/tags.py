"""What tags and metadata may be on an object: texts within the limits of S3, whichever store has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unicodedata import category

import msgspec

from penstock.objects.errors import ObjectRefused

MAX_TAGS, MAX_NAME, MAX_VALUE = 10, 128, 256
MAX_METADATA = 2048
SIGNS = "+-=._:/@"
"""What a tag may have besides letters, digits and spaces, of any script: Amazon takes nothing else."""

RESERVED = "aws:"


def as_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Tags of a run as tags of an object: what is no text is written as JSON; one that is null is left out."""
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def validate_tags(tags: Mapping[str, str]) -> None:
    """Raises ObjectRefused where there are too many, or one is too long, Amazon's own, or has what S3 does not take."""
    if len(tags) > MAX_TAGS:
        raise ObjectRefused(
            f"an object has {MAX_TAGS} tags at most, and these would be {len(tags)}: "
            "choose some with `with: {tags: …}`, or remove some with a `tag` step"
        )
    for name, value in tags.items():
        if not name or len(name) > MAX_NAME or len(value) > MAX_VALUE:
            raise ObjectRefused(
                f"the tag '{name[:40]}' cannot be written: a name has {MAX_NAME} characters at most, "
                f"a value {MAX_VALUE}"
            )
        if name.lower().startswith(RESERVED):
            raise ObjectRefused(
                f"the tag '{name[:40]}' cannot be written: names that begin with `{RESERVED}` are Amazon's own"
            )
        bad = next((each for each in name + value if not _is_of_tags(each)), None)
        if bad is not None:
            raise ObjectRefused(
                f"the tag '{name[:40]}' cannot be written: it has the character {bad!r}, and tags of objects have "
                f"only letters, digits, spaces and {' '.join(SIGNS)}"
            )


def _is_of_tags(character: str) -> bool:
    return character in SIGNS or category(character)[0] in "LNZ"


def validate_metadata(metadata: Mapping[str, str]) -> None:
    """Raises ObjectRefused where it would not go into headers."""
    for name, value in metadata.items():
        plain = name.replace("-", "").replace("_", "").replace(".", "")
        if not plain.isascii() or not plain.isalnum():
            raise ObjectRefused(f"'{name[:40]}' is no name of metadata: use letters, digits, -, _ and .")
        if not value.isascii() or not value.isprintable():
            raise ObjectRefused(f"the metadata '{name[:40]}' must be printable ASCII: it is sent in a header")
    if sum(len(name) + len(value) for name, value in metadata.items()) > MAX_METADATA:
        raise ObjectRefused(f"the metadata of an object has {MAX_METADATA} characters at most")
