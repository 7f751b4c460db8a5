"""The documentation as a site, and the pages that are made from the commands."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.conftest import LIMIT
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


def test_the_readme_has_the_tables_of_the_pages(script):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    made = script("readme_tables").with_tables(readme, ROOT / "docs")
    assert made == readme, "run: python scripts/readme_tables.py"


def test_relative_links_of_the_readme_lead_somewhere():
    for page in ("README.md", "CONTRIBUTING.md", "SECURITY.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
        assert [link for link in links if not link.startswith("http") and not (ROOT / link).exists()] == []


def test_the_site_builds_without_a_warning_and_fetches_nothing(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    how = {"cwd": ROOT, "env": {**os.environ, "NO_MKDOCS_2_WARNING": "1"}, "timeout": LIMIT}
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
    how = {"env": {**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}, "timeout": LIMIT}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)
    assert (done.returncode, done.stderr) == (0, "")
    assert "bagpack explain MODEL W1 W2" in done.stdout
    assert max(map(len, re.sub(r".\x08", "", done.stdout).splitlines())) <= 80


# The CI configuration -------------------------------------------------------------------------------------------------


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_workflows_are_valid_for_their_schema():
    schema = ["--builtin-schema", "vendor.github-workflows"]
    command = [sys.executable, "-m", "check_jsonschema", *schema, *map(str, WORKFLOWS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_and_commands_exist(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for job in jobs.values():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= jobs.keys()
        for command in (step.get("run", "") for step in job["steps"]):
            assert set(re.findall(r"\bmake ([\w-]+)", command)) <= targets
            named = re.findall(r"\btests/[\w/]+", command)
            assert [name for name in named if not (ROOT / name).exists()] == []
