"""Draw the pictures of the documentation anew into docs/img; `--check` only says whether they are current."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.flow.compile.compile import compile_flow
from penstock.flow.drawings import Marking, diagram_of, to_svg
from penstock.flow.format.definition_parser import read_definition
from penstock.steps.kinds import KINDS, OFFERS

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "img"

BREAKFAST = """
name: breakfast
title: Breakfast
steps:
  boil_water:  {title: Boil water, task: kitchen.boil}
  toast_bread: {title: Toast bread, task: kitchen.toast}
  serve:       {title: Serve, task: kitchen.serve, after: [boil_water, toast_bread], emits: OK}
"""
STUCK = """
name: stuck
title: A run that can get stuck
steps:
  ask:     {title: In stock?, task: decide, with: {if: data.in_stock}}
  reserve: {title: Reserve, task: stock.reserve, after: ask.then}
  order:   {title: Order it, task: stock.order, after: ask.else}
  ship:    {title: Ship, task: stock.ship, after: [reserve, order], emits: OK}
"""
SOURCES: Mapping[str, str] = {
    "chain": """
name: chain
title: One after the other
steps:
  boil:  {title: Boil water, task: kitchen.boil, emits: water boils}
  brew:  {title: Brew tea, task: kitchen.brew, after: water boils, emits: OK}
""",
    "breakfast": BREAKFAST,
    "waiting": BREAKFAST.replace("title: Breakfast\n", "title: One event is here, one is missing\n"),
    "either": """
name: either
title: One way or the other
steps:
  ask:     {title: In stock?, task: decide, with: {if: data.in_stock}}
  reserve: {title: Reserve, task: stock.reserve, after: ask.then}
  order:   {title: Order it, task: stock.order, after: ask.else}
  ship:    {title: Ship, task: stock.ship, after: reserve | order, emits: OK}
""",
    "need": """
name: need
title: Two of three are enough
steps:
  anna:    {title: Ask Anna, task: ask}
  ben:     {title: Ask Ben, task: ask}
  carla:   {title: Ask Carla, task: ask}
  publish: {title: Publish, task: site.publish, after: [{need: 2, of: [anna, ben, carla]}], emits: OK}
""",
    "loop": """
name: loop
title: Again, until it is good
steps:
  write:   {title: Write, task: docs.write, after: START | changes wanted, emits: draft}
  review:
    title: Good enough?
    task: decide
    after: draft
    emits: {then: accepted, else: changes wanted}
    with: {if: data.good}
  publish: {title: Publish, task: docs.publish, after: accepted, emits: OK}
""",
    "outside": """
name: outside
title: Waiting for the world
external: [payment received]
steps:
  invoice: {title: Send invoice, task: shop.invoice}
  ship:    {title: Ship, task: shop.ship, after: [invoice, payment received], emits: OK}
""",
    "failure": """
name: failure
title: When something goes wrong
steps:
  fetch:  {title: Fetch, task: files.fetch, fails: went wrong}
  store:  {title: Store, task: files.store, after: fetch, emits: OK, fails: went wrong}
  sorry:  {title: Tell the user, task: mail, after: went wrong, emits: FAIL, fails: FAIL}
""",
    "stuck": STUCK,
}
MARKINGS: Mapping[str, Marking] = {"waiting": {("serve", 0): 1}, "stuck": {("ship", 0): 1}}


def picture(name: str) -> str:
    """The SVG text of one picture."""
    definition = read_definition("penstock: 1\n" + SOURCES[name], f"{name}.yaml")
    flow = compile_flow(definition, KINDS, OFFERS)
    return to_svg(diagram_of(definition, flow.net, {}), MARKINGS.get(name))


def main(arguments: list[str]) -> int:
    texts = {IMAGES / f"{name}.svg": picture(name) for name in SOURCES}
    if "--check" in arguments:
        stale = [
            path.name for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text
        ]
        print(f"stale: {', '.join(stale)}; run scripts/pictures.py" if stale else "pictures: all current")
        return 1 if stale else 0
    IMAGES.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
