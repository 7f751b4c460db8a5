"""Files of a store, byte by byte, and of strangers: wild values, links, full disks and limits are one sentence each."""

import errno
import json
import os
import re
import resource
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from corpus_oracle import DATA, build, files_of, lexicon_of, segment_of, small_disk, text_of
from tests.conftest import LIMIT, bagpack_command

from bagpack import Corpus, files, index_corpus
from bagpack.artefacts import seal_of
from bagpack.corpus import format
from bagpack.corpus.format import read_manifest
from bagpack.corpus.words import complete, nearby
from bagpack.errors import StoreError
from bagpack.files import digest
from bagpack.info import damages

VERTICAL = (
    '<text id="a">\n<s>\nThe\tDT\tthe\nLions\tNNS\tlion\nsaw\tVVD\tsee\nlions\tNNS\tlion\n'
    "<g/>\n.\tSENT\t.\n</s>\n</text>\n"
    '<text id="b">\n<s>\nThe\tDT\tthe\ncafé\tNN\tcafé\n</s>\n</text>\n'
)

# Types by falling count, then by first sight: The Lions saw lions . café. Keys in byte order: . café lion see the.
GOLDEN = json.loads((DATA / "golden.json").read_text(encoding="utf-8"))


@pytest.fixture
def small(tmp_path, write):
    return build(write("a.vert", VERTICAL), tmp_path / "s")


def test_the_files_hold_these_numbers(small):
    """Stores of this format version must stay readable: if this fails, the format has changed."""
    segment = segment_of(small.path)
    assert sorted(path.name for path in segment.iterdir()) == sorted([*GOLDEN["segment"], "segment.json"])
    for directory, golden in ((segment, GOLDEN["segment"]), (lexicon_of(small.path), GOLDEN["lexicon"])):
        for name, (dtype, values) in golden.items():
            expected = list(values.encode()) if isinstance(values, str) else values
            assert np.frombuffer((directory / name).read_bytes(), dtype).tolist() == expected, name
    facts = json.loads((segment / "segment.json").read_text())
    assert {name: facts[name] for name in ("tokens", "sentences", "documents", "keys", "types")} == {
        "tokens": 7, "sentences": 2, "documents": 2, "keys": 5, "types": 6,
    }  # fmt: skip
    assert set(facts["checksums"]) == set(GOLDEN["segment"])
    manifest = json.loads((small.path / "manifest.json").read_text())
    assert manifest["format_version"] == 2
    assert re.fullmatch("[0-9a-f]{32}", manifest["content_hash"])


def test_the_documentation_has_every_file_as_it_is_declared():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    for name, array in [*format.SEGMENT.items(), *format.LEXICON.items()]:
        kind, length = array.dtype.lstrip("|"), array.length.replace("+", " + ")
        values = array.rule.__doc__.rstrip(".")
        assert f"| `{name}` | `{kind}` | {length} | {values} | " in page


def test_looking_things_up(small, tmp_path):
    (tmp_path / "a.vert").unlink()  # the source is not needed, nor the place
    shutil.move(small.path, tmp_path / "elsewhere")
    small = Corpus.open(tmp_path / "elsewhere")
    assert small.keys_of(["Lions", "lion", "SAW", "Café", "tiger"]) == ["lion", "lion", "see", "café", None]
    assert [small.count(word) for word in ("lions", "the", "tiger")] == [2, 2, 0]
    segment = small.segments[0]
    assert segment.key_positions(segment.keys.find(["lion"])[0]).tolist() == [1, 3]
    assert (list(segment.documents), segment.document_starts.tolist()) == ([b"a", b"b"], [0, 5])
    assert text_of(segment, 0, 5) == "The Lions saw lions."
    assert repr(small).startswith("Corpus(")


def test_a_missing_file_or_segment_is_reported(small, cli):
    segment = segment_of(small.path)
    (segment / "postings").rename(small.path / "away")
    assert "-000/postings is missing" in cli("info", small.path, "--verify").err
    with pytest.raises(StoreError, match="postings"):
        _ = Corpus.open(small.path).segments[0].postings
    shutil.rmtree(segment)
    assert "segment.json is missing" in cli("info", small.path, "--verify").err
    with pytest.raises(StoreError, match="-000 "):
        Corpus.open(small.path)


