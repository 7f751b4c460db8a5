"""Every command and every Python example of README and docs is run, and what is shown is what is printed."""

import pytest
from scripts.refresh_examples import refresh

from bagpack import __version__
from tests.docs.kit import Kit
from tests.docs.markdown import COMMANDS, DATA, PYTHON, ROOT, blocks, pages
from tests.docs.running import DifferenceError, run_page


def problems(block):
    """What keeps a block from being either run or plainly data."""
    if block.reason is not None:
        return None if len(block.reason) > 5 else "says that it is not run, and not why"
    if block.indented:
        first = block.text.split(maxsplit=1)[:1]
        runs = first in (["bagpack"], ["$"], ["pip"], ["make"], ["curl"], ["import"], ["from"], ["python"])
        return "is indented, so it is not run; fence it as sh, console or python" if runs else None
    if block.language not in (*COMMANDS, *PYTHON, *DATA):
        return f"has the language {block.language!r}; use one of {', '.join((*COMMANDS, *PYTHON, *DATA))}"
    return None


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    return Kit(tmp_path_factory.mktemp("kit"))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_holds(page, kit, tmp_path):
    reported = [f"{block.place}: {why}" for block in blocks(page) if (why := problems(block))]
    assert reported == []
    run_page(page, kit, tmp_path)


# What runs the examples must notice a wrong output, a wrong exit code, and a block that nobody runs.


@pytest.fixture
def page(tmp_path, monkeypatch):
    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr("tests.docs.markdown.ROOT", tmp_path)
        return path

    return write


DIFFERENT = {
    "```console\n$ bagpack --version\nbagpack 99\n```\n": "bagpack --version",
    "```sh\nbagpack info nowhere\n```\n": "ended with",
    "```sh\nfalse\n```\n": "ended with 1",
    "```console\n$ bagpack --version\nbagpack: no such thing\n```\n": "ended with 0",
    "```python\nprint(1)\n```\n\n```output\n2\n```\n": "it printed\n1",
    "```pycon\n>>> 1 + 1\n3\n```\n": "Got",
}


def test_differences_are_reported(page, kit, tmp_path):
    for number, (text, reported) in enumerate(DIFFERENT.items()):
        with pytest.raises(DifferenceError) as found:
            run_page(page(text), kit, tmp_path / str(number))
        assert reported in str(found.value)
    for text in ("```julia\nx\n```\n", "    bagpack info x\n", "<!-- not run: -->\n```sh\nx\n```\n"):
        assert problems(*blocks(page(text)))


def test_what_is_shown_is_rewritten(page, kit, tmp_path):
    """With `scripts/refresh_examples.py`; what is shown with an ellipsis and still matches is left as it is."""
    console = "```console\n$ bagpack --version\n{}\n$ echo a; echo b\n...\n```\n\n"
    shown = console + "```python\nprint(1)\n```\n\n```output\n{}\n```\n"
    path = page(shown.format("bagpack 0\nof old", 2))
    assert [refresh(path, kit, tmp_path / name) for name in "ab"] == [True, False]
    assert path.read_text() == shown.format(f"bagpack {__version__}", 1)
