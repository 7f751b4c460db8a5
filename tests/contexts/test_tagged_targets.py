"""Targets with a part of speech, as users write them; the counts are in test_against_oracle.py."""

import pytest

from bagpack.basis import Basis
from bagpack.contexts.targets import resolve_targets
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.segment import Segment
from bagpack.errors import InputError, UsageError
from bagpack.tasks.pairs import read_dataset, read_pairs
from bagpack.vectors.counts import PairCounts, count_pairs
from tests.contexts.stores import make_store

SENTENCES = [
    ["the/DET", "saw/NOUN", "cut/VERB", "ice/NOUN", "cream/NOUN"],
    ["they/PRON", "saw/VERB", "and/or/CCONJ", "saw/VERB", "wood/NOUN"],
    ["n/a/X", "saw/NOUN"],
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """One token a line, so that lemmas may have a slash."""
    place = tmp_path_factory.mktemp("tagged")
    text = ""
    for sentence in SENTENCES:
        parts = (token.rpartition("/") for token in sentence)
        text += "<s>\n" + "".join(f"{form}\t{tag}\t{form}\n" for form, _, tag in parts) + "</s>\n"
    (place / "a.vert").write_text(text)
    return index_corpus([str(place / "a.vert")], place / "s").corpus


def names(corpus, *words):
    return [None if target is None else str(target) for target in resolve_targets(corpus, words)]


def test_a_tag_behind_a_word_is_a_part_of_speech_and_any_other_slash_is_not(corpus):
    asked = ("saw/NOUN", "saw/N", "Saw/VERB", "saw")
    assert names(corpus, *asked) == ["saw/NOUN", "saw/NOUN", "saw/VERB", "saw"]
    assert names(corpus, "and/or", "n/a", "N/A") == ["and/or", "n/a", "n/a"]  # as the corpus has them
    assert names(corpus, "and/or/CCONJ", "saw/noun", "saw/NN", "/NOUN") == ["and/or/CCONJ", None, None, None]


def test_each_word_of_several_may_have_one(corpus):
    asked = ("ice cream/NOUN", "ice/N_cream/N", "ice/VERB cream", "saw/NOUN cut/VERB", "saw/NOUN cut/NOUN")
    assert names(corpus, *asked) == ["ice cream/NOUN", "ice/NOUN cream/NOUN", None, "saw/NOUN cut/VERB", None]


def test_a_form_falls_back_to_the_lemma_that_has_the_part_of_speech(tmp_path):
    """In a corpus of lemmas, saw/VERB is see/VERB, and saw/NOUN the tool."""
    (tmp_path / "a.vert").write_text(
        "<s>\n" + "saw\tVVD\tsee\n" * 3 + "saws\tNNS\tsaw\nsaw\tNN\tsaw\n</s>\n", encoding="utf-8"
    )
    corpus = index_corpus([str(tmp_path / "a.vert")], tmp_path / "s").corpus
    assert names(corpus, "saw/VERB", "saw/NOUN", "see/VERB") == ["see/VERB", "saw/NOUN", "see/VERB"]


def test_a_corpus_without_tags_says_so(tmp_path):
    plain = make_store(tmp_path, [["they", "saw"]], line=lambda word: f"{word}\t{word}")
    with pytest.raises(UsageError, match="has no parts of speech, so saw/NOUN cannot be counted; write saw"):
        resolve_targets(plain, ["saw/NOUN"])
    assert names(plain, "N/A", "they") == [None, "they"]  # a short form may be part of a word


def test_a_matrix_keeps_the_parts_of_speech(corpus, tmp_path):
    pairs = [("saw/NOUN", "cut"), ("saw/VERB", "wood"), ("saw", "wood")]
    matrix = count_pairs(corpus, pairs, Basis.of(corpus, 5), CountSettings())
    matrix.save(tmp_path / "m")
    opened = PairCounts.open(tmp_path / "m")
    assert opened.targets == matrix.targets
    assert opened.n_w1.tolist() == [2, 2, 4]
    assert opened.seen.tolist() == [1, 1, 1]


def test_columns_with_parts_of_speech_are_used_on_request(tmp_path):
    table = tmp_path / "d.tsv"
    table.write_text("w1\tpos1\tw2\tpos2\tlabel\nsaw\tn\twood\tN\ta\nred\tj\tcut\t\tb\n")
    assert read_pairs(table).pairs == [("saw", "wood"), ("red", "cut")]
    named = {"pos1": "pos1", "pos2": "pos2"}
    assert read_pairs(table, named).pairs == [("saw/NOUN", "wood/NOUN"), ("red/ADJ", "cut")]
    assert read_dataset(table, columns={"pos2": "V"}).pairs == [("saw", "wood/VERB"), ("red", "cut/VERB")]
    table.write_text(
        "w1\tw2\tlabel\nsaw/V\twood\ta\nand/or\tcut\tb\n"
    )  # a tag behind the word takes precedence
    assert read_pairs(table, {"pos1": "N"}).pairs == [("saw/V", "wood"), ("and/or/NOUN", "cut")]
    table.write_text("w1\tpos1\tw2\tlabel\nsaw\tzz\twood\ta\n")
    with pytest.raises(InputError, match=r"d.tsv:2: the part of speech in column 'pos1' is 'ZZ'"):
        read_pairs(table, named | {"pos2": "N"})
    with pytest.raises(UsageError, match="no column 'Q'"):
        read_pairs(table, {"pos1": "Q"})


def test_commands(corpus, tmp_path, cli):
    found = cli("contexts", corpus.path, "saw/V", "--json")
    assert found.code == 0 and '"total": 2' in found.out
    found = cli("contexts", corpus.path, "saw/VERB", "wood/N", "--json")
    assert '"total": 1' in found.out
    (tmp_path / "p.tsv").write_text("w1\tw2\nsaw\twood\n")
    asked = ("--out", tmp_path / "m.tsv", "--columns", "pos1=VERB", "-b", "3")
    done = cli("vectors", corpus.path, tmp_path / "p.tsv", *asked)
    assert done.code == 0
    assert {line.split("\t")[0] for line in (tmp_path / "m.tsv").read_text().splitlines()[1:]} == {"saw/VERB"}


def test_without_tags_nothing_else_is_looked_at(corpus, tmp_path, monkeypatch):
    """Counting plain words never touches the array of tags."""
    plain = make_store(tmp_path, [list("abab")])
    monkeypatch.setattr(Segment, "tags", property(lambda self: pytest.fail("tags were read")))
    count_pairs(plain, [("a", "b")], Basis.of(plain, 3), CountSettings())
