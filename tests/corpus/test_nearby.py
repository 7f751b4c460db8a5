"""Words offered for one that a corpus does not know."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.store.suggest import complete, nearby, slips


def distance(one, two):
    """Change, leave out, put in, or exchange neighbours: the textbook's table, with nothing cut off."""
    table = [[max(i, j) if not i * j else 0 for j in range(len(two) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(two) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (one[i - 1] != two[j - 1])
            )
            if i > 1 and j > 1 and one[i - 1] == two[j - 2] and one[i - 2] == two[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


words = st.text("abc", max_size=7).map(str.encode)


@given(st.lists(words, max_size=12), words, st.integers(1, 3))
def test_slips_are_counted_as_in_the_textbook(keys, word, most):
    strings = Strings.of(keys)
    out = np.empty(len(keys), np.int8)
    slips(strings.blob, strings.offsets, np.frombuffer(word, np.uint8), most, out)
    assert out.tolist() == [min(distance(key, word), most + 1) for key in keys]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nearby")
    text = "elephant " * 5 + "elephantine elegant element hammer room zebra Zürich. "
    (folder / "text.txt").write_text(text + "A living room.\n", encoding="utf-8")
    index_corpus([str(folder / "text.txt")], folder / "store.bp")
    return Corpus.open(folder / "store.bp")


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("elphant", "elephant"),
        ("Elehpant", "elephant"),
        ("hamer", "hammer"),
        ("zbra", "zebra"),
        ("Zurich", "zürich"),
        ("living roomm", "living room"),
        ("elepidote", "elephant"),
    ],
)
def test_a_slip_of_the_keyboard_is_mended(corpus, word, first):
    assert nearby(corpus, word)[0].word == first


def test_nothing_is_offered_where_nothing_is_near(corpus):
    assert nearby(corpus, "xylophone") == []
    assert nearby(corpus, "zebra hammer") == []  # known words that never meet
    assert nearby(corpus, "x" * 500) == []
    assert nearby(corpus, "_") == []


def test_words_are_completed_by_frequency_then_order(corpus):
    assert [item.word for item in complete(corpus, "ELE", 3)] == ["elephant", "elegant", "element"]
    assert complete(corpus, "elephant")[0].count == 5
    assert complete(corpus, "") == complete(corpus, "q") == []
