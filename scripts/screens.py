"""Take the pictures that the browser tests made (build/screens, or the folder that is named) into docs/img, as WebP."""

from __future__ import annotations

import base64
import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "img"
CHROMIUM = "/usr/bin/chromium"
QUALITY = 0.85
SCREENS: Mapping[str, str] = {
    "first-refuted": "first-refuted",
    "first-run": "first-run",
    "editor": "editor-proved-light",
    "trace": "editor-trace-light",
    "try": "sides-try-light",
    "run": "run-light",
    "release": "release",
    "approvals": "approvals-light",
}
"""The name of each picture in the documentation → its name in the tests."""

TO_WEBP = """async ([png, quality]) => {
  const image = new Image()
  image.src = 'data:image/png;base64,' + png
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = image.width; canvas.height = image.height
  canvas.getContext('2d').drawImage(image, 0, 0)
  return canvas.toDataURL('image/webp', quality).split(',')[1]
}"""


def webp(page: Page, png: bytes) -> bytes:
    """The same picture in a tenth of the bytes; the browser is what can do it here."""
    return base64.b64decode(page.evaluate(TO_WEBP, [base64.b64encode(png).decode(), QUALITY]))


def main(arguments: list[str]) -> int:
    made = Path(arguments[0]) if arguments else ROOT / "build" / "screens"
    found = {name: made / f"{screen}.png" for name, screen in SCREENS.items()}
    missing = [path.name for path in found.values() if not path.is_file()]
    if missing:
        print(f"not in {made}: {', '.join(missing)}; `make test` makes them", file=sys.stderr)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        for name, path in found.items():
            if path.is_file():
                (IMAGES / f"{name}.webp").write_bytes(webp(page, path.read_bytes()))
        browser.close()
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
