"""The page of found pairs in a real browser: nothing is loaded, nothing overflows, text is text."""

from dataclasses import replace

import pytest

from bagpack.contexts.concordance import Context
from bagpack.find.ranking import Found, FoundPair
from bagpack.report.html import render_found

LONG = "incomprehensibilities" * 4


def found():
    pieces = (
        "Once upon a time ",
        "the red ",
        "wheel",
        " of the ",
        "<b>cart</b>",
        " broke",
        f" near {LONG} .",
    )
    line = Context("texts/<i>town</i>.txt", "+", pieces, 0, 0, 4)
    rows = [
        FoundPair(
            n,
            "wheel" if n % 2 else LONG,
            "<b>cart</b>",
            13.0 - n,
            1234 * n,
            5,
            6,
            0.5,
            line if n < 12 else None,
        )
        for n in range(1, 13)
    ]
    return Found("part-of", tuple(rows), 1_234_567, 100_000, ("a note & another",))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_the_window(browser, tmp_path, width, scheme):
    path = tmp_path / "found.html"
    path.write_text(render_found(found(), "my <store>.bp"), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: request.url == path.as_uri() or complaints.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".found > li").count() == 12
    assert page.locator(".found .line").count() == 11
    first = page.locator(".found > li").first
    assert first.locator(".line b").all_inner_texts() == ["wheel", "<b>cart</b>"]
    assert first.locator(".sure").inner_text() == "▪▪▪▪▪"
    boxes = page.evaluate(
        "() => [...document.querySelectorAll('.found > li')].map(item => [...item.children].map(part => {"
        " const box = part.getBoundingClientRect(); return [box.left, box.right, box.top, box.bottom]; }))"
    )
    for parts in boxes:
        for left, right, *_ in parts:
            assert left >= 0 and right <= width + 1
        (_, end, *_), (start, *_) = parts[0], parts[2]
        assert start >= end - 1  # the pair is to the right of its rank
    assert complaints == []
    context.close()


def test_a_pair_that_never_meets_is_described_as_on_a_terminal():
    listed = found()
    rows = (replace(listed.rows[0], together=0), replace(listed.rows[1], together=1))
    text = render_found(replace(listed, rows=rows), "s.bp")
    assert ">never together<" in text and ">together once<" in text
