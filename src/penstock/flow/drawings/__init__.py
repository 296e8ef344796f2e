"""Workflows as pictures: a diagram that lays itself out, as SVG, Mermaid text and PNML.

Not here: the browser's drawing, which is in `web/`.
"""

from __future__ import annotations

from penstock.flow.drawings.composition import diagram_of
from penstock.flow.drawings.diagram import Diagram, Marking
from penstock.flow.drawings.mermaid import to_mermaid
from penstock.flow.drawings.pnml import to_pnml
from penstock.flow.drawings.svg import to_svg

__all__ = ["Diagram", "Marking", "diagram_of", "to_mermaid", "to_pnml", "to_svg"]
