"""axe-core, the checker that browsers' own tools use, finds nothing serious on any page; and what it cannot check."""

import pytest

axe_package = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing"
)

PAGES = (
    "/", "/word/kinda01", "/word/nosuchword", "/pair/kinda01/kindb01", "/pair/kinda01/nosuchword", "/concordance",
    "/concordance?w1=the", "/concordance?w1=kinda01&w2=kindb01&sort=left&whole=1", "/model", "/nosuch",
    "/lines?w1=kinda01&w2=kindb01&feature=v12:%2Bbetw:of", "/distribution?w1=the&by=genre",
    "/distribution?w1=kinda01&w2=kindb01", "/distribution?w1=nosuchword", "/find",
)  # fmt: skip


def serious(page):
    """What axe-core finds on a page: rule, element, what to do."""
    found = axe_package.Axe().run(page).response["violations"]
    return [
        (page.url, item["id"], item["nodes"][0]["html"][:200], item["nodes"][0]["failureSummary"])
        for item in found
        if item["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(("scheme", "paths"), [("light", PAGES), ("dark", PAGES[3::4])])
def test_axe_finds_nothing_serious(visit, scheme, paths):
    page = visit("/", color_scheme=scheme)
    for path in paths:
        page.goto(path)
        assert serious(page) == []
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [rule for _, rule, *_ in serious(page)] == ["button-name"]


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
