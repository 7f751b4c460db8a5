"""The CI configuration: valid for its schema, jobs that exist, commands of the Makefile that exist."""

import re
import subprocess
import sys

import pytest
import yaml

from tests.docs.markdown import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_workflows_are_valid_for_their_schema():
    pytest.importorskip("check_jsonschema", reason="pip install check-jsonschema")
    schema = ["--builtin-schema", "vendor.github-workflows"]
    command = [sys.executable, "-m", "check_jsonschema", *schema, *map(str, WORKFLOWS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_run_what_make_lint_runs():
    [local] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))["repos"]
    entries = [hook["entry"].split()[0] for hook in local["hooks"]]
    assert entries == [".venv/bin/ruff", ".venv/bin/ruff", ".venv/bin/mypy"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_and_commands_exist(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for job in jobs.values():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= jobs.keys()
        for command in (step.get("run", "") for step in job["steps"]):
            assert set(re.findall(r"\bmake ([\w-]+)", command)) <= targets
            assert [
                name for name in re.findall(r"\btests/[\w/]+", command) if not (ROOT / name).exists()
            ] == []
