"""Draw docs/assets/architecture.svg: the packages, and the data flow through them."""

from __future__ import annotations

from html import escape
from pathlib import Path

OUT = Path(__file__).parents[1] / "docs" / "assets" / "architecture.svg"
WIDTH, HEIGHT = 880, 535
STAGES = [  # artefact, command that makes it, package
    ("files", "", "text, vertical,\nCoNLL-U, dumps"),
    ("Corpus", "index", "corpus/"),
    ("Basis", "basis", "basis.py"),
    ("PairCounts", "vectors", "vectors/"),
    ("Model", "train", "learn/"),
    ("answers", "predict", "evaluate/"),
]
BELOW = [  # x, package, what it contains
    (20, "engines/", "search engines: queries,\nsnippets, answer cache"),
    (240, "contexts/", "windows, co-occurrences,\ncounting, concordance"),
    (460, "tasks/", "data sets: relations,\nratings, questions"),
    (680, "evaluate/", "splits, metrics,\nintervals, baselines"),
]
TOP = [  # x, width, package, what it contains, the stage that it reads
    (20, 200, "find/", "new pairs, teaching", 220),
    (240, 180, "data/", "labelled pairs of the demo", None),
    (440, 200, "explain/", "contributions, lines, keyness", 660),
    (660, 200, "report/", "terminal, charts, HTML", 812),
]
INTERFACES = [(20, 410, "cli/", "the commands"), (450, 410, "app/", "the explorer in the browser")]
STYLE = """
  svg { background: #fff; font-family: sans-serif; }
  .box { fill: #eef3f4; stroke: #54707a; stroke-width: 1.2; rx: 6; }
  .stage { fill: #dcebea; }
  .name { font-size: 15px; font-weight: 600; fill: #1c2b30; text-anchor: middle; }
  .package { font-size: 12px; font-family: monospace; fill: #35525c; text-anchor: middle; }
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
    """A package."""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="box {more}"/>\n'


def draw() -> str:
    """The picture."""
    parts = []
    for x, width, name, what in INTERFACES:
        parts.append(box(x, 20, width, 56))
        parts.append(text(x + width / 2, 44, name, "package") + text(x + width / 2, 64, what, "what"))
        parts.append(f'<path d="M {x + width / 2} 110 V 79" class="help"/>\n')
    for x, width, name, what, looks_at in TOP:
        middle = x + width / 2
        parts.append(box(x, 110, width, 56))
        parts.append(text(middle, 134, name, "package") + text(middle, 154, what, "what"))
        if looks_at is not None:
            parts.append(
                f'<path d="M {looks_at} 270 C {looks_at} 220 {middle} 220 {middle} 169" class="help"/>\n'
            )
    step, width = 148, 104
    for number, (name, command, package) in enumerate(STAGES):
        x = 20 + number * step
        parts.append(box(x, 270, width, 76, "stage"))
        parts.append(text(x + width / 2, 299, name, "name"))
        parts.append(text(x + width / 2, 320, package, "what" if number == 0 else "package"))
        if number:
            parts.append(f'<path d="M {x - step + width} 308 H {x - 3}" class="way"/>\n')
            parts.append(text(x - (step - width) / 2, 263, command, "command"))
    for x, name, what in BELOW:
        parts.append(box(x, 440, 180, 72))
        parts.append(text(x + 90, 462, name, "package") + text(x + 90, 482, what, "what"))
    parts.append('<path d="M 110 440 C 110 400 200 400 215 349" class="way"/>\n')
    parts.append(text(95, 398, "fetch", "command"))
    for start, end in ((330, 370), (400, 515), (560, 660), (770, 790)):
        parts.append(f'<path d="M {start} 440 C {start} 400 {end} 400 {end} 349" class="help"/>\n')
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
