"""Reports and pages of found pairs in a real browser: nothing is loaded, nothing overflows, everything opens."""

from dataclasses import replace

import pytest
from tests.report.conftest import evaluation

from bagpack.contexts.concordance import Context
from bagpack.find.ranking import Found, FoundPair
from bagpack.report.html import render_found, render_report


@pytest.fixture
def show(open_page, tmp_path):
    """Open a report, or a page as text, as a file."""

    def go(report, width, scheme="light"):
        path = tmp_path / "report.html"
        text = report if isinstance(report, str) else render_report(evaluation(report))
        path.write_text(text, encoding="utf-8")
        return open_page(path.as_uri(), width=width, color_scheme=scheme)

    return go


WINDOWS = pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])


@WINDOWS
def test_a_report_fits_the_window_has_no_blank_rows_and_scrolls_by_keyboard(show, result, width, scheme):
    page = show(result, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    blank = page.evaluate(
        """() => [...document.querySelectorAll("tbody tr")].filter(row => {
            const texts = [...row.cells].map(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return range.getBoundingClientRect().height;
            });
            return row.getBoundingClientRect().height > 180 || texts.every(height => height === 0);
        }).map(row => row.innerText)"""
    )
    assert blank == []
    # A region that scrolls can be reached, and has a name.
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true })")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter(part =>
            part.scrollWidth > part.clientWidth + 1 && getComputedStyle(part).overflowX === "auto"
            && !(part.tabIndex === 0 && part.getAttribute("role") === "region" && (part.getAttribute("aria-label")
                 || document.getElementById(part.getAttribute("aria-labelledby"))?.innerText))
        ).map(part => part.outerHTML.slice(0, 80))"""
    )
    assert nameless == [] and page.get_by_role("region").count() > 0


def test_a_mistake_opens_its_sentences(show, relations):
    page = show(relations, 390)
    mistakes = page.locator("section", has=page.get_by_role("heading", name="Surest mistakes"))
    assert mistakes.locator(".pair").all_inner_texts() == ["lion – cat", "wing – bird", "xyzzy – bird"]
    sentence = mistakes.get_by_text("that is a")
    assert not sentence.is_visible()
    mistakes.get_by_text("lion – cat").click()
    assert sentence.is_visible()
    assert mistakes.locator("summary").count() == 1  # pairs never seen together have nothing to open
    for text in ("never seen together", "unknown word, withheld"):
        assert mistakes.get_by_text(text).count() == 1


# Pairs found ----------------------------------------------------------------------------------------------------------


LONG = "incomprehensibilities" * 4


def found():
    pieces = "Once upon a time ", "the red ", "wheel", " of the ", "<b>cart</b>", " broke", f" near {LONG} ."
    line = Context("texts/<i>town</i>.txt", "+", pieces, 0, 0, 4)
    rows = []
    for n in range(1, 13):
        numbers = 13.0 - n, 1234 * n, 5, 6, 0.5
        word, shown = "wheel" if n % 2 else LONG, line if n < 12 else None
        rows.append(FoundPair(n, word, "<b>cart</b>", *numbers, shown))
    return Found("part-of", tuple(rows), 1_234_567, 100_000, ("a note & another",))


@WINDOWS
def test_found_pairs_fit_the_window_and_text_is_text(show, width, scheme):
    page = show(render_found(found(), "my <store>.bp"), width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".found > li").count() == 12
    assert page.locator(".found .line").count() == 11
    first = page.locator(".found > li").first
    assert first.locator(".line b").all_inner_texts() == ["wheel", "<b>cart</b>"]
    assert first.locator(".sure").inner_text() == "▪▪▪▪▪"
    boxes = page.evaluate(
        "() => [...document.querySelectorAll('.found > li')].map(item => [...item.children].map(part => {"
        " const box = part.getBoundingClientRect(); return [box.left, box.right]; }))"
    )
    for parts in boxes:
        assert all(left >= 0 and right <= width + 1 for left, right in parts)
        assert parts[2][0] >= parts[0][1] - 1  # the pair is to the right of its rank


def test_a_pair_that_never_meets_is_described_as_on_a_terminal():
    listed = found()
    rows = (replace(listed.rows[0], together=0), replace(listed.rows[1], together=1))
    text = render_found(replace(listed, rows=rows), "s.bp")
    assert ">never together<" in text and ">together once<" in text
