"""Systems other than Linux, simulated: modules, flags and signals that they lack, and limits that they refuse."""

import os
import re
import subprocess
import sys

import pytest

from bagpack import artefacts, files, parallel
from bagpack.errors import StoreError

resource = pytest.importorskip("resource", reason="simulates other systems on a POSIX one")

# What Windows lacks is hidden from BagPack, whose dependencies have ways of their own around it.
WITHOUT_POSIX = """
import builtins, importlib, os, pkgutil, shutil, signal, sys
from pathlib import Path

imported = builtins.__import__
def restricted(name, names=None, *rest, **more):
    ours = (names or {}).get("__name__", "").startswith("bagpack")
    if ours and name in ("fcntl", "resource", "termios", "pwd", "grp"):
        raise ImportError(f"no module {name}")
    return imported(name, names, *rest, **more)
builtins.__import__ = restricted
del signal.SIGHUP, os.O_NOFOLLOW, os.O_NONBLOCK
shutil._use_fd_functions = False  # they need O_NONBLOCK from Python 3.13 on; Windows has none of them

import bagpack
for module in pkgutil.walk_packages(bagpack.__path__, "bagpack."):
    importlib.import_module(module.name)

replace = os.replace
def replace_unless_open(source, target):
    opened = [os.readlink(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")
              if os.path.islink(f"/proc/self/fd/{number}")]
    mapped = [line.split(maxsplit=5)[-1].strip() for line in open("/proc/self/maps")]
    for path in (os.path.abspath(source), os.path.abspath(target)):
        inside = [name for name in (*opened, *mapped) if name == path or name.startswith(path + os.sep)]
        assert not inside, f"renamed {path} while open: {inside}"
    replace(source, target)
os.replace = replace_unless_open

from bagpack.cli import app
Path("a.txt").write_text("A robin is a bird. The wheel of a car turns. A trout is a fish. A car has a wheel.\\n" * 20)
Path("d.tsv").write_text("w1\\tw2\\tlabel\\nrobin\\tbird\\tkind\\ntrout\\tfish\\tkind\\nwheel\\tcar\\tpart\\n")
for line in (
    "index a.txt --out s --quiet", "index a.txt --out s --overwrite --quiet", "info s --verify",
    "contexts s robin bird", "vectors s d.tsv --out m --quiet", "vectors s d.tsv --out m --overwrite --quiet",
    "train s d.tsv --out model --no-scores --quiet", "predict model d.tsv --out p.tsv --quiet",
):
    code = app(line.split(), standalone_mode=False) or 0
    assert code == 0, (line, code)
print(Path("p.tsv").read_text())
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/maps"), reason="looks at open files and maps in Linux's /proc"
)
def test_the_way_from_text_to_predictions_needs_nothing_that_windows_lacks(tmp_path):
    """No POSIX module is imported, and no directory or file is renamed while it is open or mapped."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert re.search(r"^robin\tbird\tkind\t", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("largest", [65_536, 10_240])
def test_an_infinite_limit_on_open_files_is_never_asked_for(monkeypatch, largest):
    """macOS: the hard limit is infinite, the kernel's own limit is not."""
    asked = []

    def refuse(kind, limits):
        asked.append(limits[0])
        if not 0 < limits[0] <= largest:
            raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert files._allow_more_files()
    assert resource.RLIM_INFINITY not in asked and asked[-1] == largest


def test_without_resource_the_message_names_no_limit(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert not files._allow_more_files()
    assert "too many open files; close other programs" in str(files.too_many_files("x"))


def test_links_are_refused_where_opening_cannot_refuse_them(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_NOFOLLOW")
    monkeypatch.setattr(files, "OPEN_FLAGS", os.O_RDONLY)
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "link").symlink_to("file")
    assert files.open_regular(tmp_path / "file").read() == b"1"
    with pytest.raises(StoreError, match="is a symbolic link"):
        files.open_regular(tmp_path / "link")


@pytest.mark.parametrize("name", ["C:evil", "C:\\evil", "..\\evil", "\\\\server\\evil", "a:stream"])
def test_names_that_lead_out_on_windows(tmp_path, name):
    with pytest.raises(StoreError, match="which is not inside it"):
        artefacts.member(tmp_path, name)


def test_a_file_system_without_locks_refuses_nobody(tmp_path, monkeypatch):
    import filelock

    def unsupported(number, *, blocking):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(filelock, "lock_descriptor", unsupported)
    with artefacts.locked(tmp_path / "a"), artefacts.locked(tmp_path / "a"):
        (tmp_path / "a" / "data").touch()


def test_a_worker_names_its_machine_without_uname(monkeypatch):
    monkeypatch.delattr(os, "uname", raising=False)
    with pytest.raises(parallel.WorkerError, match="does not exist on "):
        parallel.check_reached("/nowhere")
