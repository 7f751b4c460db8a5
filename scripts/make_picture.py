"""Make docs/assets/explanation.png, the README's picture: the page that `bagpack explain --html` writes, in a browser.

    make demo && python scripts/make_picture.py

No lines are shown: the corpus's sentences are not ours to hand on.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from ensure_test_tools import on_path
from playwright.sync_api import sync_playwright

from bagpack.explain import explain_pair
from bagpack.learn import load_model
from bagpack.report.html import render_explanation_page

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "assets" / "explanation.png"
PAIR = ("surgeon", "hospital")
WIDTH = 780


def main(demo: Path) -> None:
    """Explain the pair with the demo's model, and photograph the page."""
    model = load_model(demo / "relations.model")
    source = model.open_source(str(demo / "enwik8.bp"))
    answer = explain_pair(model, source, *PAIR, top=0, lines=0).answer
    found = explain_pair(model, source, *PAIR, labels=[answer], top=6, lines=0)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        page_file = Path(place) / "explanation.html"
        page_file.write_text(render_explanation_page(found.to_dict()), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=on_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 300}, device_scale_factor=1.5)
        page.goto(page_file.as_uri())
        page.screenshot(path=str(OUT), full_page=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "demo")
