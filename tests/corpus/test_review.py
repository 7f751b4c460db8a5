"""Bugs that a review and an attack found in the corpus, each as it was reproduced."""

import json
import os

import pytest
from corpus_oracle import build, words

from bagpack.artefacts import LOCK, Kind, new_artefact
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.readers.text import is_wrapped
from bagpack.errors import InputError, StoreError
from bagpack.files import replacing

UTTERANCES = "where is the lion\nin the house\n\nis he asleep\nyes\nhe is\n\nlook at him\noh\n\n" * 4


def test_short_lines_are_not_joined_into_one_sentence(tmp_path, write):
    assert not is_wrapped(UTTERANCES.encode())
    corpus = build(write("a.txt", UTTERANCES), tmp_path / "s")
    assert words(corpus)[:2] == [["where", "is", "the", "lion"], ["in", "the", "house"]]
    assert corpus.contexts("lion", "house").total == 0


LINE = "The lion sleeps for most of the day in the shade."
NOT_WRAPPED = {
    "lines of any length": (LINE + "\nYes, it does.\nDoes it?\nIt does not.\nNever.\n\n") * 4,
    "even, but short lines": ("The lion sleeps tonight.\n" * 4 + "\n") * 4,
    "long lines": (" ".join([LINE] * 3) + "\n") * 4 + "\n",
    "too few to say": (LINE + "\nYes.\n\n") * 2,
    "no blank lines": (LINE + "\n") * 20,
}


@pytest.mark.parametrize("kind", NOT_WRAPPED)
def test_lines_that_are_not_wrapped_are_not_joined(kind):
    assert not is_wrapped(NOT_WRAPPED[kind].encode())


def test_json_lines_on_standard_input_with_a_long_first_line(tmp_path, cli):
    lines = "".join(json.dumps({"text": "Lions sleep. " * size}) + "\n" for size in (9000, 1))
    done = cli("index", "-", "--out", tmp_path / "s", stdin=lines.encode())
    assert done.code == 0, done.err
    assert Corpus.open(tmp_path / "s").tokens == 9001 * 3


def test_an_append_does_not_need_the_metadata_of_the_first_build(tmp_path, write):
    table = write("files.tsv", "file\tgenre\na.txt\tnews\n")
    source = write("a.txt", "Lions sleep.\n")
    index_corpus([source], tmp_path / "s", {"metadata": str(table)}, jobs=1)
    os.unlink(table)
    corpus = index_corpus([write("b.txt", "Cats hunt.\n")], tmp_path / "s", {}, append=True, jobs=1).corpus
    assert corpus.documents == 2
    assert corpus.where("genre == news").documents == 1


def test_soft_hyphens_are_no_part_of_a_word(tmp_path, write):
    corpus = build(
        write("a.txt", "An inter\xadnational lion and an international cat. \xad\n"), tmp_path / "s"
    )
    assert corpus.count("international") == corpus.count("inter\xadnational") == 2


@pytest.mark.parametrize("name", ["a.vert", "a.conllu"])
def test_no_control_character_is_in_a_word(name, tmp_path, write):
    forms = ["li\0on", "a\x1bb", "c\x7f", "new\N{NO-BREAK SPACE}york", "\x01", "\x85"]
    if name == "a.vert":
        text = "<s>\n" + "".join(f"{form}\tN\t{form}\n" for form in forms) + "</s>\n"
    else:
        text = "".join(f"{n}\t{form}\t{form}" + "\t_" * 7 + "\n" for n, form in enumerate(forms, 1)) + "\n"
    corpus = build(write(name, text), tmp_path / "s", format=name[2:].replace("vert", "vertical"))
    expected = ["li on", "a b", "c", "new york", "\ufffd", "\ufffd"]
    assert words(corpus) == [expected]
    assert sorted(map(bytes.decode, corpus.lexicon.keys)) == sorted(set(expected))


def test_attributes_cost_what_documents_have_of_them(tmp_path, write):
    lines = "".join(json.dumps({"text": "Lions sleep.", f"key{n % 900}": n}) + "\n" for n in range(8000))
    corpus = build(write("a.jsonl", lines), tmp_path / "s")
    assert corpus.info()["bytes"] < 2_000_000  # a table of documents and names had 256 MB
    assert corpus.where("key7 == 907").documents == 1
    assert len(corpus.attribute_names) == 900
    many = "".join(json.dumps({"text": "Lions sleep.", f"key{n}": n}) + "\n" for n in range(1100))
    with pytest.raises(InputError, match="more than 1,000 names of attributes"):
        build(write("b.jsonl", many), tmp_path / "t")
    tag = "<text " + " ".join(f'a{n}="x"' for n in range(100_000)) + ">\n<s>\na\tN\ta\n</s>\n</text>\n"
    with pytest.raises(InputError, match="more than 1,000 names of attributes"):
        build(write("c.vert", tag), tmp_path / "t")


def test_the_error_names_the_file_that_is_missing(tmp_path):
    for writing in (
        lambda: replacing(tmp_path / "out.tsv"),
        lambda: new_artefact(tmp_path / "x.model", Kind("test", "test artefact", 1, "bagpack test")),
    ):
        with pytest.raises(FileNotFoundError, match="missing"), writing():
            (tmp_path / "in" / "missing.tsv").read_text()
    with pytest.raises(StoreError, match="cannot be written"), replacing(tmp_path / "none" / "out.tsv"):
        pass


def test_a_sentence_is_not_cut_when_a_segment_is_full(tmp_path, write, monkeypatch):
    """A sentence of token lines that goes on in the next block."""
    monkeypatch.setattr("bagpack.corpus.readers.files.BLOCK", 400)
    long = "<s>\n" + "".join(f"w{n}\tN\tw{n}\n" for n in range(200)) + "</s>\n"
    corpus = build(
        write("a.vert", long * 3), tmp_path / "s", part_bytes=600, columns="word,tag,lemma", max_line=500
    )
    assert [len(line) for line in words(corpus)] == [200, 200, 200]


def test_a_build_killed_before_anything_was_finished_is_simply_begun_again(tmp_path, write):
    """Nothing is kept that --resume could use, so no option is asked for."""
    store = tmp_path / "s.bp"
    (store / "segments" / ("0" * 32 + "-000.new")).mkdir(parents=True)
    (store / "work" / "progress").mkdir(parents=True)
    (store / LOCK).touch()
    index_corpus([write("a.txt", "Lions sleep.\n")], store)
    assert Corpus.open(store).tokens == 3
