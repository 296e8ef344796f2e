"""Measurements: what a step costs, beside the neighbours, in one run on one machine."""
