"""Files of a store, byte by byte; damage, a full disk and limits of the operating system are one sentence each."""

import errno
import json
import os
import re
import resource
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from corpus_oracle import build, files_of, lexicon_of, segment_of, text_of
from tests.conftest import LIMIT, bagpack_command

from bagpack import Corpus, files, index_corpus
from bagpack.corpus import format
from bagpack.corpus.words import complete, nearby
from bagpack.errors import StoreError

VERTICAL = (
    '<text id="a">\n<s>\nThe\tDT\tthe\nLions\tNNS\tlion\nsaw\tVVD\tsee\nlions\tNNS\tlion\n'
    "<g/>\n.\tSENT\t.\n</s>\n</text>\n"
    '<text id="b">\n<s>\nThe\tDT\tthe\ncafé\tNN\tcafé\n</s>\n</text>\n'
)

START, GLUED = 1 << 31, 1 << 30
# Types by falling count, then by first sight: The Lions saw lions . café. Keys in byte order: . café lion see the.
GOLDEN = {
    "tokens": ("<u4", [0 | START, 1, 2, 3, 4 | GLUED, 0 | START, 5]),
    "tags": ("|u1", [6, 8, 16, 8, 13, 6, 8]),  # DET NOUN VERB NOUN PUNCT DET NOUN
    "postings": ("<u4", [4, 6, 1, 3, 2, 0, 5]),
    "keys.blob": ("|u1", list(".cafélionseethe".encode())),
    "keys.offsets": ("<i8", [0, 1, 6, 10, 13, 16]),
    "keys.postings": ("<i8", [0, 1, 2, 4, 5, 7]),
    "types.blob": ("|u1", list("TheLionssawlions.café".encode())),
    "types.offsets": ("<i8", [0, 3, 8, 11, 16, 17, 22]),
    "types.key": ("<u4", [4, 2, 3, 2, 0, 1]),
    "types.count": ("<u4", [2, 1, 1, 1, 1, 1]),
    "forms.blob": ("|u1", list(b"lions\tlionsaw\tsee")),
    "forms.offsets": ("<i8", [0, 10, 17]),
    "forms.count": ("<u4", [2, 1]),
    "documents.start": ("<u4", [0, 5]),
    "documents.blob": ("|u1", list(b"ab")),
    "documents.offsets": ("<i8", [0, 1, 2]),
}
GOLDEN_LEXICON = {
    "keys.blob": GOLDEN["keys.blob"], "keys.offsets": GOLDEN["keys.offsets"], "keys.count": ("<i8", [1, 1, 2, 1, 2]),
    "forms.blob": ("|u1", list(b"lionssaw")), "forms.offsets": ("<i8", [0, 5, 8]), "forms.key": ("<i8", [2, 3]),
}  # fmt: skip


@pytest.fixture
def store(tmp_path, write):
    return build(write("a.vert", VERTICAL), tmp_path / "s")


def test_the_files_hold_these_numbers(store):
    """Stores of this format version must stay readable: if this fails, the format has changed."""
    segment = segment_of(store.path)
    assert sorted(path.name for path in segment.iterdir()) == sorted([*GOLDEN, "segment.json"])
    for directory, golden in ((segment, GOLDEN), (lexicon_of(store.path), GOLDEN_LEXICON)):
        for name, (dtype, values) in golden.items():
            assert np.frombuffer((directory / name).read_bytes(), dtype).tolist() == values, name
    facts = json.loads((segment / "segment.json").read_text())
    assert {name: facts[name] for name in ("tokens", "sentences", "documents", "keys", "types")} == {
        "tokens": 7, "sentences": 2, "documents": 2, "keys": 5, "types": 6,
    }  # fmt: skip
    assert set(facts["checksums"]) == set(GOLDEN)
    manifest = json.loads((store.path / "manifest.json").read_text())
    assert manifest["format_version"] == 2
    assert re.fullmatch("[0-9a-f]{32}", manifest["content_hash"])


def test_the_documentation_has_every_file_as_it_is_declared():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    for name, array in [*format.SEGMENT.items(), *format.LEXICON.items()]:
        kind, length = array.dtype.lstrip("|"), array.length.replace("+", " + ")
        values = array.rule.__doc__.rstrip(".")
        assert f"| `{name}` | `{kind}` | {length} | {values} | " in page


def test_looking_things_up(store, tmp_path):
    (tmp_path / "a.vert").unlink()  # the source is not needed, nor the place
    shutil.move(store.path, tmp_path / "elsewhere")
    store = Corpus.open(tmp_path / "elsewhere")
    assert store.keys_of(["Lions", "lion", "SAW", "Café", "tiger"]) == ["lion", "lion", "see", "café", None]
    assert [store.count(word) for word in ("lions", "the", "tiger")] == [2, 2, 0]
    segment = store.segments[0]
    assert segment.key_positions(segment.keys.find(["lion"])[0]).tolist() == [1, 3]
    assert (list(segment.documents), segment.document_starts.tolist()) == ([b"a", b"b"], [0, 5])
    assert text_of(segment, 0, 5) == "The Lions saw lions."
    assert repr(store).startswith("Corpus(")


