"""The demo goes the whole way, on a tiny dump that speaks of every labelled pair."""

import gzip
import hashlib
import html
import io
import os
import shlex
import shutil
import tarfile
from itertools import chain
from pathlib import Path
from unittest.mock import Mock

import pytest
from tests.conftest import run_here
from tests.made_up import table

from bagpack import demo
from bagpack.corpus.build import worker
from bagpack.data import relations_path
from bagpack.errors import BagpackError
from bagpack.tasks.pairs import read_dataset

LABELS = ("cause-effect", "part-of", "profession-workplace", "random")


def labelled():
    data = read_dataset(relations_path())
    return [(*pair, label) for pair, label in zip(data.pairs, data.labels, strict=True)]


def tiny_dump() -> bytes:
    sentences = [f"The {w1} {label.replace('-', ' ')} the {w2} here." for w1, w2, label in labelled()]
    more = "A cat met a lion.", "The virus cause effect the infection.", "The surgeon saw the hospital."
    text = "\n\n".join([*sentences, *more])
    page = f"<page><title>All pairs</title><revision><text>{text}</text></revision></page>"
    return f"<mediawiki>\n{page}\n</mediawiki>\n".encode()


def tiny_archive(path, **files: str) -> str:
    """A source archive with the dump, and whatever else; returns its checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    inside = {"data/enwik8.gz": gzip.compress(tiny_dump())}
    inside |= {name: text.encode() for name, text in files.items()}
    with tarfile.open(path, "w:gz") as archive:
        for name, content in inside.items():
            entry = tarfile.TarInfo(f"tiny-1/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return hashlib.sha256(path.read_bytes()).hexdigest()


def put_into_cache(place, monkeypatch):
    """The archive, so that no test needs the network; and twelve pairs of some relations, just enough for ten folds."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    use_archive(monkeypatch, tiny_archive(place / "cache" / "bagpack" / "tiny-1.tar.gz"))
    kept = [list(filter(lambda row: row[2] == name, labelled()))[:12] for name in LABELS]
    (place / "relations.tsv").write_text(table(chain.from_iterable(kept)))
    monkeypatch.setattr("bagpack.data.relations_path", lambda: place / "relations.tsv")


def use_archive(monkeypatch, checksum):
    """The second of three archives is on the index."""
    monkeypatch.setattr(demo, "ARCHIVES", {"small-1": "1" * 64, "tiny-1": checksum, "tiny-2": "2" * 64})
    monkeypatch.setattr(demo, "LICENCE", "free")


@pytest.fixture
def small_demo(tmp_path, monkeypatch):
    put_into_cache(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The directory and the output of a demo that ran once; training takes most of the time of these tests."""
    place = tmp_path_factory.mktemp("demo")
    printed = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        put_into_cache(place, patch)
        run_here(["demo"], b"", printed, io.BytesIO())
    return place / "demo", printed.getvalue().decode()


def test_the_demo_goes_the_whole_way_and_again(finished, small_demo, cli, tmp_path):
    first = finished[1]
    shutil.copytree(finished[0], tmp_path / "demo")
    again = cli("demo")
    assert again.code == 0, again.err
    for said in (
        "licence: free", "A cat met a lion.", "virus – infection", "virus and infection", "demo/relations.html",
    ):  # fmt: skip
        assert said in first and said in again.out
    assert "bagpack train" not in again.out
    names = " ".join(sorted(path.name for path in (tmp_path / "demo").iterdir()))
    assert names == "enwik8.bp enwik8.xml part-of.tsv relations.bpm relations.html relations.model"
    commands = [shlex.split(line)[1:] for line in first.splitlines() if line.startswith("bagpack ")]
    assert " ".join(command[0] for command in commands) == "index contexts vectors train explain explain find"
    page = Path("demo/relations.html").read_text(encoding="utf-8")
    assert shlex.join(["bagpack", *commands[3]]) in html.unescape(page)
    suggested = [shlex.split(line) for line in first.splitlines() if line.startswith("  bagpack explain")]
    assert not {(w1, w2) for *_, w1, w2 in suggested} & {(w1, w2) for w1, w2, _ in labelled()}
    for command in commands:  # what is printed can be typed
        typed = cli(*command, *(["--overwrite"] if command[0] in ("index", "vectors", "train") else []))
        assert typed.code == 0, typed.err
        assert typed.out in first


@pytest.mark.parametrize("part_done", [False, True])
def test_an_interrupted_demo_goes_on(finished, small_demo, cli, monkeypatch, tmp_path, part_done):
    shutil.copytree(finished[0], tmp_path / "demo")  # only the store is missing: nothing is trained again
    shutil.rmtree(tmp_path / "demo" / "enwik8.bp")
    run = worker.run

    def interrupted(*args, **more):
        if part_done:
            list(run(*args, **more))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(worker, "run", interrupted)
        done = cli("demo")
    assert (done.code, done.err.count(" kept")) == (130, 1)
    done = cli("demo")
    assert done.code == 0
    # Without a finished part nothing is kept, so there is nothing to resume.
    assert ("bagpack index demo/enwik8.xml --out demo/enwik8.bp --resume" in done.out) is part_done


def test_nothing_of_the_package_is_run(tmp_path, monkeypatch):
    """A real pip and a real index on disk; the archive's build code would leave a file if anyone ran it."""
    trace, page = tmp_path / "was-run", tmp_path / "index" / "tiny"
    build = (
        f"import pathlib, setuptools; pathlib.Path({str(trace)!r}).touch(); setuptools.setup(name='tiny')\n"
    )
    files = {"setup.py": build, "PKG-INFO": "Name: tiny\nVersion: 1\n"}
    checksum = tiny_archive(page / "tiny-1.tar.gz", **files)
    (page / "index.html").write_text('<a href="tiny-1.tar.gz">tiny-1.tar.gz</a>')
    for name, value in {
        "XDG_CACHE_HOME": str(tmp_path / "cache"), "PIP_INDEX_URL": (tmp_path / "index").as_uri(),
        "PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    use_archive(monkeypatch, checksum)
    assert demo.unpack(demo.fetch(), tmp_path / "tiny.xml").read_bytes() == tiny_dump()
    kept = tmp_path / "cache" / "bagpack" / "tiny-1.tar.gz"
    kept.write_bytes(kept.read_bytes() + b"x")  # not what it should be, so it is downloaded again
    assert demo.unpack(demo.fetch(), tmp_path / "again.xml").read_bytes() == tiny_dump()
    monkeypatch.setattr(demo, "_find", lambda archive: pytest.fail("it is in the cache"))
    demo.fetch()
    monkeypatch.undo()
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "index").as_uri())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    use_archive(monkeypatch, "0" * 64)
    said = r"tiny-1\.tar\.gz .*tiny-2\.tar\.gz.* bagpack index "
    with pytest.raises(BagpackError, match=said):
        demo.fetch()
    assert not (tmp_path / "other").exists()
    assert not trace.exists()


def test_without_a_network_the_small_texts(small_demo, cli, monkeypatch, tmp_path):
    (tmp_path / "cache" / "bagpack" / "tiny-1.tar.gz").unlink()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    done = cli("demo")
    assert done.code == 0 and "fetched" in done.out and "small texts" in done.out
    assert "leaf – tree: part" in done.out and "bagpack find" in done.out
    monkeypatch.setattr(demo, "fetch", Mock(side_effect=BagpackError("no network")))
    assert cli("demo").code == 0  # and again
