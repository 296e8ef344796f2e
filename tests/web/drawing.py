"""Hands for the editor: what a person does with the mouse or with the keys."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import wait_until_there


class Editor:
    """The editor of one workflow in a page."""

    def __init__(self, page: Page, base: str, name: str, new: bool = True) -> None:
        self.page, self.name = page, name
        page.goto(f"{base}/app/workflows/{name}/edit{'?new' if new else ''}")
        wait_until_there(page, ".edcanvas")

    @property
    def canvas(self) -> Locator:
        return self.page.locator(".edcanvas")

    def box(self, name: str) -> Locator:
        return self.page.locator(f'[data-step="{name}"]')

    def knob(self, box: str, port: str) -> Locator:
        return self.page.locator(f'[data-port="{box}|{port}"]')

    @property
    def saved(self) -> Locator:
        return self.page.locator('[data-save="saved"]')

    def wait_saved(self) -> None:
        """Until the server has it all."""
        wait_until_there(self.page, '[data-save="saved"]')

    # -- mouse ----------------------------------------------------------------------------------------------

    def drag_box(self, title: str, x: float, y: float) -> None:
        """From the palette to a place on the canvas, counted from its corner."""
        line = self.page.get_by_role("navigation", name="Boxes").get_by_role("button", name=title, exact=True)
        line.drag_to(self.canvas, target_position={"x": x, "y": y})

    def drag_wire(self, one: Locator, two: Locator) -> None:
        a, b = one.bounding_box(), two.bounding_box()
        assert a is not None and b is not None
        mouse = self.page.mouse
        mouse.move(a["x"] + a["width"] / 2, a["y"] + a["height"] / 2)
        mouse.down()
        mouse.move(b["x"] + b["width"] / 2 - 30, b["y"] + b["height"] / 2, steps=4)
        mouse.move(b["x"] + b["width"] / 2, b["y"] + b["height"] / 2, steps=4)
        mouse.up()

    # -- keys -----------------------------------------------------------------------------------------------

    def keys(self, *pressed: str) -> None:
        for each in pressed:
            self.page.keyboard.press(each)

    def choose(self, text: str) -> None:
        """In the list that is open: type, then Enter."""
        field = self.page.locator(".chooser input, .chooser textarea")
        expect(field).to_be_focused()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")
        expect(self.page.locator(".chooser").filter(has=field)).to_have_count(0)

    def tab_to(self, selector: str, key: str = "Tab") -> None:
        """Until something that fits has the focus, as who has no mouse does it."""
        for _ in range(120):
            if self.page.evaluate("(selector) => !!document.activeElement?.matches(selector)", selector):
                return
            self.keys(key)
        raise AssertionError(f"{key} never comes to {selector}")

    def walk_to(self, label: str) -> None:
        """In the list of steps, which is the drawing for those who do not see it, with the arrow keys."""
        items = self.page.get_by_role("treeitem")
        self.tab_to("[role=treeitem]")
        texts = items.all_inner_texts()
        there = next(at for at, text in enumerate(texts) if text.startswith(label))
        here = int(items.evaluate_all("(all) => all.indexOf(document.activeElement)"))
        for _ in range(abs(there - here)):
            self.keys("ArrowDown" if there > here else "ArrowUp")
        expect(items.nth(there)).to_have_attribute("aria-selected", "true")

    def connect(self, source: str, port: str | None, target: str, how: str | None = None) -> None:
        """C, then the port, the target and, where the target waits already, how it shall wait."""
        self.walk_to(source)
        self.keys("c")
        for choice in (port, target, how):
            if choice is not None:
                self.choose(choice)

    def command(self, label: str) -> None:
        """By its name in the command bar."""
        self.keys("Control+k")
        expect(self.page.get_by_role("combobox", name="Search or do")).to_be_focused()
        self.page.keyboard.type(label)
        expect(self.page.get_by_role("option", selected=True)).to_contain_text(label)
        self.keys("Enter")


LOOPS = """() => {
  const times = []
  for (let n = 0; n < 30; n++) {
    const began = performance.now()
    let sum = 0
    for (let at = 0; at < 1e7; at++) sum += at % 7
    times.push(performance.now() - began + (sum < 0 ? 1 : 0))
  }
  return times
}"""


def crowding(page: Page) -> float:
    """By how much others on this machine slow down what a page does: 1 where it has a core to itself."""
    times: list[float] = page.evaluate(LOOPS)
    return max(1.0, sum(times) / len(times) / min(times))


WATCH = """() => {
  const trails = globalThis.tokenTrails = []
  const places = (token) => token.getAnimations().flatMap((motion) => {
    const { duration } = motion.effect.getComputedTiming()
    const was = motion.currentTime
    const found = [0, 0.05, 0.1, 0.2, 0.4, 1].map((share) => {
      motion.currentTime = share * duration
      const { x, y } = token.getBoundingClientRect()
      return [Math.round(x), Math.round(y)]
    })
    motion.currentTime = was
    return found
  })
  const isToken = (node) => node instanceof Element && node.matches('.tk:not(.g1, .g2)')
  const added = (changes) => changes.flatMap(({ addedNodes }) => [...addedNodes]).filter(isToken)
  const watcher = new MutationObserver((changes) => added(changes).forEach((token) => trails.push(places(token))))
  watcher.observe(document.body, { childList: true, subtree: true })
}"""
"""Where a token will be, as soon as it sets out: a machine with much to do shows few of the pictures between."""


def watch_tokens(page: Page) -> None:
    """Write down from now on the way of each token that moves on the drawing."""
    page.evaluate(WATCH)


def trails(page: Page) -> list[list[list[int]]]:
    """The places of every token that moved since, in the order in which they set out."""
    found: list[list[list[int]]] = page.evaluate("() => globalThis.tokenTrails")
    return found
