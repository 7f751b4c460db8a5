"""Artefact directories: committed by one rename whatever happens, checksummed, and never leading out of themselves."""

import errno
import json
import os
import resource
from contextlib import contextmanager
from unittest.mock import Mock

import pytest
from tests.kills import killed_at

from bagpack import files
from bagpack.artefacts import LOCK, Kind, check_place, locked, member, new_artefact, open_artefact
from bagpack.errors import StoreError
from bagpack.files import DiskError, map_array, read_json, replacing, write_text

TEST = Kind("test", "test artefact", 1, "bagpack test")


def save(path, content, overwrite=True):
    with new_artefact(path, TEST, overwrite=overwrite) as draft:
        (draft.directory / "inner").mkdir()
        (draft.directory / "inner" / "data").write_text(content)
        (draft.directory / "more").write_text(content * 2)
        draft.manifest = {"content": content}


def content_of(path):
    stored = open_artefact(path, TEST)
    assert stored.damages() == []
    assert set(stored.manifest["checksums"]) == {"inner/data", "more", "files"}
    return stored.file("inner/data").read_text()


@pytest.mark.parametrize("before", ["old", None])
def test_a_kill_at_any_step_leaves_the_old_artefact_or_the_new_one(tmp_path, before):
    """And nothing that is in the way of the next one."""
    seen = set()
    for step in range(1, 100):
        path = tmp_path / str(step)
        if before:
            save(path, before)
        died = killed_at(step, lambda path=path: save(path, "new", overwrite=bool(before)))
        exists = (path / "manifest.json").exists()
        seen.add(content_of(path) if exists else None)
        save(path, "next", overwrite=exists)
        save(path, "last")
        assert content_of(path) == "last"
        assert len(list(path.glob("data*"))) == 2  # of the two last commits
        if not died:
            break
    assert step > 5
    assert seen == {before, "new"}
    assert {entry.name for entry in tmp_path.iterdir()} == {str(n + 1) for n in range(step)}


def test_an_error_while_writing_keeps_the_old_artefact(tmp_path):
    save(tmp_path / "a", "old")
    full = OSError(errno.ENOSPC, "No space left on device")
    for name, error, reported in (("a", full, DiskError), ("none", ZeroDivisionError(), ZeroDivisionError)):
        with pytest.raises(reported), new_artefact(tmp_path / name, TEST, overwrite=True) as draft:
            (draft.directory / "data").write_text("half")
            raise error
    assert content_of(tmp_path / "a") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]
    assert not (tmp_path / "a" / ".bagpack-new").exists()


def test_the_error_names_the_file_that_is_missing(tmp_path):
    """Not the output, while that is written."""
    for writing in (
        lambda: replacing(tmp_path / "out.tsv"),
        lambda: new_artefact(tmp_path / "x.model", TEST),
    ):
        with pytest.raises(FileNotFoundError, match="missing"), writing():
            (tmp_path / "in" / "missing.tsv").read_text()
    no_place = pytest.raises(StoreError, match=r"none/out\.tsv cannot be written: .*; choose another")
    with no_place, replacing(tmp_path / "none" / "out.tsv"):
        pass


def test_a_new_artefact_leaves_the_old_files_to_readers_and_replaces_damaged_ones(tmp_path):
    save(tmp_path / "a", "old")
    before = open_artefact(tmp_path / "a", TEST)
    save(tmp_path / "a", "same")
    assert before.damages() == [] and before.file("inner/data").read_text() == "old"
    open_artefact(tmp_path / "a", TEST).file("more").write_text("damaged")
    save(tmp_path / "a", "same")
    assert content_of(tmp_path / "a") == "same"


def test_what_is_not_ours_is_not_replaced(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "manifest.json").write_text(json.dumps({"kind": "something else"}))
    (tmp_path / "nowhere").symlink_to(tmp_path / "nothing")
    for name in ("mine", "nowhere"):
        with pytest.raises(
            StoreError, match=f"{name} exists and is not a BagPack test artefact, .* another --out"
        ):
            save(tmp_path / name, "new")
    save(tmp_path / "a", "old", overwrite=False)
    with pytest.raises(StoreError, match=r"/a exists .*--overwrite"):
        save(tmp_path / "a", "new", overwrite=False)
    with pytest.raises(StoreError, match=r"/a was written by another version .* another --out"):
        check_place(tmp_path / "a", Kind("test", "test artefact", 2, "bagpack test"), overwrite=True)
    assert content_of(tmp_path / "a") == "old"


def test_files_that_someone_put_into_an_artefact_stay(tmp_path):
    path = tmp_path / "a"
    save(path, "old")
    save(path / "a store of mine", "mine")
    data = open_artefact(path, TEST).data
    notes = [path / "notes.txt", data / "notes.txt", data / "inner" / "notes.txt"]
    for note in notes:
        note.write_text("mine")
    (data / "link").symlink_to(tmp_path)
    (path / f"data-{'0' * 16}").symlink_to(open_artefact(path / "a store of mine", TEST).data)
    for content in ("new", "next", "last"):
        save(path, content)
    assert content_of(path) == "last"
    assert [note.read_text() for note in notes] == ["mine"] * 3
    assert (data / "link").is_symlink() and not (data / "more").exists()
    assert content_of(path / "a store of mine") == "mine"


