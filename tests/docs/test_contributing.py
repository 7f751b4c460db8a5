"""CONTRIBUTING.md's worked examples, followed literally: its files are written, its commands run, outputs compared."""

from tests.docs.kit import Kit
from tests.docs.markdown import ROOT, blocks
from tests.docs.running import problems, run_page

PAGE = ROOT / "CONTRIBUTING.md"


def test_a_reader_and_a_task_are_added_as_written(tmp_path):
    assert [why for block in blocks(PAGE) if (why := problems(block))] == []
    run_page(PAGE, Kit(tmp_path / "kit"), tmp_path / "place")


def test_the_examples_are_there():
    written = {block.title for block in blocks(PAGE) if block.title}
    assert {f"my-bagpack/my_bagpack/{name}.py" for name in ("dialogue", "odd_one_out")} <= written
