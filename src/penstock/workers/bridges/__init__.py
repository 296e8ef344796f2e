"""Bridges to engines that a team already has: their tasks, offered and done behind the gate like all others."""
