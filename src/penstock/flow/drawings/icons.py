"""Small pictures on a field of 16 by 16, for tasks and pills. Stroked, not filled."""

from __future__ import annotations

_MAIL = '<rect x="2" y="3.5" width="12" height="9" rx="1.2"/><path d="M2.5 4.5L8 8.75l5.5-4.25"/>'
_FRAMES = (
    '<rect x="1.75" y="3" width="4.5" height="4" rx="1"/><rect x="9.75" y="9" width="4.5" height="4" rx="1"/>'
    '<path d="M6.25 5H8.5a1.5 1.5 0 0 1 1.5 1.5V9"/>'
)
_GLOBE = (
    '<circle cx="8" cy="8" r="5.75"/>'
    '<path d="M2.25 8h11.5M8 2.25c3.5 3.5 3.5 8 0 11.5M8 2.25c-3.5 3.5-3.5 8 0 11.5"/>'
)
_STORE = (
    '<ellipse cx="8" cy="4" rx="5.25" ry="2"/>'
    '<path d="M2.75 4v8c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2V4M2.75 8c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2"/>'
)
_SLIDERS = (
    '<path d="M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6"/>'
    '<circle cx="10" cy="4.5" r="1.5"/><circle cx="6" cy="11.5" r="1.5"/>'
)
_PERSON = '<circle cx="8" cy="5.25" r="2.5"/><path d="M3 13.5c.5-3 2.5-4.25 5-4.25s4.5 1.25 5 4.25"/>'

CROSS = '<path d="M4 4l8 8M12 4l-8 8"/>'
CHECK = '<path d="M3.5 8.5l3 3 6-7"/>'
CLOCK = '<circle cx="8" cy="8" r="5.75"/><path d="M8 4.75V8l2.25 1.5"/>'
INBOUND = '<path d="M2.25 8h7.5M6.75 4.75L10 8l-3.25 3.25M13 2.75v10.5"/>'
STROKE = '<circle cx="8" cy="8" r="5.75"/><path d="M4 12l8-8"/>'
QUESTION = '<path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.2C8.3 8.7 8 9 8 10M8 12.6v.2"/>'

_TASKS = {
    "http": _GLOBE,
    "decide": '<path d="M8 2L14 8l-6 6-6-6z"/>',
    "switch": '<path d="M2.5 8h3l5-4.5h3M5.5 8h8M5.5 8l5 4.5h3"/>',
    "tag": '<path d="M2.5 2.5H8L13.5 8 8 13.5 2.5 8z"/><path d="M5.5 5.5v.1"/>',
    "set": _SLIDERS,
    "update": _STORE,
    "terminate": '<rect x="4" y="4" width="8" height="8" rx="1"/>',
    "wait": CLOCK,
    "approval": _PERSON,
    "workflow": _FRAMES,
    "service": _FRAMES,
    "emit": '<path d="M13.75 2.5L2.5 6.75 7 9l2.25 4.5zM7 9l3-3"/>',
    "mail": _MAIL,
    "shell": '<path d="M3 4.5L6.5 8 3 11.5M8 12h5"/>',
    "fail": CROSS,
}
_PLAIN = '<path d="M2.5 3.5h11M2.5 6.75h6M2.5 10h8.5M2.5 13.25h4"/>'


def icon_of(task: str) -> str:
    """The picture of a built-in task; lines of text for every other."""
    return _TASKS.get(task, _PLAIN)
