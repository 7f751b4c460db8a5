"""Artefact directories: replaced in one step whatever happens, checksummed, and never leading out of themselves."""

import json
import multiprocessing
import os

import pytest
from tests.kills import killed_at

from bagpack import artefacts
from bagpack.artefacts import (
    REPLACED,
    damaged_files,
    member,
    new_directory,
    read_sealed,
    recover_replaced,
    replace_tree,
    write_sealed,
)
from bagpack.errors import StoreError
from bagpack.files import map_array, read_json
from bagpack.locks import take_lock

KIND = "pair-matrix"


def is_test(path):
    return (path / "manifest.json").is_file() and read_json(path / "manifest.json").get("kind") == KIND


def save(path, content, overwrite=True):
    with new_directory(path, is_ours=is_test, what="test artefact", overwrite=overwrite) as work:
        (work / "inner").mkdir()
        (work / "inner" / "data").write_text(content)
        (work / "more").write_text(content * 2)
        write_sealed(work / "manifest.json", {"kind": KIND})


def content_of(path):
    manifest = read_sealed(path / "manifest.json")
    assert damaged_files(path, manifest["checksums"]) == []
    assert set(manifest["checksums"]) == {"inner/data", "more"}
    return (path / "inner" / "data").read_text()


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_kill_at_any_step_leaves_the_old_artefact_or_the_new_one(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr(artefacts, "exchange", lambda first, second: False)
    path = tmp_path / "a"
    seen = set()
    for step in range(1, 100):
        save(path, "old")
        died = killed_at(step, lambda: save(path, "new"))
        if can_exchange:
            seen.add(content_of(path))  # there at every moment, without any repair
        recover_replaced(path)
        seen.add(content_of(path))
        save(path, "next")
        assert content_of(path) == "next"
        assert [entry.name for entry in tmp_path.iterdir()] == ["a"]
        assert sorted(entry.name for entry in path.iterdir()) == ["inner", "manifest.json", "more"]
        if not died:
            break
    assert step > 10
    assert seen == {"old", "new"}


def test_an_error_while_writing_keeps_the_old_artefact(tmp_path):
    save(tmp_path / "a", "old")
    with (
        pytest.raises(ZeroDivisionError),
        new_directory(tmp_path / "a", is_ours=is_test, what="test", overwrite=True) as work,
    ):
        (work / "data").write_text("half")
        raise ZeroDivisionError
    assert content_of(tmp_path / "a") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_nothing_that_is_not_ours_is_replaced_or_removed(tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "manifest.json").write_text(json.dumps({"kind": "something else"}))
    with pytest.raises(StoreError, match="is not a BagPack test artefact, so it is not replaced"):
        save(mine, "new")
    save(tmp_path / "a", "old", overwrite=False)
    with pytest.raises(
        StoreError, match="exists already; choose another --out, or replace it with --overwrite"
    ):
        save(tmp_path / "a", "new", overwrite=False)
    (tmp_path / "a.partial").mkdir()
    (tmp_path / "a.partial" / "thesis.tex").write_text("mine")
    with pytest.raises(StoreError, match=r"a\.partial is needed while working and was not made by BagPack"):
        save(tmp_path / "a", "new")
    assert (tmp_path / "a.partial" / "thesis.tex").read_text() == "mine"
    assert content_of(tmp_path / "a") == "old"


def test_a_directory_with_the_name_that_is_needed_for_the_old_artefact(tmp_path):
    save(tmp_path / "a", "old")
    aside = tmp_path / "a.partial.old"
    aside.mkdir()
    (aside / "thesis.tex").write_text("mine")
    recover_replaced(tmp_path / "a")
    with pytest.raises(
        StoreError, match=r"a\.partial\.old is needed while working and was not made by BagPack"
    ):
        save(tmp_path / "a", "new")
    with pytest.raises(StoreError, match=r"a\.partial\.old is needed"):
        replace_tree(tmp_path / "a", tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    recover_replaced(tmp_path / "a")  # it does not become an artefact either
    assert (aside / "thesis.tex").read_text() == "mine"
    assert not (tmp_path / "a").exists()


def test_an_artefact_that_is_half_removed_does_not_come_back(tmp_path):
    aside = tmp_path / "a.partial.old"
    save(aside, "old")
    (aside / REPLACED).touch()
    recover_replaced(tmp_path / "a")
    assert not (tmp_path / "a").exists()
    save(tmp_path / "a", "first")
    save(tmp_path / "a", "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_a_reader_does_not_disturb_a_writer_between_its_two_renames(tmp_path):
    save(tmp_path / "a", "old")
    with new_directory(tmp_path / "a", is_ours=is_test, what="test", overwrite=True) as work:
        os.replace(tmp_path / "a", tmp_path / "a.partial.old")
        recover_replaced(tmp_path / "a")
        assert not (tmp_path / "a").exists()
        write_sealed(work / "manifest.json", {"kind": KIND})
    assert is_test(tmp_path / "a")


def test_files_that_someone_put_into_an_artefact(tmp_path):
    path = tmp_path / "a"
    save(path, "old")
    (path / ".lock-of-an-engine").touch()
    (path / "inner" / "notes.txt").write_text("mine")
    with pytest.raises(
        StoreError, match=r"inner/notes\.txt is not a file of the test artefact .*; move it else"
    ):
        save(path, "new")
    assert (path / "inner" / "notes.txt").read_text() == "mine"
    assert content_of(path) == "old"
    (path / "inner" / "notes.txt").unlink()
    (tmp_path / "empty").touch()
    for target in (tmp_path, tmp_path / "empty", tmp_path / "nothing"):
        (path / "link").symlink_to(target)
        with pytest.raises(StoreError, match="link is not a file of the test artefact"):
            save(path, "new")
        (path / "link").unlink()
    save(path, "new")
    assert content_of(path) == "new"


def test_a_lock_file_that_its_owner_has_removed_is_not_locked(tmp_path):
    path = tmp_path / "a.partial" / "lock"
    path.parent.mkdir()
    with open(path, "ab") as handle:
        path.unlink()
        with pytest.raises(StoreError, match=r"another bagpack command is working in .*a\.partial"):
            take_lock(handle, path)
        path.touch()  # another process has begun
        with pytest.raises(StoreError, match="another bagpack command is working in"):
            take_lock(handle, path)


def test_a_linked_artefact_is_replaced_where_the_link_leads(tmp_path):
    save(tmp_path / "elsewhere" / "a", "old")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "a")
    save(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert content_of(tmp_path / "elsewhere" / "a") == "new"


def _hold(path, ready, done):
    with new_directory(path, is_ours=is_test, what="test", overwrite=True) as work:
        write_sealed(work / "manifest.json", {"kind": KIND})
        ready.set()
        done.wait(20)


def test_two_writers_of_one_path(tmp_path):
    fork = multiprocessing.get_context("fork")
    ready, done = fork.Event(), fork.Event()
    other = fork.Process(target=_hold, args=(tmp_path / "a", ready, done))
    other.start()
    assert ready.wait(20)
    try:
        with pytest.raises(
            StoreError, match=r"another bagpack command is working in .*a\.partial; wait for it"
        ):
            save(tmp_path / "a", "mine")
    finally:
        done.set()
        other.join(20)
    assert other.exitcode == 0
    assert is_test(tmp_path / "a")


def test_every_changed_byte_is_found(tmp_path):
    path = tmp_path / "a"
    save(path, "content")
    for name in ("inner/data", "more"):
        whole = (path / name).read_bytes()
        for at in range(len(whole)):
            (path / name).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            problems = damaged_files(path, read_sealed(path / "manifest.json")["checksums"])
            assert problems == [f"{path / name} does not match its checksum ({len(whole)} bytes)"]
        (path / name).unlink()
        assert damaged_files(path, read_sealed(path / "manifest.json")["checksums"]) == [
            f"{path / name} is missing"
        ]
        (path / name).write_bytes(whole)
    manifest = (path / "manifest.json").read_bytes()
    for at in range(len(manifest) - 1):  # the last byte is a newline
        (path / "manifest.json").write_bytes(manifest[:at] + bytes([manifest[at] ^ 1]) + manifest[at + 1 :])
        try:
            changed = read_sealed(path / "manifest.json")
        except StoreError:
            continue
        # Whitespace may change, and the name `seal` itself: then there is no seal.
        assert changed == json.loads(manifest) or "seal" not in changed


@pytest.mark.parametrize("name", ["../b", "inner/../../b", "/etc/passwd", "", ".", "a\0b", 7, None])
def test_names_that_lead_out(tmp_path, name):
    with pytest.raises(StoreError, match="not inside it"):
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
        with pytest.raises(StoreError, match="is a symbolic link; artefacts hold no links"):
            member(inside, name)
    for read in (lambda path: map_array(path, "<i8"), read_json):
        with pytest.raises(StoreError, match="is a symbolic link; artefacts hold no links"):
            read(inside / "link")
        for name in ("pipe", "folder"):
            with pytest.raises(StoreError, match="is not a regular file"):
                read(inside / name)


def test_json_that_is_nested_deeply(tmp_path):
    (tmp_path / "manifest.json").write_text('{"kind": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(StoreError, match="nested too deeply; it is damaged"):
        read_sealed(tmp_path / "manifest.json")
