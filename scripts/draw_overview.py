"""Draw docs/assets/overview.svg: from text to answers, for the README and the start page."""

from __future__ import annotations

from html import escape
from pathlib import Path

OUT = Path(__file__).parents[1] / "docs" / "assets" / "overview.svg"
WIDTH, HEIGHT = 600, 440
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
STAGES = [  # what there is, an example, the command that continues
    ("Corpus", "The leaf of the tree turns red.", "bagpack index"),
    ("Counts", "leaf … of the … tree: 1", "bagpack train"),
    ("Model", "leaf – tree: part of, 84 %", ""),
]
ANSWERS = [
    ("find", "more pairs", "like these"),
    ("teach", "by answering", "yes or no"),
    ("explain", "with the", "sentences"),
]
STYLE = f"""
  text {{ font-family: {FONT}; fill: #1f2d33; }}
  .name {{ font-size: 22px; font-weight: 600; }}
  .example {{ font-size: 19px; fill: #46606a; }}
  .command {{ font-size: 17px; fill: #00695c; font-family: {MONO}; }}
  .answer {{ font-size: 20px; font-weight: 600; fill: #00695c; font-family: {MONO}; text-anchor: middle; }}
  .what {{ font-size: 18px; fill: #46606a; text-anchor: middle; }}
  .box {{ fill: #f3f8f8; stroke: #5f7f88; stroke-width: 1.4; }}
  .result {{ fill: #e7f4f1; stroke: #00796b; stroke-width: 1.4; }}
  .arrow {{ stroke: #5f7f88; stroke-width: 2; fill: none; marker-end: url(#tip); }}
"""


def draw() -> str:
    """The picture: three stages from top to bottom, and the three commands that use the model."""
    parts = []
    for number, (name, example, command) in enumerate(STAGES):
        y = 20 + number * 100
        parts.append(f'<rect x="20" y="{y}" width="560" height="60" rx="10" class="box"/>')
        parts.append(f'<text x="44" y="{y + 38}" class="name">{name}</text>')
        parts.append(f'<text x="180" y="{y + 37}" class="example">{escape(example)}</text>')
        if command:
            parts.append(f'<path d="M 85 {y + 64} V {y + 92}" class="arrow"/>')
            parts.append(f'<text x="104" y="{y + 86}" class="command">{command}</text>')
    for number, (command, *what) in enumerate(ANSWERS):
        x = 20 + number * 192
        parts.append(f'<path d="M {x + 88} 284 V 312" class="arrow"/>')
        parts.append(f'<rect x="{x}" y="320" width="176" height="100" rx="10" class="result"/>')
        parts.append(f'<text x="{x + 88}" y="350" class="answer">{command}</text>')
        parts += [
            f'<text x="{x + 88}" y="{378 + 24 * line}" class="what">{escape(words)}</text>'
            for line, words in enumerate(what)
        ]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
        'aria-label="Text becomes a corpus, counts and a model, which finds, learns and explains pairs">\n'
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="tip" markerWidth="10" markerHeight="10" refX="5" refY="5" orient="auto" '
        'markerUnits="userSpaceOnUse"><path d="M0 0 L10 5 L0 10 z" fill="#5f7f88"/></marker></defs>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#fff"/>\n{body}\n</svg>\n'
    )


if __name__ == "__main__":
    OUT.write_text(draw(), encoding="utf-8")
