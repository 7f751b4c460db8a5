"""Make the pictures of docs/assets in a browser.

    make demo && python scripts/make_picture.py

explanation.png is the page of `bagpack explain --html` for the demo's model, without lines: the corpus's sentences are
not ours to hand on. explorer.png and workbench.png are pages of `bagpack serve` over docs/examples/texts, which are.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from ensure_test_tools import on_path
from playwright.sync_api import Error, Page, sync_playwright

from bagpack.explain.explanation import explain_pair
from bagpack.learn.model_io import load_model
from bagpack.report.html import render_explanation

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "assets" / "explanation.png"
PAIR = ("surgeon", "hospital")
WIDTH = 780
PORT = "8769"
ANSWERS = "yyyyn"  # to the first pairs: three birds and a tree, but no cat


def main(demo: Path) -> None:
    """Explain the pair with the demo's model, and photograph the page."""
    model = load_model(demo / "relations.model")
    source = model.open_source(str(demo / "enwik8.bp"))
    answer = explain_pair(model, source, *PAIR, top=0, lines=0).answer
    found = explain_pair(model, source, *PAIR, labels=[answer], top=6, lines=0)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        page_file = Path(place) / "explanation.html"
        page_file.write_text(render_explanation(found.to_dict()), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=on_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 300}, device_scale_factor=1.5)
        page.goto(page_file.as_uri())
        page.screenshot(path=str(OUT), full_page=True)
        browser.close()


def explorer() -> None:
    """Photograph the page of a pair and the workbench, over the documentation's own texts."""
    examples = ROOT / "docs" / "examples"
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        store, model = f"{place}/my.bp", f"{place}/my.model"
        run = [sys.executable, "-m", "bagpack"]
        subprocess.run([*run, "index", examples / "texts", "--out", store, "--quiet"], check=True)
        relations = examples / "relations.tsv"
        subprocess.run(
            [*run, "train", store, relations, "--out", model, "--no-scores", "--quiet"], check=True
        )
        server = subprocess.Popen([*run, "serve", store, "--model", model, "--port", PORT])
        try:
            browser = playwright.chromium.launch(executable_path=on_path(), args=["--no-sandbox"])
            page = browser.new_page(
                viewport={"width": 1200, "height": 760}, base_url=f"http://localhost:{PORT}"
            )
            while True:
                try:
                    page.goto("/pair/leaf/tree")
                    break
                except Error:  # not up yet
                    time.sleep(0.2)
            page.screenshot(path=str(OUT.with_name("explorer.png")))
            workbench(page, relations.read_text(encoding="utf-8"))
            browser.close()
        finally:
            server.terminate()


def workbench(page: Page, table: str) -> None:
    """Find kinds of things from six examples, and answer the first pairs."""
    kinds = [line.split("\t")[:2] for line in table.splitlines() if line.endswith("\tkind")][:6]
    page.goto(f"/find?{urlencode({'pairs': chr(10).join(map(chr(9).join, kinds))})}")
    page.locator("#found > li").first.wait_for()
    for number, answer in enumerate(ANSWERS):
        page.keyboard.press(answer)
        page.locator("#found > li:is(.is-right, .is-wrong)").nth(number).wait_for()
    page.locator("#quality-text", has_text=f" of {len(ANSWERS)} right").wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=str(OUT.with_name("workbench.png")))


if __name__ == "__main__":
    explorer()
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "demo")
