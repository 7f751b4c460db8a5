"""Every command and every Python example of README and docs is run, and what is shown is what is printed."""

import pytest

from tests.docs.kit import Kit
from tests.docs.markdown import ROOT, blocks, matches, pages
from tests.docs.running import DifferenceError, problems, run_page


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    return Kit(tmp_path_factory.mktemp("kit"))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_holds(page, kit, tmp_path):
    reported = [f"{block.place}: {why}" for block in blocks(page) if (why := problems(block))]
    assert reported == []
    run_page(page, kit, tmp_path)


def test_what_is_not_run_says_why(capsys):
    left = [block for page in pages() for block in blocks(page) if block.reason]
    with capsys.disabled():
        print(f"\n{len(left)} examples are not run:")
        for block in left:
            print(f"  {block.place}: {block.reason}")
    assert [block.place for block in left if len(block.reason.split()) < 2] == []
    written = {block.title for block in blocks(ROOT / "CONTRIBUTING.md")}
    assert {f"my-bagpack/my_bagpack/{name}.py" for name in ("dialogue", "odd_one_out")} <= written


# What runs the examples must notice a wrong output, a wrong exit code, and a block that nobody runs.


@pytest.fixture
def page(tmp_path, monkeypatch):
    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr("tests.docs.markdown.ROOT", tmp_path)
        return path

    return write


def test_ellipses():
    assert matches(["a ... c", "...", "z"], ["a b c", "1", "2", "z"])
    assert matches(["a", "...", "z"], ["a", "z"]) and matches(["a"], ["a  ", ""])
    assert not matches(["a ... c"], ["a b", "c"]) and not matches(["a.b"], ["axb"])


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


BLOCKS = {
    "```\nbagpack info x\n```\n": False,
    "    bagpack info x\n": False,
    "    a  b  c\n": True,
    "```julia\nx\n```\n": False,
    "<!-- not run: -->\n```sh\nx\n```\n": False,
    "<!-- not run: needs a SLURM cluster -->\n\n```sh\nsbatch x\n```\n": True,
    "<!-- not run: needs a SLURM cluster -->\n\nProse.\n\n```julia\nx\n```\n": False,
}


def test_blocks_that_nobody_would_run(page):
    for text, fine in BLOCKS.items():
        (block,) = blocks(page(text))
        assert (problems(block) is None) == fine, text
