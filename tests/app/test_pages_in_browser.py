"""The explorer as a person uses it, in a real browser."""

from itertools import pairwise

import pytest

PAIR = "/pair/kinda01/kindb01"


def test_type_a_pair_open_a_feature_read_its_lines(visit):
    page = visit("/")
    offered = page.locator("main .pair").first
    assert page.request.get(offered.get_attribute("href")).ok and " – " in offered.inner_text()
    page.get_by_label("First word").fill("kinda")
    page.locator("#home-1-list option").first.wait_for(state="attached")
    assert page.locator("#home-1-list option").first.get_attribute("value").startswith("kinda")
    page.get_by_label("First word").fill("kinda01")
    page.get_by_label("Second word", exact=True).fill("kindb01")
    page.locator(".big-find button").click()
    page.wait_for_url("**" + PAIR)
    assert page.locator("h1").inner_text() == "kinda01 – kindb01"
    assert page.locator("#h-why").inner_text().startswith("Predicted: kind, probability ")
    feature = page.locator("details.feature").first
    feature.locator("summary").click()
    feature.locator(".linelist li").first.wait_for()
    reported = feature.locator(".lines p").first.inner_text()
    shown = feature.locator(".linelist li").count()
    assert reported.startswith(f"{shown} of ")
    assert {"kinda01", "kindb01"} & {*feature.locator("mark").all_inner_texts()}


def test_a_feature_whose_lines_could_not_be_had_is_asked_again(visit):
    page = visit(PAIR)
    busy = {"status": 503, "body": "<p class='warn'>Too many.</p>"}
    page.route("**/lines?**", lambda route: route.fulfill(**busy), times=1)
    feature = page.locator("details.feature").first
    feature.locator("summary").click()
    assert feature.locator(".warn").inner_text() == "Too many."
    feature.locator("summary").click()
    feature.locator("summary").click()
    feature.locator(".linelist li").first.wait_for()


def test_html_in_the_corpus_stays_text(visit):
    page = visit(PAIR)
    for path in (PAIR, "/concordance?w1=kinda01&w2=kindb01"):
        page.goto(path)
        assert "<script>document.title='pwned'</script>" in page.locator("main").inner_text()
        assert "pwned" not in page.title()
    page.goto("/pair?w1=%3Cscript%3Ealert(1)%3C%2Fscript%3E&w2=x")
    assert page.locator("main script").count() == 0
    assert "contain <script>" in page.locator("main").inner_text()


def test_sort_page_and_download_a_concordance(visit):
    page = visit("/concordance?w1=the&size=20")
    rows = page.locator(".kwic tbody tr")
    first = rows.all_inner_texts()
    page.get_by_role("link", name="right context").click()
    page.wait_for_url("**sort=right**")
    rights = [text.casefold().split()[0] for text in page.locator(".kwic td.right").all_inner_texts()]
    assert rights == sorted(rights) and rows.count() == 20
    page.get_by_role("link", name="left context").click()
    page.wait_for_url("**sort=left**")
    lefts = [text.casefold().split()[-1:] for text in page.locator(".kwic td.left").all_text_contents()]
    assert lefts == sorted(lefts)
    page.get_by_role("link", name="corpus order").click()
    page.get_by_role("link", name="Next", exact=True).click()
    page.wait_for_url("**page=2**")
    assert rows.all_inner_texts() != first
    page.get_by_role("link", name="Previous").click()
    page.wait_for_url(lambda url: "page=" not in url)
    assert rows.all_inner_texts() == first
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV").click()
    lines = waiting.value.path().read_text("utf-8-sig").splitlines()
    total = int(page.locator(".lede b").inner_text().replace(",", ""))
    assert waiting.value.suggested_filename == "concordance-the.csv"
    assert lines[0].startswith("document,order,left,key") and len(lines) == 1 + total


def test_the_model_and_every_page_as_json(visit):
    page = visit(PAIR)
    page.get_by_role("link", name="Model", exact=True).click()
    page.wait_for_url("**/model")
    assert page.locator(".cards article").count() == 3 and "Accuracy" in page.locator("main").inner_text()
    said = page.locator(".features .say").all_inner_texts()  # every feature in words
    assert len(said) >= 15 and not [text for text in said if text.startswith(("pair:", "v1", "v2"))]
    for path in ("/", PAIR, "/word/kinda01", "/concordance?w1=the", "/model"):
        page.goto(path)
        twin = page.locator("link[rel=alternate]").get_attribute("href")
        assert page.get_by_role("link", name="this page as JSON").get_attribute("href") == twin
        assert page.request.get(twin).json()


