"""The report in a real browser: nothing is loaded, nothing overflows, everything opens."""

import pytest
from tests.report.conftest import evaluation

from bagpack.report.html import render_report, write_page


@pytest.fixture
def show(browser, tmp_path):
    """Open a report; a request other than for the page, or a message of the browser, fails the test."""
    opened, complaints = [], []

    def go(result, width, scheme="light"):
        path = tmp_path / f"report-{len(opened)}.html"
        write_page(path, render_report(evaluation(result)))
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: request.url == path.as_uri() or complaints.append(request.url))
        page.goto(path.as_uri())
        return page

    yield go
    for context in opened:
        context.close()
    assert complaints == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
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
            && !(part.tabIndex === 0 && part.getAttribute("role") === "region"
                 && (part.getAttribute("aria-label") || part.getAttribute("aria-labelledby")))
        ).map(part => part.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    regions = page.get_by_role("region").all()
    assert regions
    for region in regions:
        assert region.evaluate(
            """part => part.getAttribute("aria-label")
            || document.getElementById(part.getAttribute("aria-labelledby")).innerText"""
        )


def test_a_mistake_opens_its_sentences(show, relations):
    page = show(relations, 390)
    mistakes = page.locator("section", has=page.get_by_role("heading", name="Surest mistakes"))
    assert mistakes.locator(".pair").all_inner_texts() == ["lion – cat", "wing – bird", "xyzzy – bird"]
    sentence = mistakes.get_by_text("that is a")
    assert not sentence.is_visible()
    mistakes.get_by_text("lion – cat").click()
    assert sentence.is_visible()
    assert mistakes.locator("summary").count() == 1  # pairs never seen together have nothing to open
    assert mistakes.get_by_text("never seen together").count() == 1
    assert mistakes.get_by_text("unknown word, withheld").count() == 1
