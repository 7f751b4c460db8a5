"""Bars on a logarithmic axis as SVG; the report's charts have linear axes, and ratios from 0.1 to 10,000 do not fit."""

from __future__ import annotations

import math
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDTH, LABELS, RIGHT = 900, 340, 80
BAR, GAP, HEAD = 14, 6, 26


class Bar(NamedTuple):
    """A ratio with its name and its group."""

    group: str
    name: str
    ratio: float
    own: bool = False


def draw_bars(bars: list[Bar]) -> str:
    """An SVG that reads on a light and on a dark page; bars begin at 1, those to the left are below it."""
    low = min(-1, math.floor(math.log10(min(bar.ratio for bar in bars))))
    high = max(1, math.ceil(math.log10(max(bar.ratio for bar in bars))))
    plot = WIDTH - LABELS - RIGHT

    def x(ratio: float) -> float:
        return round(LABELS + plot * (math.log10(ratio) - low) / (high - low), 1)

    parts: list[str] = []
    y = 34.0
    for group, members in groupby(bars, key=lambda bar: bar.group):
        y += 8
        parts.append(f'<text x="12" y="{y + 12:g}" class="group">{escape(group)}</text>')
        y += HEAD - 4
        for bar in members:
            start, end = sorted((x(1), x(bar.ratio)))
            kind = "own" if bar.own else "ahead" if bar.ratio < 1 else "peer"
            middle = y + BAR - 3
            parts.append(f'<text x="{LABELS - 10}" y="{middle:g}" class="name">{escape(bar.name)}</text>')
            parts.append(
                f'<rect x="{start:g}" y="{y:g}" width="{max(end - start, 2):g}" height="{BAR}" class="{kind}"/>'
            )
            shown = "1" if bar.own else f"{bar.ratio:,.0f}" if bar.ratio >= 10 else f"{bar.ratio:.2g}"
            parts.append(f'<text x="{end + 6:g}" y="{middle:g}" class="value">{shown}</text>')
            y += BAR + GAP
    height = y + 14
    axis = []
    for power in range(low, high + 1):
        at = x(10.0**power)
        kind = "one" if power == 0 else "tick"
        axis.append(f'<line x1="{at:g}" x2="{at:g}" y1="30" y2="{height - 8:g}" class="{kind}"/>')
        axis.append(f'<text x="{at:g}" y="24" class="axis">{10.0**power:,.{max(-power, 0)}f}</text>')
    style = (
        "text{font:12px system-ui,sans-serif;fill:#555}.group{font-weight:600;fill:#333}.name{text-anchor:end}"
        ".axis{text-anchor:middle}.tick{stroke:#8884}.one{stroke:#888}.own{fill:#2a9d6f}.peer{fill:#7a93b8}"
        ".ahead{fill:#d0802b}@media(prefers-color-scheme:dark){text{fill:#bbb}.group{fill:#eee}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="Seconds of each peer divided by the seconds of BagPack, by job">'
        f'<style>{style}</style>\n<text x="12" y="24" class="group">times as long as BagPack</text>\n'
        + "\n".join([*axis, *parts])
        + "\n</svg>\n"
    )
