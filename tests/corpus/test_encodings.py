"""Encodings: named, detected, refused, repaired."""

import json
import os

import pytest
from corpus_oracle import build, sentences

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.text.encoding import check_encoding, decode, detect_encoding
from bagpack.errors import InputError, UsageError

REFUSED = [
    "utf-7", "iso2022_jp", "iso-2022-jp-2", "iso2022_kr", "hz", "utf-16", "utf-32", "cp037", "unicode_escape",
    "raw_unicode_escape", "idna",
]  # fmt: skip


def test_encodings_that_are_refused(tmp_path, write):
    """Those whose lines cannot be found, and what is no encoding."""
    for name in [*REFUSED, "klingon", "rot13", "base64", "a\0b"]:
        problem = "cannot be read" if name in REFUSED else "not a known"
        with pytest.raises(UsageError, match=f"--encoding {name} .*{problem}"):
            check_encoding(name)
    with pytest.raises(InputError, match=r"a.txt is in an ISO-2022"):  # and is not taken for ASCII
        build(write("a.txt", "Lions sleep. 昨日.\n".encode("iso2022_jp")), tmp_path / "s")


def test_every_name_of_latin_1_is_read_as_browsers_read_it():
    for name in ("latin-1", "latin1", "LATIN_1", "iso-8859-1", "iso8859-1", "ISO_8859-1", "l1"):
        assert decode(b"caf\xe9 \x93x\x94 \x81", name) == "café “x” \x81"


SENTENCES = {
    "en": ("He went to the café and said “hello” to naïve people – really.", "cp1252"),
    "de": ("Die Bären schlafen über Nacht; die Straße ist größer als die Höhle.", "latin-1"),
    "fr": ("L'été dernier, les élèves étaient déjà partis à la montagne où il a neigé.", "latin-1"),
    "pl": ("Wczoraj poszedłem do sklepu kupić chleb i mleko, ponieważ byłem głodny.", "cp1250"),
    "ru": ("Вчера я пошёл в магазин, чтобы купить хлеба и молока.", "cp1251"),
    "el": ("Χθες πήγα στο κατάστημα για να αγοράσω ψωμί και γάλα.", "cp1253"),
    "ja": ("昨日、私はパンと牛乳を買うために店に行きました。", "shift_jis"),
    "zh": ("昨天我去商店买面包和牛奶，因为我饿了。", "gb18030"),
}


@pytest.mark.parametrize("key", SENTENCES)
def test_detection(key):
    text, encoding = SENTENCES[key]
    data = ("Some lines are plain.\n" * 3 + text + "\n").encode(encoding)
    assert decode(data, detect_encoding(data, key[:2])).endswith(text + "\n")
    assert detect_encoding(data.decode(encoding).encode(), key[:2]) == "utf-8"
    assert detect_encoding(b"plain\n", "en") == "utf-8"


def test_a_folder_with_files_in_several_encodings(tmp_path, write, cli):
    write("c/a.txt", "The lion sleeps in the café.\n")
    write("c/b.txt", "The lion sleeps in the café at noon.\n".encode("latin-1"))
    done = cli("index", tmp_path / "c", "--out", tmp_path / "s", "--dry-run")
    assert done.code == 1
    assert "c/b.txt:1 is not utf-8 (byte 0xe9); name the encoding (--encoding latin-1?)" in done.err
    done = cli("index", tmp_path / "c", "--out", tmp_path / "s", "--jobs", 1, "--encoding", "auto")
    assert f"files that are not UTF-8, and what they were read as: {tmp_path}/c/b.txt (latin-1)" in done.err
    corpus = Corpus.open(tmp_path / "s")
    assert [entry.get("encoding") for entry in corpus.manifest["sources"]] == [None, "latin-1"]
    assert (corpus.tokens, corpus.count("café")) == (16, 2)


def test_every_repaired_file_is_named(tmp_path, write, cli):
    write("c/a.txt", b"Lions \xff sleep \xff.\n")
    write("c/b.vert", b"<s>\nLi\xffons\tN\tlion\nLi\xffons\tN\tlion\n</s>\n")
    write("c/c.vert", b"<s>\nCats\tN\tcat\n</s>\n")
    named = {f"{tmp_path}/c/{name}": count for name, count in {"a.txt": 2, "b.vert": 2}.items()}
    options = TextOptions(encoding_errors="replace")
    summary = index_corpus([str(tmp_path / "c")], tmp_path / "s", options, jobs=1)
    assert summary.about("repaired") == named
    assert summary.problems["undecodable"] == 4
    done = cli("index", tmp_path / "c", "--out", tmp_path / "t", "--jobs", 1, "--encoding-errors", "skip")
    assert f"{tmp_path}/c/a.txt (2), {tmp_path}/c/b.vert (2)" in done.err
    facts = json.loads(cli("info", tmp_path / "t", "--json").out)
    assert {entry["path"]: entry["repaired"] for entry in facts["sources"] if "repaired" in entry} == named


def test_a_wrong_encoding_deep_in_a_large_file_is_seen_before_the_work(tmp_path, write):
    source = write("a.txt", b"The lion sleeps all day.\n" * 150_000 + b"caf\xe9\n")
    with pytest.raises(InputError, match=r"a.txt:150,001 is not utf-8 \(byte 0xe9\)"):
        index_corpus(
            [str(source)], tmp_path / "s", jobs=1, planned=lambda plan: pytest.fail("the work began")
        )


def test_file_names_that_are_not_utf8(tmp_path, cli):
    directory = tmp_path / "c"
    directory.mkdir()
    (directory / os.fsdecode(b"caf\xe9.txt")).write_text("The lion sleeps.\n")
    (directory / os.fsdecode(b"empty\xe9.txt")).touch()
    done = cli("index", directory, "--out", tmp_path / "s", "--jobs", 1)
    assert done.code == 0
    assert "empty\\xe9.txt (empty)" in done.err
    assert cli("index", directory, "--out", tmp_path / "s", "--jobs", 1, "--resume").code == 0
    assert "caf\\xe9.txt" in cli("contexts", tmp_path / "s", "lion").out
    assert sentences(Corpus.open(tmp_path / "s"))[0][0] == f"{directory}/caf\\xe9.txt"
