"""Systems other than Linux, simulated: limits that they refuse, and file systems without locks."""

import resource

import pytest

from bagpack import artefacts, files


@pytest.mark.parametrize("hard", [resource.RLIM_INFINITY, 4096])
def test_an_infinite_limit_on_open_files_is_never_asked_for(monkeypatch, hard):
    """macOS: the hard limit is infinite, the kernel's own limit is not."""
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits[0]))
    files._allow_more_files.__wrapped__()
    assert asked == [4096 if hard == 4096 else 10_240]


def test_a_file_system_without_locks_refuses_nobody(tmp_path, monkeypatch):
    import filelock

    def unsupported(number, *, blocking):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(filelock, "lock_descriptor", unsupported)
    with artefacts.locked(tmp_path / "a"), artefacts.locked(tmp_path / "a"):
        (tmp_path / "a" / "data").touch()
