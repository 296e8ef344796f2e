"""The look of the pictures: the colours, lines and letters of Penstock's pages, light."""

from __future__ import annotations

STYLE = """\
text{font-family:"Inter var",Inter,-apple-system,"Segoe UI",Roboto,Ubuntu,"Helvetica Neue",
"DejaVu Sans Condensed","Noto Sans",Arial,sans-serif;font-size:11px;fill:#4a5460}
.h{font-size:16px;font-weight:600;fill:#14191f}
.d{font-size:12px}
.t{font-size:12px;font-weight:600;fill:#14191f}
.n{fill:#636d79}
.p{fill:#4a5460}
.b{font-weight:600}
.bg{fill:#fafbfb}
.g{fill:#dde1e5}
.box{fill:#fff;stroke:#c8ced5}
.off{stroke-dasharray:3 3}
.hatch{stroke:#e2e5e9}
.i{fill:none;stroke:#636d79;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.w,.halo{fill:none;stroke-linejoin:round}
.halo{stroke:#fafbfb;stroke-width:4.5}
.w{stroke:#7d8794;stroke-width:1.25}
.f{stroke:#c0574f;stroke-dasharray:3 3}
.c{fill:none;stroke:#875200;stroke-dasharray:1 4;stroke-linecap:round}
.cx{fill:none;stroke:#875200;stroke-width:1.5}
.a{fill:none;stroke:#7d8794;stroke-width:1.5;stroke-linecap:round;stroke-linejoin:round}
.a.f{stroke:#c0574f;stroke-dasharray:none}
.pt{fill:#fafbfb;stroke:#7d8794;stroke-width:1.25}
.pt.f{stroke:#b3261e;stroke-dasharray:none}
.full{fill:#0b6480;stroke:#0b6480}
.ev{fill:#fff;stroke:#c8ced5}
.ev.f{stroke:#e5b0ab;stroke-dasharray:none}
.x{fill:#fff;stroke:#7d8794;stroke-dasharray:3 2}
.s{fill:#fff;stroke:#4a5460;stroke-width:1.5}
.ok{fill:#fff;stroke:#1a7244;stroke-width:1.5}
text.ok{fill:#1a7244;stroke:none}
.i.ok{fill:none}
.bad{fill:#fff;stroke:#b3261e;stroke-width:1.5}
text.bad{fill:#b3261e;stroke:none}
.i.bad{fill:none}
text.s{fill:#14191f;stroke:none}
.i.s{fill:none}
.jn{fill:#4a5460}
.jo{fill:none;stroke:#4a5460}
.tag{fill:#eceff2}
.tag.acc{fill:#e3f0f4}
.tag.warn{fill:#fbf0dc}
text.k{font-size:10px;fill:#566070}
text.k.acc{fill:#0b6480}
text.k.warn{fill:#875200}
text.q{font-size:9px;font-weight:600;fill:#fff}
"""
