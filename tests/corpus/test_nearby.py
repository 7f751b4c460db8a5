"""Words offered for one that a corpus does not know."""

import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.words import complete, nearby


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nearby")
    text = "elephant " * 5 + "elephantine elegant element hammer room zebra Zürich. A living room.\n"
    (folder / "text.txt").write_text(text, encoding="utf-8")
    return index_corpus([str(folder / "text.txt")], folder / "store.bp").corpus


def test_similar_words_are_offered(corpus):
    similar = {"elphant": "elephant", "Elehpant": "elephant", "hamer": "hammer", "zbra": "zebra"}
    for word, first in (similar | {"Zurich": "zürich", "elepidote": "elephant"}).items():
        assert nearby(corpus, word)[0].word == first
    assert nearby(corpus, "living roomm")[0].word == "living room"


def test_nothing_is_offered_where_nothing_is_near(corpus):
    for word in ("xylophone", "zebra hammer", "x" * 500, "_"):  # zebra and hammer are known, but never meet
        assert nearby(corpus, word) == []


def test_words_are_completed_by_frequency_then_order(corpus):
    assert [item.word for item in complete(corpus, "ELE", 3)] == ["elephant", "elegant", "element"]
    assert complete(corpus, "elephant")[0].count == 5
    assert complete(corpus, "") == complete(corpus, "q") == []
