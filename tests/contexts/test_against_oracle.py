"""Every count equals the brute-force oracle's, on hypothesis-made corpora cut into segments anywhere."""

import random
import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bagpack import Basis, PairVectorizer
from bagpack.contexts import concordance
from bagpack.contexts import count as counting
from bagpack.contexts.windows import Windows
from tests.contexts import oracle
from tests.contexts.stores import make_store

WORDS = ["a", "b", "c", "d", "e", "é"]
sentences_of_words = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), min_size=1, max_size=12
)
words = st.sampled_from(WORDS)
targets = words | st.tuples(words, words).map(" ".join)


def features(corpus, pair, terms, **options):
    unigrams = tuple(t[0] for t in terms if len(t) == 1)
    bigrams = tuple(t for t in terms if len(t) == 2)
    vectorizer = PairVectorizer(corpus, basis=Basis(unigrams, bigrams), **options)
    row = vectorizer.fit_transform([pair])
    names = vectorizer.get_feature_names_out()
    return {names[column]: int(value) for column, value in zip(row.indices, row.data, strict=True)}


@given(
    sentences=sentences_of_words,
    one=targets,
    two=targets,
    b=st.integers(1, 8),
    limit=st.none() | st.integers(1, 4),
    cuts=st.lists(st.integers(1, 11), max_size=2),
    single=st.sampled_from([(4, 4), (1, 2), (0, 3), (5, 6)]),
    pair=st.sampled_from([(2, 5, 2), (0, 1, 3), (1, 0, 0)]),
    marks_per_search=st.sampled_from([0, 4, 1 << 30]),  # search always, now and then, never
)
@example([list("abab")], "b", "b a", 1, None, [], (4, 4), (2, 5, 2), 0)  # both start at one token
@example([list("abab")], "b", "b a", 1, None, [], (4, 4), (2, 5, 2), 1 << 30)
@example([list("babacb")], "b a", "b", 3, None, [], (4, 4), (2, 5, 2), 0)
@example([list("cabcab")], "a b", "c a", 3, None, [], (4, 4), (2, 5, 2), 0)
def test_every_feature_equals_the_oracle(sentences, one, two, b, limit, cuts, single, pair, marks_per_search):
    terms = oracle.basis_terms(sentences, b)
    w1, w2 = tuple(one.split()), tuple(two.split())
    if not {*w1, *w2} <= {name for s in sentences for name in s}:
        return
    expected = oracle.vector(sentences, w1, w2, terms, limit, single, pair)
    searching = patch.object(counting, "MARKS_PER_SEARCH", marks_per_search)
    with tempfile.TemporaryDirectory() as folder, searching:
        corpus = make_store(Path(folder), sentences, cuts)
        how = {"limit": limit, "windows": "{}-{}/{}-{}-{}".format(*single, *pair)}
        found, swapped = (features(corpus, each, terms, **how) for each in ((one, two), (two, one)))
    for word, block in ((w1, "v1:"), (w2, "v2:")):
        # A run that never occurs is an unknown word.
        if not any(oracle.occurrences(s, word) for s in sentences):
            expected = {n: c for n, c in expected.items() if not n.startswith((block, "v12:"))}
    assert found == expected
    # Of the names of blocks and segments, which come before the terms.
    exchange = str.maketrans("12+-", "21-+")
    turned = {}
    for name, value in expected.items():
        block, segment, term = name.split(":", 2)
        block = block if block == "v12" else block.translate(exchange)
        turned[f"{block}:{segment.translate(exchange)}:{term}"] = value
    assert swapped == turned


TAGGED = [f"{word}/{tag}" for word in "abc" for tag in ("NOUN", "VERB")]
one_word = st.sampled_from([*TAGGED, "a", "b"])
tagged_targets = st.one_of(one_word, st.tuples(one_word, one_word).map(" ".join))


@given(
    sentences=st.lists(st.lists(st.sampled_from(TAGGED), min_size=1, max_size=14), min_size=1, max_size=12),
    one=tagged_targets,
    two=tagged_targets,
    limit=st.one_of(st.none(), st.integers(1, 4)),
    cuts=st.lists(st.integers(1, 11), max_size=2),
    marks_per_search=st.sampled_from([0, 4, 1 << 30]),
)
@example([["a/NOUN", "b/VERB", "a/VERB", "b/VERB", "a/NOUN"]], "a/NOUN", "b/VERB", None, [], 0)
@example([["a/NOUN", "a/VERB", "a/NOUN"]], "a/NOUN", "a/VERB", None, [], 1 << 30)
def test_targets_with_a_part_of_speech_equal_the_oracle(sentences, one, two, limit, cuts, marks_per_search):
    w1, w2 = tuple(one.split()), tuple(two.split())
    found_at = [[(k, i) for k, s in enumerate(sentences) for i in oracle.occurrences(s, w)] for w in (w1, w2)]
    if not all(found_at) or (w1 != w2 and {*found_at[0]} & {*found_at[1]}):
        return  # unknown, or tokens that are both words
    terms = oracle.basis_terms([oracle.lemmas(s) for s in sentences], 4)
    with tempfile.TemporaryDirectory() as folder:
        corpus = make_store(Path(folder), sentences, cuts)
        with patch.object(counting, "MARKS_PER_SEARCH", marks_per_search):
            found = features(corpus, (one, two), terms, limit=limit)
        seen = [len(corpus.contexts(word, limit=None)) for word in (one, two)]
        together = corpus.contexts(one, two, limit=None).total
    assert found == oracle.vector(sentences, w1, w2, terms, limit)
    assert seen == [len(places) for places in found_at]
    pairs = oracle.pair_contexts(sentences, w1, w2)
    assert together == sum(not again for _, _, again in pairs)


