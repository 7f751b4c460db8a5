"""The documentation as a site, and the pages that are made from the commands."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.docs.markdown import ROOT


@pytest.fixture
def script(monkeypatch):
    """Import a script as its neighbours do."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return __import__


@pytest.mark.parametrize("name", ["make_reference", "make_man", "draw_architecture", "draw_overview"])
def test_pages_and_drawings_are_up_to_date(script, name):
    made = script(name)
    path, text = (made.PAGE, made.render()) if name.startswith("make") else (made.OUT, made.draw())
    assert path.read_text(encoding="utf-8") == text, f"run: python scripts/{name}.py"


def test_tables_are_copied_into_the_readme(script, tmp_path):
    with_tables = script("readme_tables").with_tables
    marks = [f"<!-- {name}:{place} -->" for name in ("accuracy", "performance") for place in ("begin", "end")]
    readme = "\n".join(["a", marks[0], "old", *marks[1:], ""])
    assert with_tables(readme, tmp_path) == readme
    (tmp_path / "accuracy.md").write_text(
        "x\n<!-- readme:begin -->\n| 1 |\n<!-- readme:end -->\ny\n", "utf-8"
    )
    copied = with_tables(readme, tmp_path)
    assert (
        "| 1 |" in copied and "old" not in copied and "docs/accuracy.md" in copied and "\ny\n" not in copied
    )
    assert with_tables(copied, tmp_path) == copied


def test_the_readme_has_the_tables_of_the_pages(script):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert script("readme_tables").with_tables(readme, ROOT / "docs") == readme, (
        "run: python scripts/readme_tables.py"
    )


def test_relative_links_of_the_readme_lead_somewhere():
    for page in ("README.md", "CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = [
            link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) if not link.startswith("http")
        ]
        assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    how = {"cwd": ROOT, "env": {**os.environ, "NO_MKDOCS_2_WARNING": "1"}, "timeout": 120}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    fetched = re.compile(r'<(?:script|link|img|iframe)[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) >= len(list((ROOT / "docs").rglob("*.md")))
    for page in pages:
        assert fetched.findall(page.read_text(encoding="utf-8")) == [], page.name


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed: apt install man-db")
def test_the_man_page_is_read_without_a_warning():
    command = ["man", "--warnings", "-E", "UTF-8", "-l", str(ROOT / "man" / "bagpack.1")]
    environment = {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bagpack explain MODEL W1 W2" in done.stdout
    assert max(map(len, re.sub(r".\x08", "", done.stdout).splitlines())) <= 80
