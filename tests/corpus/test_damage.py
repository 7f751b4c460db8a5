"""Stores from strangers: wild values, wrong lengths, wrong types, links and names that lead out."""

import json
import os
import re
import shutil

import numpy as np
import pytest
from corpus_oracle import build, lexicon_of, segment_of

from bagpack import Corpus
from bagpack.artefacts import seal_of
from bagpack.corpus import format
from bagpack.corpus.format import read_manifest
from bagpack.errors import StoreError
from bagpack.files import digest

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
def test_wild_values_do_not_reach_the_kernels(directory, name, store, cli):
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
            assert Corpus.open(store).verify() if directory == SEGMENT else True
            assert path.name in assert_verify_fails(cli, store)
        else:
            # What is let through is within its range.
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
        with pytest.raises(
            StoreError, match=r"has [0-9,]+ (entries|bytes)|runs from|adds up|does not ascend"
        ):
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
        for options in ((), ("--verify",)):
            done = cli("info", store, *options)
            assert not re.search("unexpected error|Traceback", done.err), (value, done.err)
            assert not done.code or done.err.startswith("bagpack: ")
        (store / "manifest.json").write_text(original)
    reseal(store, lambda manifest: manifest.pop(entry))
    assert f"lacks the entry {entry}" in cli("info", store).sentence()


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
    path.write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(StoreError, match="is not the JSON it should be"):
        use_everything(store)


@pytest.mark.parametrize("name", [f"../../other/{SEGMENT}", "/etc", "..", "x/../../y"])
def test_names_that_lead_out_of_the_store(name, store, cli):
    shutil.copytree(store, store.parent / "other")
    reseal(store, lambda manifest: manifest["segments"][0].update(name=name))
    assert "which is no name of a segment" in cli("info", store).sentence()
    reseal(store, lambda manifest: manifest["segments"][0].update(name=NAME))
    reseal(store, lambda manifest: manifest["lexicon"].update(directory=name))
    assert "which is no name of a segment" in cli("info", store).sentence()


@pytest.mark.parametrize("name", [f"{SEGMENT}/documents.blob", f"{SEGMENT}/tokens", f"{SEGMENT}/segment.json",
                                  f"{LEXICON}/keys.blob", LEXICON, SEGMENT, "segments", "manifest.json"])  # fmt: skip
def test_links_and_pipes_are_not_opened(name, store, cli):
    outside = store.parent / "outside"
    os.rename(store / name, outside)
    (store / name).symlink_to(outside)
    with pytest.raises(StoreError, match=r"symbolic link|is missing"):
        use_everything(store)
    assert re.search("symbolic link|is missing", assert_verify_fails(cli, store))
    (store / name).unlink()
    os.mkfifo(store / name)
    assert re.search("is not a regular file|is missing|Not a directory", assert_verify_fails(cli, store))