@given(sentences=sentences_of_words, b=st.integers(1, 40), cuts=st.lists(st.integers(1, 11), max_size=2))
@settings(max_examples=25)
def test_basis_equals_the_oracle(sentences, b, cuts):
    with tempfile.TemporaryDirectory() as folder:
        basis = Basis.of(make_store(Path(folder), sentences, cuts), b)
    assert [*((u,) for u in basis.unigrams), *basis.bigrams] == oracle.basis_terms(sentences, b)
    counts = Counter(bigram for sentence in sentences for bigram in pairwise(sentence))
    assert list(basis.bigram_counts) == [counts[bigram] for bigram in basis.bigrams]


TIED = ["xy", "xy", "x", "x", "y", "y", "ab", "ab"]  # as frequent as the bigram of the words in the table


@pytest.mark.parametrize("table_keys", [2, 3])
@pytest.mark.parametrize("texts", [["abcabdacbd", "ddeeffgghh", "efefefefgh"], TIED])
def test_basis_is_exact_when_the_table_is_too_small(tmp_path, monkeypatch, table_keys, texts):
    sentences = list(map(list, texts))
    corpus = make_store(tmp_path, sentences, [1, 2])
    monkeypatch.setattr("bagpack.basis.TABLE_WORDS", table_keys)
    monkeypatch.setattr("bagpack.basis.MOST_CODES", 4)
    for b in (1, 3, 5, 100):
        basis = Basis.of(corpus, b)
        assert [*((u,) for u in basis.unigrams), *basis.bigrams] == oracle.basis_terms(sentences, b)


FORMS = ["lion", "cat", "the", "ice", "cream", "é", "of", "."]
PAIRS = [
    ("lion", "cat"), ("cat", "lion"), ("cat", "cat"), ("ice cream", "ice"), ("ice cream", "cat"), ("é", "of"),
    ("unicorn", "cat"), ("unicorn", "unicorn"),
]  # fmt: skip
_rng = random.Random(5)
SENTENCES = [[_rng.choice(FORMS) for _ in range(_rng.randint(1, 25))] for _ in range(300)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("lines"), SENTENCES, cuts=(40, 170))


def expected_lines(pair, windows):
    """Order and the five pieces of the windows of every line, by brute force."""
    one, two = (tuple(word.split()) for word in pair)
    if not all(any(oracle.occurrences(s, word) for s in SENTENCES) for word in (one, two)):
        return []
    found = []
    for sign, parts, again in oracle.pair_contexts(
        SENTENCES, one, two, windows.left, windows.between, windows.right
    ):
        if not again:
            first, second = (two, one) if sign == "-" else (one, two)
            pieces = (parts["pre"], first, parts["betw"], second, parts["post"])
            found.append(("±" if one == two else sign, tuple(" ".join(piece).upper() for piece in pieces)))
    return found


def lines_of(concordance):
    return [(line.order, tuple(piece.strip() for piece in line.pieces[1:6])) for line in concordance]


@pytest.mark.parametrize("limit", [None, 0, 3, 50])
@pytest.mark.parametrize("windows", [Windows(), Windows.parse("3/1-0-3")])
def test_lines_of_a_pair_equal_the_oracle(corpus, limit, windows):
    found = [corpus.contexts(*pair, limit=limit, windows=windows) for pair in PAIRS]
    for pair, one in zip(PAIRS, found, strict=True):
        every = expected_lines(pair, windows)
        assert (one.total, lines_of(one)) == (len(every), every[:limit])
    assert sum(lines.total for lines in found) > 300
    assert [lines.unknown for lines in found if lines.unknown] == [("unicorn",), ("unicorn",)]


def test_lines_of_a_word_equal_the_oracle(corpus):
    for word in ("cat", "é", "ice cream"):
        found = corpus.contexts(word, limit=None)
        pieces = [tuple(piece.strip() for piece in line.pieces) for line in found]
        expected = oracle.single_contexts(SENTENCES, tuple(word.split()))
        assert [(before, after) for _, before, _, _, _, after, _ in pieces] == [
            tuple(" ".join(context[side]).upper() for side in ("pre", "post")) for context in expected
        ]
        assert {key for _, _, key, *_ in pieces} == {word.upper()}
        assert [line.text for line in found] == [
            " ".join(s).upper() for s in SENTENCES for _ in oracle.occurrences(s, tuple(word.split()))
        ]


def test_pieces_are_the_sentence_as_written_of_which_the_rest_is_cut(tmp_path, monkeypatch):
    sentence = [f"w{i}" for i in range(200)]
    store = make_store(tmp_path, [["x"], sentence, ["y"]])
    for rest, start, end in ((200, 0, 200), (3, 95, 109)):
        monkeypatch.setattr(concordance, "REST", rest)
        line = store.contexts("w100", "w103")[0]
        assert line.text == " ".join(sentence[start:end]).upper()
        assert [piece.strip() for piece in line.pieces[1:6]] == [
            "W98 W99", "W100", "W101 W102", "W103", "W104 W105",
        ]  # fmt: skip
        assert line.document == "t0"
