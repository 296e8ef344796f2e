"""The examples: where they are, and which workflows are among them."""

from __future__ import annotations

from pathlib import Path

from penstock.cli.io.problems import Wrong

BROKEN = "broken"
"""The folder of those that are not as they should be."""


def examples_in(wanted: str | None) -> Path:
    """The folder of the examples: the one that was named, else of a clone, else of the package. Raises Wrong."""
    package = Path(__file__).resolve().parents[2]
    places = (
        [Path(wanted)]
        if wanted
        else [Path("examples"), package.parents[1] / "examples", package / "examples"]
    )
    for place in places:
        if workflows_in(place) and (wanted or (place / "wardenclyffe").is_dir()):
            return place
    where = f"'{wanted}' holds no .yaml file" if wanted else "the examples are not here"
    raise Wrong.because(f"{where}: run this in a clone of Penstock, or name their folder with --examples.")


def workflows_in(folder: Path) -> tuple[Path, ...]:
    """The workflows in a folder and in those right below it, without the broken ones."""
    found = [*folder.glob("*.yaml"), *folder.glob("*/*.yaml")]
    return tuple(sorted(path for path in found if path.parent.name != BROKEN or path.parent == folder))
