"""Every command and every Python example of README and docs is run, and what is shown is what is printed."""

import pytest

from tests.docs.kit import Kit
from tests.docs.markdown import ROOT, blocks, pages
from tests.docs.running import problems, run_page


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    return Kit(tmp_path_factory.mktemp("kit"))


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_holds(page, kit, tmp_path):
    told = [f"{block.place}: {why}" for block in blocks(page) if (why := problems(block))]
    assert told == []
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
