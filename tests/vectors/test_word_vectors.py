"""Word vectors against the formula written out, their storage, and parts of speech."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from bagpack import Corpus, index_corpus
from bagpack.contexts.targets import Target
from bagpack.corpus.options import TextOptions
from bagpack.corpus.strings import Strings
from bagpack.corpus.words import CLASSES, word_classes
from bagpack.errors import StoreError
from bagpack.info import damages, describe
from bagpack.vectors import words
from bagpack.vectors.words import NAME, WordVectors, wide_rows
from tests.contexts.stores import make_store
from tests.forging import data_of, forge

ANIMALS, VEHICLES = ("cat", "dog", "horse", "cow"), ("car", "bus", "truck", "van")
SENTENCES = [
    line.format(word)
    for word in ANIMALS
    for line in ("the {} eats grass quietly", "a hungry {} sleeps near us", "feed the {} every morning")
] + [
    line.format(word)
    for word in VEHICLES
    for line in ("drive the {} down that road", "a {} needs fuel often", "he parked his {} behind it")
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    place = tmp_path_factory.mktemp("words")
    (place / "a.txt").write_text(" .\n".join(SENTENCES * 3) + " .\n")
    index_corpus([str(place / "a.txt")], place / "a.bp")
    return place / "a.bp"


def counted(corpus, keys, terms):
    """How many contexts of each key have each term within four tokens, both sides together."""
    counts = np.zeros((len(keys), len(terms)))
    for line in SENTENCES * 3:
        tokens = corpus.keys_of([*line.split(), "."])
        for at, word in enumerate(tokens):
            for side in (set(tokens[max(at - 4, 0) : at]), set(tokens[at + 1 : at + 5])):
                for term in side:
                    if word in keys and term in terms:
                        counts[keys.index(word), terms.index(term)] += 1
    return counts


def ppmi(counts, shares):
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.maximum(np.log(counts / counts.sum(axis=1, keepdims=True) / (shares / shares.sum())), 0)
    return np.nan_to_num(found)


def test_wide_rows_are_ppmi_of_unit_length(store):
    corpus = Corpus.open(store)
    unigrams, counts = words.top_unigrams(corpus, words.WIDE_TERMS)
    (expected,) = ppmi(counted(corpus, ["cat"], unigrams), np.array(counts) ** 0.75)
    found = wide_rows(corpus, [Target(("cat",)), None]).toarray()
    np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected), atol=1e-9)
    assert not found[1].any()


@pytest.fixture
def copy(store, tmp_path):
    words._vectors_of.cache_clear()
    shutil.copytree(store, tmp_path / "s.bp")
    return Corpus.open(tmp_path / "s.bp")


def test_vectors_are_the_formula(store):
    """All dimensions are kept, so that cosines are those of the centred PPMI rows times V S^(-1/2)."""
    corpus = Corpus.open(store)
    found = WordVectors.compute(corpus)
    counts = counted(corpus, [word.decode() for word in found.words], [term.decode() for term in found.terms])
    u, s, _ = np.linalg.svd(ppmi(counts, counts.sum(axis=0) ** 0.75), full_matrices=False)
    raw = (u * np.sqrt(s))[:, : found.rows.shape[1]]
    raw -= raw.mean(axis=0)
    raw /= np.linalg.norm(raw, axis=1, keepdims=True)
    np.testing.assert_allclose(found.rows @ found.rows.T, raw @ raw.T, atol=1e-3)


def test_a_word_that_is_not_among_them_is_projected(store, monkeypatch):
    corpus = Corpus.open(store)
    whole = WordVectors.compute(corpus)
    monkeypatch.setattr(words, "MOST_WORDS", len(whole.words) - 8)
    some = WordVectors.compute(corpus)
    missing = next(word for word in (*ANIMALS, *VEHICLES) if some.words.find([word])[0] < 0)
    kind = ANIMALS if missing in ANIMALS else VEHICLES
    others = [word for word in (*ANIMALS, *VEHICLES) if word != missing]
    rows = some.vectors([Target((word,)) for word in (missing, *others)])
    cosines = dict(zip(others, rows[1:] @ rows[0], strict=True))
    assert {max(cosines, key=cosines.get)} <= set(kind)
    phrase = some.vectors([Target(("cat", "dog"))])[0]
    mean = some.vectors([Target(("cat",)), Target(("dog",))]).mean(axis=0)
    np.testing.assert_allclose(phrase, mean / np.linalg.norm(mean), atol=1e-6)
    # Without words all are projected, each to its own vector.
    none, cat = replace(whole, words=Strings.of([]), rows=whole.rows[:0]), [Target(("cat",))]
    np.testing.assert_allclose(none.vectors(cat), whole.vectors(cat), atol=1e-5)


def test_vectors_are_kept_in_the_store_and_made_again_if_they_are_of_no_use(copy):
    first = WordVectors.of(copy)
    assert (copy.path / NAME / "manifest.json").exists()
    words._vectors_of.cache_clear()
    stored = WordVectors.open(copy.path / NAME, copy)
    np.testing.assert_array_equal(stored.rows, first.rows)
    assert describe(copy.path)["word_vectors"]["words"] == len(first.words) and damages(copy.path) == []
    (data,) = (copy.path / NAME).glob("data-*")
    flipped = bytearray((data / "rows").read_bytes())
    flipped[5] ^= 1
    (data / "rows").write_bytes(flipped)
    with pytest.raises(StoreError):
        WordVectors.open(copy.path / NAME, copy)
    assert len(damages(copy.path)) == 1
    np.testing.assert_array_equal(WordVectors.of(copy).rows, first.rows)
    assert damages(copy.path) == []
    (copy.path / NAME / "manifest.json").write_text('{"kind"')
    with pytest.raises(StoreError, match=r"manifest\.json .*JSON"):
        damages(copy.path)


@pytest.mark.parametrize("name", ["mean", "classes", "words.offsets"])
def test_forged_vectors_are_made_again(copy, name):
    first = WordVectors.of(copy)
    words._vectors_of.cache_clear()
    values = np.fromfile(data_of(copy.path / NAME) / name, "|u1")
    forge(copy.path / NAME, file=name, content=np.append(values[8:], values[:8] + 99).tobytes())
    if name == "mean":
        forge(copy.path / NAME, file=name, content=values[:-4].tobytes(), without="words")
        assert describe(copy.path)["word_vectors"]["words"] is None
    with pytest.raises(StoreError):
        WordVectors.open(copy.path / NAME, copy)
    np.testing.assert_array_equal(WordVectors.of(copy).rows, first.rows)


def test_an_appended_store_gets_new_vectors(copy, tmp_path):
    before = len(WordVectors.of(copy).words)
    (tmp_path / "b.txt").write_text("A zebra eats grass quietly .\n" * 5)
    index_corpus([str(tmp_path / "b.txt")], copy.path, append=True)
    assert len(WordVectors.of(Corpus.open(copy.path)).words) > before
    index_corpus([str(tmp_path / "b.txt")], copy.path, overwrite=True)  # they are no obstacle
    assert len(WordVectors.of(Corpus.open(copy.path)).words) < before


def test_a_store_that_cannot_be_written_is_searched_all_the_same(copy, monkeypatch):
    monkeypatch.setattr(words.os, "access", lambda *_: False)
    assert len(WordVectors.of(copy).words) and not (copy.path / NAME).exists()


ENGLISH = {"silk": "noun", "blue": "adjective", "london": "name", "sleep": "verb", "of": "other"}


@pytest.mark.parametrize(
    ("lang", "kinds"),
    [("en", ENGLISH), ("de", {"haus": "noun"}), ("it", {"casa": "any"})],
)
def test_parts_of_speech_of_forms(tmp_path, lang, kinds):
    (tmp_path / "a.txt").write_text(f"{' '.join(kinds)} .\n" * 3)
    options = TextOptions(lang=lang, level="form")
    corpus = index_corpus([str(tmp_path / "a.txt")], tmp_path / "a.bp", options).corpus
    assert [CLASSES[k] for k in word_classes(corpus, list(kinds))] == list(kinds.values())


def test_parts_of_speech_of_a_tagged_corpus(tmp_path):
    """Most of a word's tokens decide, not its form."""
    corpus = make_store(tmp_path, [["silk/VB"], ["silk/VB"], ["silk/NN", "blue/NN"]])
    assert [CLASSES[k] for k in word_classes(corpus, ["silk", "blue", "unicorn"])] == ["verb", "noun", "any"]
