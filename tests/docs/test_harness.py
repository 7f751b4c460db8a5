"""The harness itself: it must notice a wrong output, a wrong exit code, and a block that nobody runs."""

import pytest

from tests.docs.kit import Kit
from tests.docs.markdown import blocks, matches
from tests.docs.running import DifferenceError, problems, run_page


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    return Kit(tmp_path_factory.mktemp("kit"))


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
    assert matches(["a", "...", "z"], ["a", "z"])
    assert not matches(["a ... c"], ["a b", "c"])
    assert not matches(["a.b"], ["axb"])
    assert matches(["a"], ["a  ", ""])


DIFFERENT = {
    "```console\n$ bagpack --version\nbagpack 99\n```\n": "bagpack --version",
    "```sh\nbagpack info nowhere\n```\n": "ended with",
    "```sh\nfalse\n```\n": "ended with 1",
    "```console\n$ bagpack --version\nbagpack: no such thing\n```\n": "ended with 0",
    "```python\nprint(1)\n```\n\n```output\n2\n```\n": "it printed\n1",
    "```pycon\n>>> 1 + 1\n3\n```\n": "Got",
}


def test_differences_are_told(page, kit, tmp_path):
    for number, (text, told) in enumerate(DIFFERENT.items()):
        with pytest.raises(DifferenceError) as found:
            run_page(page(text), kit, tmp_path / str(number))
        assert told in str(found.value)


def test_pipes_redirections_comments_and_files(page, kit, tmp_path):
    text = (
        '```tsv title="two.tsv"\nw1\tw2\ncat\tlion\n```\n\n'
        "```console\n$ cat two.tsv | wc -l > lines.txt    # two\n$ cat lines.txt\n2\n"
        "$ bagpack fetch two.tsv --engine tantivy: --dry-run | head -n 1 | tr a-z A-Z\n"
        "CAT\tCAT, CATS, CATTING, CATTED\n"
        "$ bagpack info nowhere\nbagpack: ...\n```\n\n"
        "```pycon\n>>> x = 2\n```\n\n```python\nprint(x)\n```\n\n```output\n2\n```\n"
        "\n<!-- not run: needs a cluster -->\n```sh\nfalse\n```\n"
    )
    run_page(page(text), kit, tmp_path / "place")


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