def test_keyboard_alone(visit):
    page = visit("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("/")
    page.keyboard.type("kinda01")
    page.keyboard.press("Tab")
    page.keyboard.type("kindb01")
    page.keyboard.press("Enter")
    page.wait_for_url("**" + PAIR)
    page.locator("details.feature summary").first.focus()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    page.keyboard.press("Enter")
    page.locator("details.feature[open] .linelist li").first.wait_for()
    assert outline != "none"
    for path in ("/", PAIR, "/concordance?w1=the", "/model", "/word/the"):  # headings do not skip a level
        page.goto(path)
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
        assert levels[0] == 1 and all(b - a <= 1 for a, b in pairwise(levels)), (path, levels)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone_and_both_schemes(visit, scheme):
    page = visit("/", width=390, color_scheme=scheme, has_touch=True)
    paths = ("/", PAIR, "/word/the", "/concordance?w1=the", "/concordance?w1=kinda01&w2=kindb01", "/model",
             "/nosuch", "/find")  # fmt: skip
    for path in paths:
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
        colours = "(own => [own.backgroundColor, own.color])(getComputedStyle(document.body))"
        ground, ink = (sum(map(int, own[4:-1].split(","))) for own in page.evaluate(colours))
        assert (ground > ink) == (scheme == "light"), path


def test_without_javascript_everything_is_reached(visit):
    page = visit(PAIR, java_script_enabled=False)
    page.locator("details.feature summary").first.click()
    for link in (page.get_by_role("link", name="Show its lines"), page.locator(".places a")):
        link.first.click()
        page.wait_for_url("**/lines?**")
        assert page.locator(".linelist li").count() >= 1 and "kinda01" in page.locator("h1").inner_text()
        page.get_by_role("link", name="kinda01 – kindb01").click()
        page.wait_for_url("**" + PAIR)
        page.locator("details.feature summary").first.click()
    page.goto("/pair/the/the")  # a word with itself is shown once
    assert page.locator(".lede a").all_inner_texts() == ["the"]
    assert page.get_by_role("link", name="Swap words").count() == 0


def test_cut_lines_are_shown_whole_with_one_link_and_rows_are_no_tab_stops(visit):
    page = visit("/concordance?w1=the", width=800)
    assert page.locator(".kwic [tabindex]").count() == 0
    # Lines of this little world are short, and are cut when they are written large.
    large = "e => { e.style.fontSize = '3rem'; }"
    page.locator(".kwic").evaluate(large)
    row = page.locator(".kwic tbody tr").first
    styles = "e => [getComputedStyle(e).textOverflow, getComputedStyle(e).direction]"
    assert row.locator(".left div").evaluate(styles) == ["ellipsis", "rtl"]
    assert row.locator(".left bdi").evaluate(styles)[1] == "ltr"
    cut = "r => [...r.querySelectorAll('td, td.left div')].some(e => e.scrollWidth > e.clientWidth + 1)"
    assert row.evaluate(cut)
    page.get_by_role("link", name="Whole lines").click()
    page.wait_for_url("**whole=1")
    page.locator(".kwic").evaluate(large)
    assert not row.locator("td.right").evaluate("e => e.scrollWidth > e.clientWidth + 1")
    assert row.locator(".left div").evaluate(styles)[1] == "ltr"
    page.get_by_role("link", name="right context").click()
    page.wait_for_url("**sort=right**")
    assert "whole=1" in page.url


# Accessibility --------------------------------------------------------------------------------------------------------


axe_package = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing"
)

PAGES = (
    "/", "/word/kinda01", "/word/nosuchword", "/pair/kinda01/kindb01", "/pair/kinda01/nosuchword", "/concordance",
    "/concordance?w1=the", "/concordance?w1=kinda01&w2=kindb01&sort=left&whole=1", "/model", "/nosuch",
    "/lines?w1=kinda01&w2=kindb01&feature=v12:%2Bbetw:of", "/distribution?w1=the&by=genre",
    "/distribution?w1=kinda01&w2=kindb01", "/distribution?w1=nosuchword", "/find",
)  # fmt: skip


def violations(page):
    """What axe-core finds on a page: rule, element, what to do."""
    found = [(item["id"], item["nodes"][0]) for item in axe_package.Axe().run(page).response["violations"]]
    return [(page.url, rule, node["html"][:200], node["failureSummary"]) for rule, node in found]


@pytest.mark.parametrize(("scheme", "paths"), [("light", PAGES), ("dark", PAGES[3::4])])
def test_axe_finds_nothing(visit, scheme, paths):
    page = visit("/", color_scheme=scheme)
    for path in paths:
        page.goto(path)
        assert violations(page) == []
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [rule for _, rule, *_ in violations(page)] == ["button-name"]


def test_shortcuts_can_be_turned_off_and_stay_off(visit):
    page = visit("/concordance?w1=the&size=20")
    page.get_by_role("button", name="Shortcuts on").click()
    page.keyboard.press("n")
    page.reload()
    assert "page=2" not in page.url
    switch = page.get_by_role("button", name="Shortcuts off")
    assert switch.get_attribute("aria-pressed") == "false"
    page.keyboard.press("n")
    page.wait_for_timeout(200)
    assert "page=2" not in page.url
    switch.click()
    page.locator("h1").click()
    page.keyboard.press("n")
    page.wait_for_url("**page=2**")
