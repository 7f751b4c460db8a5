"""What is released: sdist and wheel hold what they must, and the wheel runs on its own."""

import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests.docs.markdown import ROOT

RUN = "import bagpack; print(bagpack.__file__); from bagpack.cli import main; main()"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    place = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(place), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = place.glob("*.whl")
    (sdist,) = place.glob("*.tar.gz")
    return wheel, sdist


def test_twine_finds_nothing_wrong(built):
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout


def test_the_wheel_holds_all_that_runs_and_nothing_else(built):
    names = zipfile.ZipFile(built[0]).namelist()
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {str(path.relative_to(ROOT / "src")) for path in files} <= set(names)
    assert any(name.endswith("share/man/man1/bagpack.1") for name in names)
    assert not any(name.startswith(("tests/", "docs/")) for name in names)


def test_the_sdist_holds_what_developing_needs(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("README.md", "Makefile", "CONTRIBUTING.md", "tests/conftest.py", "docs/index.md", "mkdocs.yml",
                   "docs/examples/texts/animals.txt", "man/bagpack.1", "scripts/release.py"):  # fmt: skip
        assert needed in names
    assert not any(name.startswith((".venv", "dist", "demo", "site")) for name in names)


def test_the_wheel_runs_alone(built, tmp_path):
    target = tmp_path / "installed"
    pip = f"{sys.executable} -m pip install --quiet --no-deps --no-index --target {target} {built[0]}"
    subprocess.run(pip.split(), check=True, timeout=120)
    environment = {**os.environ, "PYTHONPATH": str(target)}
    command = [sys.executable, "-c", RUN, "--version"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert str(target) in done.stdout and "bagpack 0." in done.stdout