def test_a_linked_artefact_is_replaced_where_the_link_leads(tmp_path):
    save(tmp_path / "elsewhere" / "a", "old")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "a")
    save(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert content_of(tmp_path / "elsewhere" / "a") == "new"


def test_two_writers_of_one_path(tmp_path):
    refused = pytest.raises(StoreError, match=r"another bagpack command is working in .*/a; wait for it")
    with locked(tmp_path / "a"), refused:
        save(tmp_path / "a", "mine")
    save(tmp_path / "a", "mine")


def test_what_another_writer_makes_before_the_lock_is_had_is_not_replaced(tmp_path, monkeypatch):
    @contextmanager
    def late(path):
        monkeypatch.undo()
        save(path, "theirs")
        with locked(path):
            yield

    monkeypatch.setattr("bagpack.artefacts.locked", late)
    with pytest.raises(StoreError, match=r"/a exists .*--overwrite"):
        save(tmp_path / "a", "mine", overwrite=False)
    assert content_of(tmp_path / "a") == "theirs"


def test_locks_that_cannot_be_had(tmp_path, monkeypatch):
    """A file that its owner has removed is not locked; a file system without locks refuses nobody."""

    def lock_of_another(number, *, blocking):
        (tmp_path / "a" / LOCK).unlink()
        (tmp_path / "a" / LOCK).touch()
        return True

    monkeypatch.setattr("filelock.lock_descriptor", lock_of_another)
    with pytest.raises(StoreError, match=r"working in .*/a;"), locked(tmp_path / "a"):
        pass
    unsupported = Mock(side_effect=OSError(errno.EOPNOTSUPP, "Operation not supported"))
    monkeypatch.setattr("filelock.lock_descriptor", unsupported)
    with locked(tmp_path / "a"), locked(tmp_path / "a"):
        (tmp_path / "a" / "data").touch()


@pytest.mark.parametrize("hard", [resource.RLIM_INFINITY, 4096])
def test_an_infinite_limit_on_open_files_is_never_asked_for(monkeypatch, hard):
    """macOS: the hard limit is infinite, the kernel's own limit is not."""
    asked = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: asked.append(limits[0]))
    files._allow_more_files.__wrapped__()
    assert asked == [4096 if hard == 4096 else 10_240]


def test_every_changed_byte_is_found(tmp_path):
    path = tmp_path / "a"
    save(path, "content")
    stored = open_artefact(path, TEST)
    for name in ("inner/data", "more", "files"):
        file = stored.file(name)
        whole = file.read_bytes()
        for at in range(len(whole)):
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert stored.damages() == [f"{file} does not match its checksum ({len(whole)} bytes)"]
        file.unlink()
        assert stored.damages() == [f"{file} is missing"]
        file.write_bytes(whole)
    manifest = (path / "manifest.json").read_bytes()
    for at in range(len(manifest) - 1):  # the last byte is a newline
        (path / "manifest.json").write_bytes(manifest[:at] + bytes([manifest[at] ^ 1]) + manifest[at + 1 :])
        try:
            assert open_artefact(path, TEST).manifest == json.loads(manifest)  # whitespace may change
        except StoreError:
            continue


@pytest.mark.parametrize("name", ["../b", "inner/../../b", "/etc/passwd", "", ".", "a\0b", 7, None])
def test_names_that_lead_out(tmp_path, name):
    with pytest.raises(StoreError, match="not inside"):
        member(tmp_path, name)


def test_links_pipes_and_directories_in_the_place_of_files(tmp_path):
    (tmp_path / "secret").write_bytes(b"12345678")
    inside = tmp_path / "a"
    inside.mkdir()
    (inside / "link").symlink_to(tmp_path / "secret")
    (inside / "out").symlink_to(tmp_path)
    (inside / "folder").mkdir()
    os.mkfifo(inside / "pipe")
    for name in ("link", "out/secret"):
        with pytest.raises(StoreError, match=f"{name[:3]}.* is a symbolic link; .*: put the file itself"):
            member(inside, name)
    for read in (lambda path: map_array(path, "<i8"), read_json):
        with pytest.raises(StoreError, match="link "):
            read(inside / "link")
        for name in ("pipe", "folder"):
            with pytest.raises(StoreError, match=f"{name} .*regular"):
                read(inside / name)


def test_what_a_killed_process_left_of_a_file_is_removed_by_the_next_one(tmp_path):
    assert killed_at(1, lambda: write_text(tmp_path / "x.tsv", "half"))
    assert len(list(tmp_path.iterdir())) == 1
    with replacing(tmp_path / "x.tsv") as out:  # one that is being written stays
        write_text(tmp_path / "x.tsv.2", "other")
        out.write(b"whole")
    write_text(tmp_path / "x.tsv", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.tsv", "x.tsv.2"]
