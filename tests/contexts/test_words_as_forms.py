"""Runs of words are looked up as lemmas and failing that as forms."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bagpack.contexts.targets import Target, resolve_targets, usual_keys
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from tests.contexts.stores import make_store

LETTERS = ("a", "b", "c")
TOKENS = st.tuples(st.sampled_from(("a", "A", "b", "c")), st.sampled_from(LETTERS))
SENTENCES = st.lists(st.lists(TOKENS, min_size=1, max_size=5), min_size=1, max_size=12)


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
@settings(max_examples=40)
@given(
    SENTENCES,
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


ENGLISH = "The living room is large. Two living things. He makes a living, they make livings. A firing squad."


def test_a_living_room_is_found_where_living_is_a_lemma_too(tmp_path):
    (tmp_path / "room.txt").write_text(ENGLISH + "\n")
    corpus = index_corpus([str(tmp_path / "room.txt")], tmp_path / "room.bp").corpus
    for asked in ("living room", "Living_Room", "live room"):
        [line] = corpus.contexts(asked)
        assert line.pieces[2].strip() == "living room"
    assert corpus.contexts("living squad").unknown == ("living squad",)


def test_a_word_in_a_script_without_spaces_is_the_run_of_its_characters(tmp_path):
    (tmp_path / "zh.txt").write_text(
        "我喜欢动物。动物园里有动物。\nT恤很好看。ネコとイヌ。\n", encoding="utf-8"
    )
    corpus = index_corpus([str(tmp_path / "zh.txt")], tmp_path / "zh.bp", TextOptions(level="form")).corpus
    counts = {"动物": 3, "动物园": 1, "T恤": 1, "动物 园": 1, "物动": 0, "ネコ": 1, "猫": 0, "动": 3}
    for word, count in counts.items():
        found = corpus.contexts(word)
        assert (found.total, found.unknown) == (count, () if count else (word,))
