"""The look of the pictures: the colours, lines and letters of Penstock's pages, light."""

from __future__ import annotations

STYLE = """\
.penstock text{font-family:"Inter var",Inter,-apple-system,"Segoe UI",Roboto,Ubuntu,"Helvetica Neue",
"DejaVu Sans Condensed","Noto Sans",Arial,sans-serif;font-size:11px;fill:#4a5460}
.penstock .h{font-size:16px;font-weight:600;fill:#14191f}
.penstock .d{font-size:12px}
.penstock .t{font-size:12px;font-weight:600;fill:#14191f}
.penstock .n{fill:#636d79}
.penstock .p{fill:#4a5460}
.penstock .b{font-weight:600}
.penstock .bg{fill:#fafbfb}
.penstock .g{fill:#dde1e5}
.penstock .box{fill:#fff;stroke:#c8ced5}
.penstock .off{stroke-dasharray:3 3}
.penstock .hatch{stroke:#e2e5e9}
.penstock .i{fill:none;stroke:#636d79;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.penstock .w,.penstock .halo{fill:none;stroke-linejoin:round}
.penstock .halo{stroke:#fafbfb;stroke-width:4.5}
.penstock .w{stroke:#7d8794;stroke-width:1.25}
.penstock .f{stroke:#c0574f;stroke-dasharray:3 3}
.penstock .c{fill:none;stroke:#875200;stroke-dasharray:1 4;stroke-linecap:round}
.penstock .cx{fill:none;stroke:#875200;stroke-width:1.5}
.penstock .a{fill:none;stroke:#7d8794;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.penstock .a.f{stroke:#c0574f;stroke-dasharray:none}
.penstock .pt{fill:#fafbfb;stroke:#7d8794;stroke-width:1.25}
.penstock .pt.f{stroke:#b3261e;stroke-dasharray:none}
.penstock .full{fill:#0b6480;stroke:#0b6480}
.penstock .ev{fill:#fff;stroke:#c8ced5}
.penstock .ev.f{stroke:#e5b0ab;stroke-dasharray:none}
.penstock .x{fill:#fff;stroke:#7d8794;stroke-dasharray:3 2}
.penstock .s{fill:#fff;stroke:#4a5460;stroke-width:1.5}
.penstock .ok{fill:#fff;stroke:#1a7244;stroke-width:1.5}
.penstock text.ok{fill:#1a7244;stroke:none}
.penstock .i.ok{fill:none}
.penstock .bad{fill:#fff;stroke:#b3261e;stroke-width:1.5}
.penstock text.bad{fill:#b3261e;stroke:none}
.penstock .i.bad{fill:none}
.penstock text.s{fill:#14191f;stroke:none}
.penstock .i.s{fill:none}
.penstock .jn{fill:#4a5460}
.penstock .jo{fill:none;stroke:#4a5460}
.penstock .tag{fill:#eceff2}
.penstock .tag.acc{fill:#e3f0f4}
.penstock .tag.warn{fill:#fbf0dc}
.penstock text.k{font-size:10px;fill:#566070}
.penstock text.k.acc{fill:#0b6480}
.penstock text.k.warn{fill:#875200}
.penstock text.q{font-size:9px;font-weight:600;fill:#fff}
"""
