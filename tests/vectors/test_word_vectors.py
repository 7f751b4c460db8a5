"""Word vectors against the formula written out, their storage, and parts of speech."""

import shutil

import numpy as np
import pytest

from bagpack import Corpus, find_pairs, index_corpus
from bagpack.contexts.targets import Target
from bagpack.corpus.options import TextOptions
from bagpack.corpus.words import CLASSES, word_classes
from bagpack.errors import StoreError
from bagpack.info import damages, describe
from bagpack.vectors import words
from bagpack.vectors.words import NAME, WordVectors, wide_rows
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


def test_wide_rows_are_ppmi_of_unit_length(store):
    corpus = Corpus.open(store)
    terms = list(dict.fromkeys(word for line in SENTENCES for word in line.split()))
    of = {term: sum(line.split().count(term) for line in SENTENCES) * 3 for term in terms} | {".": 3 * 24}
    unigrams, counts = words.top_unigrams(corpus, words.WIDE_TERMS)
    assert dict(zip(unigrams, counts, strict=True))["the"] == of["the"]
    shares = np.array(counts) ** 0.75 / (np.array(counts) ** 0.75).sum()
    near = np.zeros(len(unigrams))
    for line in SENTENCES:
        tokens = [*corpus.keys_of(line.split()), "."]
        if "cat" in tokens:
            at = tokens.index("cat")
            for term in tokens[max(0, at - 4) : at] + tokens[at + 1 : at + 5]:
                near[unigrams.index(term)] += 3
    with np.errstate(divide="ignore"):
        expected = np.maximum(np.log(near / near.sum() / shares), 0)
    found = wide_rows(corpus, [Target(("cat",)), None]).toarray()
    np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected), atol=1e-9)
    assert not found[1].any()


@pytest.fixture
def copy(store, tmp_path):
    words._vectors_of.cache_clear()
    shutil.copytree(store, tmp_path / "s.bp")
    return Corpus.open(tmp_path / "s.bp")


def test_vectors_are_the_formula(store, monkeypatch):
    """All dimensions are kept, so that cosines are those of the centred PPMI rows times V S^(-1/2)."""
    corpus = Corpus.open(store)
    found = WordVectors.compute(corpus)
    keys = [found.words[k] for k in range(len(found.words))]
    terms = [term.decode() for term in found.terms]
    counts = np.zeros((len(keys), len(terms)))
    tokens = [[*line.split(), "."] for line in SENTENCES * 3]
    lemmas = {form: corpus.keys_of([form])[0] for line in tokens for form in line}
    for line in tokens:
        line = [lemmas[form] for form in line]
        for at, word in enumerate(line):
            for side in (set(line[max(at - 4, 0) : at]), set(line[at + 1 : at + 5])):
                for term in side:
                    if word in keys and term in terms:
                        counts[keys.index(word), terms.index(term)] += 1
    share = counts.sum(axis=0) ** 0.75
    with np.errstate(divide="ignore", invalid="ignore"):
        ppmi = np.maximum(np.log(counts / counts.sum(axis=1, keepdims=True) / (share / share.sum())), 0)
    ppmi = np.nan_to_num(ppmi)
    u, s, _ = np.linalg.svd(ppmi, full_matrices=False)
    d = found.rows.shape[1]
    raw = (u * np.sqrt(s))[:, :d]
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


@pytest.mark.parametrize("name", ["mean", "classes", "words.offsets"])
def test_forged_vectors_are_made_again(copy, name):
    first = WordVectors.of(copy)
    words._vectors_of.cache_clear()
    values = np.fromfile(data_of(copy.path / NAME) / name, "|u1")
    forge(copy.path / NAME, file=name, content=np.append(values[8:], values[:8] + 99).tobytes())
    if name == "mean":
        forge(copy.path / NAME, file=name, content=values[:-4].tobytes())
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
    found = find_pairs(copy, [("cat", "grass"), ("dog", "grass")], min_count=1, top=5)
    assert len(found) and not (copy.path / NAME).exists()


def test_parts_of_speech_of_forms(store):
    corpus = Corpus.open(store)
    given = {"silk": "noun", "blue": "adjective", "london": "name", "sleep": "verb", "of": "other"}
    assert [CLASSES[k] for k in word_classes(corpus, list(given))] == list(given.values())


def test_parts_of_speech_of_a_tagged_corpus(tmp_path):
    """Most of a word's tokens decide, not its form."""
    lines = ["silk\tVB\tsilk\n"] * 2 + ["silk\tNN\tsilk\n", "blue\tNN\tblue\n"]
    (tmp_path / "a.vert").write_text("".join(f"<s>\n{line}</s>\n" for line in lines))
    index_corpus([str(tmp_path / "a.vert")], tmp_path / "a.bp")
    found = word_classes(Corpus.open(tmp_path / "a.bp"), ["silk", "blue", "unicorn"])
    assert [CLASSES[k] for k in found] == ["verb", "noun", "any"]


@pytest.mark.parametrize(
    ("lang", "word", "kind"), [("de", "haus", "noun"), ("nl", "lopen", "verb"), ("it", "casa", "any")]
)
def test_parts_of_speech_in_other_languages(tmp_path, lang, word, kind):
    (tmp_path / "a.txt").write_text(f"{word} .\n" * 3)
    index_corpus([str(tmp_path / "a.txt")], tmp_path / "a.bp", TextOptions(lang=lang))
    assert CLASSES[word_classes(Corpus.open(tmp_path / "a.bp"), [word])[0]] == kind
