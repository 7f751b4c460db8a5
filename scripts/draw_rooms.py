"""Draw docs/assets/rooms.svg: the rooms of the package and the way of the data through them."""

from __future__ import annotations

from html import escape
from pathlib import Path

OUT = Path(__file__).parents[1] / "docs" / "assets" / "rooms.svg"
WIDTH, HEIGHT = 880, 470
STAGES = [  # artefact, command that makes it, room
    ("files", "", "text, vertical,\nCoNLL-U, dumps"),
    ("Corpus", "index", "corpus/"),
    ("Basis", "basis", "basis.py"),
    ("BlockMatrix", "vectors", "vectors/"),
    ("Model", "train", "learn/"),
    ("answers", "predict", "experiments/"),
]
BELOW = [  # x, room, what lives there
    (20, "engines/", "search engines: forms,\nqueries, snippets, cache"),
    (240, "contexts/", "windows, co-occurrences,\ncounting, concordance"),
    (460, "tasks/", "data sets: relations,\nratings, questions"),
    (680, "evaluate/", "splits, scores,\nintervals, baselines"),
]
TOP = [  # x, width, room, what lives there, the stage that it looks at
    (20, 104, "cli/", "the commands", None),
    (160, 120, "app/", "the explorer", 220),
    (420, 200, "explain/", "decisions, contexts, lines", 640),
    (660, 200, "report/", "tables, plots, HTML report", 812),
]
STYLE = """
  svg { background: #fff; font-family: sans-serif; }
  .box { fill: #eef3f4; stroke: #54707a; stroke-width: 1.2; rx: 6; }
  .stage { fill: #dcebea; }
  .name { font-size: 15px; font-weight: 600; fill: #1c2b30; text-anchor: middle; }
  .room { font-size: 12px; font-family: monospace; fill: #35525c; text-anchor: middle; }
  .what { font-size: 12px; fill: #35525c; text-anchor: middle; }
  .command { font-size: 12px; font-family: monospace; fill: #00695c; text-anchor: middle; }
  .way { stroke: #54707a; stroke-width: 1.6; fill: none; marker-end: url(#tip); }
  .help { stroke: #9fb2b8; stroke-width: 1.2; stroke-dasharray: 4 3; fill: none; marker-end: url(#pale); }
"""


def text(x: float, y: float, words: str, kind: str) -> str:
    """Lines of text, centred."""
    return "".join(
        f'<text x="{x}" y="{y + 15 * number}" class="{kind}">{escape(line)}</text>\n'
        for number, line in enumerate(words.split("\n"))
    )


def box(x: float, y: float, width: float, height: float, more: str = "") -> str:
    """A room."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="box {more}"/>\n'


def draw() -> str:
    """The picture."""
    parts = []
    for x, width, name, what, looks_at in TOP:
        middle = x + width / 2
        parts.append(box(x, 30, width, 56))
        parts.append(text(middle, 54, name, "room") + text(middle, 74, what, "what"))
        if looks_at is not None:
            parts.append(
                f'<path d="M {looks_at} 190 C {looks_at} 140 {middle} 140 {middle} 89" class="help"/>\n'
            )
    step, width = 148, 104
    for number, (name, command, room) in enumerate(STAGES):
        x = 20 + number * step
        parts.append(box(x, 190, width, 76, "stage"))
        parts.append(text(x + width / 2, 219, name, "name"))
        parts.append(text(x + width / 2, 240, room, "what" if number == 0 else "room"))
        if number:
            parts.append(f'<path d="M {x - step + width} 228 H {x - 3}" class="way"/>\n')
            parts.append(text(x - (step - width) / 2, 183, command, "command"))
    for x, name, what in BELOW:
        parts.append(box(x, 360, 180, 72))
        parts.append(text(x + 90, 382, name, "room") + text(x + 90, 402, what, "what"))
    parts.append('<path d="M 110 360 C 110 320 200 320 215 269" class="way"/>\n')
    parts.append(text(95, 318, "fetch", "command"))
    for start, end in ((330, 370), (400, 515), (560, 660), (770, 790)):
        parts.append(f'<path d="M {start} 360 C {start} 320 {end} 320 {end} 269" class="help"/>\n')
    body = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Files become a corpus, a basis, a pair matrix, a model and answers">\n<style>{STYLE}</style>\n'
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#54707a"/></marker>'
        '<marker id="pale" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#9fb2b8"/></marker></defs>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n{body}</svg>\n'
    )


if __name__ == "__main__":
    OUT.write_text(draw(), encoding="utf-8")
