"""Workflows as pictures: a diagram that lays itself out, as SVG, Mermaid text and PNML."""

from __future__ import annotations

from penstock.flow.drawing.composing import diagram_of
from penstock.flow.drawing.diagram import Diagram, Marking
from penstock.flow.drawing.mermaid import to_mermaid
from penstock.flow.drawing.pnml import to_pnml
from penstock.flow.drawing.svg import to_svg

__all__ = ["Diagram", "Marking", "diagram_of", "to_mermaid", "to_pnml", "to_svg"]
