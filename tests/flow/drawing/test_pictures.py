"""The pictures of the documentation show what the code draws today."""

from __future__ import annotations

from scripts.pictures import IMAGES, SOURCES, picture


def test_the_pictures_of_the_documentation_are_current() -> None:
    drawn = {name: picture(name) for name in SOURCES}

    assert {name: (IMAGES / f"{name}.svg").read_text("utf-8") for name in SOURCES} == drawn