def test_what_is_no_store_is_reported(tmp_path, cli, write):
    write("d/x.txt", "x")
    write("e/manifest.json", '{"kind": "model"}')
    write("f/manifest.json", "[]")
    write("h/.bagpack-lock", "")
    for name, message in {
        "d": r"no manifest\.json", "e": "is a BagPack model, not a store", "f": "program",
        "g": "does not exist; make one with bagpack index", "h": "--resume",
    }.items():  # fmt: skip
        with pytest.raises(StoreError, match=rf"(?=.*/{name}\b).*{message}"):
            Corpus.open(tmp_path / name)
        for options in ((), ("--verify",)):
            assert cli("info", tmp_path / name, *options).sentence()


def test_a_full_disk(tmp_path, write):
    """A sentence, no store, and --resume once there is room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    lines = "".join(f"w{i % 7001}\tN\tw{i % 7001}\n" for i in range(100_000)).replace("w0", "w")
    source = write("a.vert", f"<s>\n{lines}</s>\n")
    command = bagpack_command("index", source, "--out", disk / "s", "--jobs", "1", "--max-sentence", "500000")
    with small_disk(disk, "1m"):
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert done.returncode == 1
        assert re.match(r"bagpack: the disk is full: \S+ could not be written; free some space", done.stderr)
        assert not (disk / "s" / "manifest.json").exists()
        assert ("add --resume" in done.stderr) == (disk / "s").exists()
        subprocess.run(["mount", "-o", "remount,size=30m", disk], check=True)
        subprocess.run([*command, "--resume"], timeout=LIMIT, check=True)
        whole = build(source, tmp_path / "whole", max_sentence=500_000)
        assert files_of(disk / "s") == files_of(whole.path)


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        (resource.RLIMIT_FSIZE, 20_000, "(ulimit -f "),
        (resource.RLIMIT_NOFILE, 10, "(ulimit -n "),
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


def test_a_store_is_not_called_damaged_when_no_descriptor_is_left(small, monkeypatch):
    segment = small.segments[0]
    declared, numbers = segment.declared, segment.numbers

    def refuse(*arguments):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(files, "_allow_more_files", lambda: False)
    with pytest.raises(files.TooManyFilesError):
        list(format.damages(segment.directory, declared, numbers))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nearby")
    text = "elephant " * 5 + "elephantine elegant element hammer room zebra Zürich. A living room.\n"
    (folder / "text.txt").write_text(text, encoding="utf-8")
    return index_corpus([str(folder / "text.txt")], folder / "store.bp").corpus


def test_words_are_completed_and_similar_ones_offered(corpus):
    similar = {
        "elphant": "elephant", "Elehpant": "elephant", "hamer": "hammer", "zbra": "zebra", "Zurich": "zürich",
    }  # fmt: skip
    for word, first in (similar | {"elepidote": "elephant", "living roomm": "living room"}).items():
        assert nearby(corpus, word)[0].word == first
    for word in ("xylophone", "zebra hammer", "x" * 500, "_"):  # zebra and hammer are known, but never meet
        assert nearby(corpus, word) == []
    # By frequency, then in order.
    assert [item.word for item in complete(corpus, "ELE", 3)] == ["elephant", "elegant", "element"]
    assert complete(corpus, "elephant")[0].count == 5
    assert complete(corpus, "") == complete(corpus, "q") == []


TEXT = "The lions saw a lion. The café was open.\nLions sleep.\n"
NAME = "0" * 32 + "-000"
SEGMENT, LEXICON = f"segments/{NAME}", "lexicon-" + "0" * 16
FILES = [*((SEGMENT, name) for name in format.SEGMENT), *((LEXICON, name) for name in format.LEXICON)]
DECLARED = {**format.SEGMENT, **format.LEXICON}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    tagged = "".join(f"{word}\tNN\t{word.lower().removesuffix('s')}\n" for word in TEXT.split())
    (place / "a.vert").write_text(f'<text id="a" genre="news">\n<s>\n{tagged}</s>\n</text>\n')
    (place / "b.txt").write_text("Tigers met lions.\n")
    store = build([place / "a.vert", place / "b.txt"], place / "s").path
    # Names that do not depend on the place and the time.
    os.rename(segment_of(store), store / SEGMENT)
    os.rename(lexicon_of(store), store / LEXICON)
    manifest = json.loads((store / "manifest.json").read_text())
    manifest["segments"][0]["name"], manifest["lexicon"]["directory"] = NAME, LEXICON
    (store / "manifest.json").write_text(json.dumps({**manifest, "seal": seal_of(manifest)}))
    return store


@pytest.fixture
def store(made, tmp_path):
    shutil.copytree(made, tmp_path / "s")
    return tmp_path / "s"


def reseal(store, change=None):
    """Make every checksum right again: damage that a forger, not an accident, would do."""
    manifest = json.loads((store / "manifest.json").read_text())
    facts = json.loads((store / SEGMENT / "segment.json").read_text())
    for directory, checksums in ((SEGMENT, facts["checksums"]), (LEXICON, manifest["lexicon"]["checksums"])):
        checksums.update({name: digest((store / directory / name).read_bytes()) for name in checksums})
    (store / SEGMENT / "segment.json").write_text(json.dumps(facts))
    manifest["segments"][0]["digest"] = digest((store / SEGMENT / "segment.json").read_bytes())
    if change:
        change(manifest)
    (store / "manifest.json").write_text(json.dumps({**manifest, "seal": seal_of(manifest)}))


def use_everything(store):
    corpus = Corpus.open(store)
    corpus.keys_of(["lion", "cafés"])
    segment = corpus.segments[0]
    names = ("attributes", "tokens", "tags", "postings", "keys", "documents", "form_keys")
    return [getattr(segment, name) for name in names]


def assert_verify_fails(cli, store):
    done = cli("info", store, "--verify")
    assert done.code == 1 and "unexpected error" not in done.err
    return done.err


def test_a_changed_byte_is_found(store, cli):
    assert cli("info", store, "--verify").code == 0
    for path in [path for path in store.rglob("*") if path.is_file() and path.stat().st_size]:
        content = path.read_bytes()
        middle = len(content) // 2
        path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
        assert_verify_fails(cli, store)
        path.write_bytes(content)


def wild_values(content, dtype):
    """The content with its first, middle or last value replaced by the largest, or by one less or more."""
    kind = np.dtype(dtype)
    values = np.frombuffer(content, kind)
    for at in {0, values.size // 2, values.size - 1}:
        for wild in (np.iinfo(kind).max, np.iinfo(kind).max // 2, np.iinfo(kind).min):
            changed = values.copy()
            changed[at] = wild
            if not np.array_equal(changed, values):
                yield changed.tobytes()


# Any byte may be part of a text, a count may be smaller, a token may be of another type, if it is there.
HARMLESS = {"keys.blob", "types.blob", "forms.blob", "documents.blob", "documents.start", "attributes.blob"}


@pytest.mark.parametrize(("directory", "name"), FILES)
def test_wild_values_do_not_reach_the_kernels(directory, name, store):
    path = store / directory / name
    content = path.read_bytes()
    kind = DECLARED[name].dtype
    for changed in wild_values(content, kind):
        path.write_bytes(changed)
        reseal(store)
        try:
            use_everything(store)
        except StoreError as error:
            assert str(path) in str(error)
            assert path.name in " ".join(Corpus(store, read_manifest(store)).verify())
        else:
            assert not name.endswith(".blob") or changed.decode()  # what is let through: text, or in range
            values = np.frombuffer(changed, kind)
            assert name in HARMLESS or values.max() < 2**31 + 100
            assert not name.endswith(".count") or values.min() > 0


@pytest.mark.parametrize(("directory", "name"), FILES)
def test_wrong_lengths_are_found_when_a_store_is_opened_or_used(directory, name, store):
    path = store / directory / name
    content = path.read_bytes()
    size = np.dtype(DECLARED[name].dtype).itemsize
    for wrong in (b"", content[:-size], content + bytes(size), content + b"x"):
        path.write_bytes(wrong)
        reseal(store)
        with pytest.raises(StoreError, match=rf"{directory}/{name.partition('.')[0]}\b"):
            use_everything(store)
        problems = Corpus(store, read_manifest(store)).verify()
        assert any(f"{directory}/{name.partition('.')[0]}" in problem for problem in problems)


def test_values_are_read_once_for_a_file_not_once_for_a_process(store, monkeypatch):
    use_everything(store)
    read = []
    monkeypatch.setattr(format, "damages", lambda *arguments: read.append(arguments) or iter(()))
    use_everything(store)
    assert read == []
    path = store / SEGMENT / "tokens"
    path.write_bytes(path.read_bytes())  # rewritten: another time
    use_everything(store)
    assert [directory.name for directory, *_ in read] == [NAME]


WRONG = [None, True, -1, "x", 1.5, [], {}, [[]], 2**80]


@pytest.mark.parametrize(
    "entry", ["tokens", "types", "content_hash", "options", "sources", "problems", "lexicon", "segments"]
)
def test_wrong_types_in_a_manifest(entry, store, cli):
    original = (store / "manifest.json").read_text()
    for value in WRONG:
        reseal(store, lambda manifest, value=value: manifest.update({entry: value}))
        done = cli("info", store)
        assert not re.search("unexpected error|Traceback", done.err), (value, done.err)
        assert not done.code or done.err.startswith("bagpack: ")
        with suppress(StoreError):
            damages(store)
        (store / "manifest.json").write_text(original)
    reseal(store, lambda manifest: manifest.pop(entry))
    assert re.search(rf"manifest\.json .*\b{entry}\b", cli("info", store).sentence())


@pytest.mark.parametrize(
    "options", [{"lang": 5}, {"lang": None}, {"max_sentence": "x"}, {"max_line": 0}, {"bad_lines": []}]
)
def test_wrong_options_in_a_manifest(options, store, cli):
    reseal(store, lambda manifest: manifest["options"].update(options))
    assert "options" in cli("info", store).sentence()


@pytest.mark.parametrize("entry", ["tokens", "types", "keys", "checksums"])
def test_wrong_types_in_a_segment(entry, store, cli):
    path = store / SEGMENT / "segment.json"
    original = path.read_text()
    for value in (None, "x", -1, [1], 2**70):
        path.write_text(json.dumps({**json.loads(original), entry: value}))
        with pytest.raises(StoreError, match=r"segment\.json|lexicon|damaged"):
            use_everything(store)
        assert_verify_fails(cli, store)
    path.write_text(json.dumps({**json.loads(original), "documents": 2**40}))
    assert Corpus.open(store).segments[0].own_documents[0] == 0  # not more than there are names
    path.write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(StoreError, match="JSON"):
        use_everything(store)


@pytest.mark.parametrize("name", [f"../../other/{SEGMENT}", "/etc"])
def test_names_that_lead_out_of_the_store(name, store, cli):
    shutil.copytree(store, store.parent / "other")
    reseal(store, lambda manifest: manifest["segments"][0].update(name=name))
    assert repr(name) in cli("info", store).sentence()
    reseal(store, lambda manifest: manifest["segments"][0].update(name=NAME))
    reseal(store, lambda manifest: manifest["lexicon"].update(directory=name))
    assert repr(name) in cli("info", store).sentence()


@pytest.mark.parametrize("name", [f"{SEGMENT}/documents.blob", f"{SEGMENT}/tokens", f"{SEGMENT}/segment.json",
                                  f"{LEXICON}/keys.blob", LEXICON, SEGMENT, "segments", "manifest.json"])  # fmt: skip
def test_links_and_pipes_are_not_opened(name, store, cli):
    outside = store.parent / "outside"
    os.rename(store / name, outside)
    (store / name).symlink_to(outside)
    with pytest.raises(StoreError, match=rf"{name}.* (link|missing)"):
        use_everything(store)
    assert re.search(rf"{name}.* (link|missing)", assert_verify_fails(cli, store))
    (store / name).unlink()
    os.mkfifo(store / name)
    assert re.search(f"{name}.* (regular|missing|directory)|Not a directory", assert_verify_fails(cli, store))