def test_a_missing_file_or_segment_is_reported(store, cli):
    segment = segment_of(store.path)
    (segment / "postings").rename(store.path / "away")
    assert "-000/postings is missing" in cli("info", store.path, "--verify").err
    with pytest.raises(StoreError, match="postings is missing"):
        _ = Corpus.open(store.path).segments[0].postings
    shutil.rmtree(segment)
    assert "segment.json is missing" in cli("info", store.path, "--verify").err
    with pytest.raises(StoreError, match="-000 is missing; restore it from a copy"):
        Corpus.open(store.path)


def test_what_is_no_store_is_reported(tmp_path, cli, write):
    write("d/x.txt", "x")
    write("e/manifest.json", '{"kind": "model"}')
    write("f/manifest.json", "[]")
    write("h/.bagpack-lock", "")
    for name, message in {
        "d": "has no manifest.json", "e": "is a BagPack model, not a store", "f": "not a store",
        "g": "does not exist; make one with bagpack index", "h": "an unfinished build is at",
    }.items():  # fmt: skip
        with pytest.raises(StoreError, match=re.escape(message)):
            Corpus.open(tmp_path / name)
        for options in ((), ("--verify",)):
            assert cli("info", tmp_path / name, *options).sentence()


def test_a_full_disk(tmp_path, write):
    """On a small tmpfs: a sentence, no store, and --resume once there is room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    lines = "".join(f"w{i % 7001}\tN\tw{i % 7001}\n" for i in range(100_000)).replace("w0", "w")
    source = write("a.vert", f"<s>\n{lines}</s>\n")
    command = bagpack_command("index", source, "--out", disk / "s", "--jobs", "1", "--max-sentence", "500000")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 1
        assert re.match(r"bagpack: the disk is full: \S+ could not be written; free some space", done.stderr)
        assert not (disk / "s" / "manifest.json").exists()
        assert ("add --resume" in done.stderr) == (disk / "s").exists()
        subprocess.run(["mount", "-o", "remount,size=30m", disk], check=True)
        subprocess.run([*command, "--resume"], timeout=LIMIT, check=True)
        whole = build(source, tmp_path / "whole", max_sentence=500_000)
        assert files_of(disk / "s") == files_of(whole.path)
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        (resource.RLIMIT_FSIZE, 20_000, "would become larger than the file size limit"),
        (resource.RLIMIT_NOFILE, 10, "too many open files; raise the limit"),
        (resource.RLIMIT_NOFILE, 40, ""),  # enough
    ],
)
def test_limits_of_the_operating_system(limit, value, said, tmp_path, write):
    source = write("a.txt", "".join(f"Lions{n} sleep.\n" for n in range(5000)))
    done = subprocess.run(
        bagpack_command("index", source, "--out", tmp_path / "s", "-j", 1), capture_output=True, text=True,
        check=False, timeout=LIMIT, preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
    )  # fmt: skip
    assert done.returncode == bool(said), done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
    assert not said or done.stderr.count("\n") == 1
    assert ("add --resume" in done.stderr) == (bool(said) and any(tmp_path.glob("s/segments/*.json")))
    assert (tmp_path / "s").exists() == (not said or "add --resume" in done.stderr)


def test_a_store_is_not_called_damaged_when_no_descriptor_is_left(store, monkeypatch):
    segment = store.segments[0]
    declared, numbers = segment.declared, segment.numbers

    def refuse(*arguments):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(files, "_allow_more_files", lambda: False)
    with pytest.raises(files.TooManyFilesError):
        list(format.damages(segment.directory, declared, numbers))


# Words offered for one that a corpus does not know


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nearby")
    text = "elephant " * 5 + "elephantine elegant element hammer room zebra Zürich. A living room.\n"
    (folder / "text.txt").write_text(text, encoding="utf-8")
    return index_corpus([str(folder / "text.txt")], folder / "store.bp").corpus


def test_words_are_completed_and_similar_ones_offered(corpus):
    similar = {
        "elphant": "elephant",
        "Elehpant": "elephant",
        "hamer": "hammer",
        "zbra": "zebra",
        "Zurich": "zürich",
    }
    for word, first in (similar | {"elepidote": "elephant", "living roomm": "living room"}).items():
        assert nearby(corpus, word)[0].word == first
    for word in ("xylophone", "zebra hammer", "x" * 500, "_"):  # zebra and hammer are known, but never meet
        assert nearby(corpus, word) == []
    # By frequency, then in order.
    assert [item.word for item in complete(corpus, "ELE", 3)] == ["elephant", "elegant", "element"]
    assert complete(corpus, "elephant")[0].count == 5
    assert complete(corpus, "") == complete(corpus, "q") == []
