"""Targets as users write them: with parts of speech, as runs of words, as forms."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagpack import Basis, index_corpus
from bagpack.contexts.targets import Target, resolve_targets, usual_keys
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.options import TextOptions
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
    """Lemmas may have a slash: only the last part is the tag."""
    place = tmp_path_factory.mktemp("tagged")
    return make_store(place, SENTENCES, line=lambda token: "{0}\t{2}\t{0}".format(*token.rpartition("/")))


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
    lines = ["saw\tVVD\tsee"] * 3 + ["saws\tNNS\tsaw", "saw\tNN\tsaw"]
    corpus = make_store(tmp_path, [lines], line=str)
    assert names(corpus, "saw/VERB", "saw/NOUN", "see/VERB") == ["see/VERB", "saw/NOUN", "see/VERB"]


def test_a_corpus_without_tags_says_so(tmp_path):
    plain = make_store(tmp_path, [["they", "saw"]], line=lambda word: f"{word}\t{word}")
    with pytest.raises(UsageError, match=r"saw/NOUN .* write saw"):
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
    # A tag behind the word takes precedence.
    table.write_text("w1\tw2\tlabel\nsaw/V\twood\ta\nand/or\tcut\tb\n")
    assert read_pairs(table, {"pos1": "N"}).pairs == [("saw/V", "wood"), ("and/or/NOUN", "cut")]
    table.write_text("w1\tpos1\tw2\tlabel\nsaw\tzz\twood\ta\n")
    with pytest.raises(InputError, match=r"d.tsv:2: .*'pos1' .*'ZZ'"):
        read_pairs(table, named | {"pos2": "N"})
    with pytest.raises(UsageError, match="no column 'Q'"):
        read_pairs(table, {"pos1": "Q"})


def test_without_tags_nothing_else_is_looked_at(corpus, tmp_path, monkeypatch):
    """Counting plain words never touches the array of tags."""
    plain = make_store(tmp_path, [list("abab")])
    monkeypatch.setattr(Segment, "tags", property(lambda self: pytest.fail("tags were read")))
    count_pairs(plain, [("a", "b")], Basis.of(plain, 3), CountSettings())


LETTERS = ("a", "b", "c")
TOKENS = st.tuples(st.sampled_from(("a", "A", "b", "c")), st.sampled_from(LETTERS))
SOME_SENTENCES = st.lists(st.lists(TOKENS, min_size=1, max_size=5), min_size=1, max_size=12)


def store_of(folder, sentences, cuts=()):
    """A store of tokens given as (form, lemma)."""
    return make_store(folder, sentences, cuts, line=lambda token: f"{token[0]}\tX\t{token[1]}")


class Oracle:
    """What the lookup must find, from lists of tokens."""

    def __init__(self, sentences):
        self.sentences = [[(form.casefold(), lemma) for form, lemma in s] for s in sentences]
        self.tokens = [token for s in self.sentences for token in s]
        self.lemmas = Counter(lemma for _, lemma in self.tokens)

    def as_form(self, word):
        keys = Counter(lemma for form, lemma in self.tokens if form == word)
        return min(keys, key=lambda key: (-keys[key], key)) if keys else None

    def as_lemma(self, word):
        return word if word in self.lemmas else self.as_form(word)

    def stands(self, run):
        return any(
            tuple(lemma for _, lemma in s[i : i + len(run)]) == run
            for s in self.sentences
            for i in range(len(s))
        )

    def resolve(self, words):
        literal = tuple(map(self.as_lemma, words))
        if None in literal:
            return None
        forms = tuple(self.as_form(word) or key for word, key in zip(words, literal, strict=True))
        return next((Target(run) for run in (literal, forms) if self.stands(run)), None)


@pytest.mark.costly
@settings(max_examples=25)
@given(
    SOME_SENTENCES,
    st.lists(st.integers(0, 11), max_size=3),
    st.lists(st.lists(st.sampled_from("abcd"), min_size=2, max_size=3), max_size=6),
)
def test_words_and_runs_are_looked_up_as_the_oracle_does_for_any_segments(tmp_path, sentences, cuts, runs):
    oracle = Oracle(sentences)
    expected = [oracle.resolve(run) for run in runs]
    corpus = store_of(tmp_path, sentences, cuts)
    assert resolve_targets(corpus, [" ".join(run) for run in runs]) == expected
    assert resolve_targets(corpus, ["_".join(run).upper() for run in runs]) == expected
    forms = [*LETTERS, "d"]
    assert usual_keys(corpus, forms) == {f: oracle.as_form(f) for f in forms if oracle.as_form(f)}


def test_a_living_room_is_found_where_living_is_a_lemma_too(tmp_path, write):
    text = (
        "The living room is large. Two living things. He makes a living, they make livings. A firing squad.\n"
    )
    corpus = index_corpus([str(write("room.txt", text))], tmp_path / "room.bp").corpus
    for asked in ("living room", "Living_Room", "live room"):
        [line] = corpus.contexts(asked)
        assert line.pieces[2].strip() == "living room"
    assert corpus.contexts("living squad").unknown == ("living squad",)


def test_a_word_in_a_script_without_spaces_is_the_run_of_its_characters(tmp_path):
    text = "我喜欢动物。动物园里有动物。\nT恤很好看。ネコとイヌ。\n"
    (tmp_path / "zh.txt").write_text(text, encoding="utf-8")
    corpus = index_corpus([str(tmp_path / "zh.txt")], tmp_path / "zh.bp", TextOptions(level="form")).corpus
    counts = {"动物": 3, "动物园": 1, "T恤": 1, "动物 园": 1, "物动": 0, "ネコ": 1, "猫": 0, "动": 3}
    for word, count in counts.items():
        found = corpus.contexts(word)
        assert (found.total, found.unknown) == (count, () if count else (word,))
