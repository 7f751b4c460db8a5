"""What commands say about a form that mostly belongs to another lemma, and about misspelt words."""

import json
from pathlib import Path

import pytest

from bagpack.corpus.build.index import index_corpus

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
TEXT = """I keep a saw and a hammer. The saw is sharp. He saw it. Saws cut wood.
The living room is warm. They make livings from wood. The hammer and the wood.
"""
SAW = "saw is looked up as a lemma (once); the form saw mostly counts as see (3 times): look up see for these"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "saw.txt").write_text(TEXT)
    index_corpus([str(folder / "saw.txt")], folder / "saw.bp")
    return folder / "saw.bp"


def flat(text):
    """Without the line breaks of a narrow terminal."""
    return " ".join(text.split())


def test_contexts_say_where_a_form_is(cli, store):
    result = cli("contexts", store, "hammer", "saw")
    assert result.code == 0
    assert flat(result.err) == f"0 of 0 shown {SAW}"
    assert result.out == ""
    [reported] = json.loads(cli("contexts", store, "hammer", "saw", "--json").out)["elsewhere"]
    assert reported == {"word": "saw", "count": 1, "key": "see", "form_count": 3}
    assert flat(cli("contexts", store, "hammer", "see").err) == "1 of 1 shown"


def test_check_says_how_many_and_which(cli, store, tmp_path):
    (tmp_path / "pairs.tsv").write_text("w1\tw2\nhammer\tsaw\nsaw\tliving_room\nwood\thammer\n")
    result = cli("check", store, tmp_path / "pairs.tsv")
    assert "1 word is mostly a form of another lemma: saw (see)" in flat(result.out)
    assert "unknown" not in result.out  # living room is found
    facts = json.loads(cli("check", store, tmp_path / "pairs.tsv", "--json").out)
    assert facts["elsewhere"] == [{"word": "saw", "count": 1, "key": "see", "form_count": 3}]


def test_a_misspelt_word_is_answered_with_words_like_it(cli, store):
    said = flat(cli("contexts", store, "hamer", "woood").err)
    assert "similar spellings of hamer: hammer" in said and "similar spellings of woood: wood" in said
    assert "similar spellings" not in cli("contexts", store, "xylophone").err
    json.loads(cli("contexts", store, "hamer", "--json").out)


def test_explain_says_it_and_hints(cli, tmp_path):
    store, model = tmp_path / "my.bp", tmp_path / "my.model"
    index_corpus([str(EXAMPLES / "texts")], store)
    trained = cli("train", store, EXAMPLES / "relations.tsv", "--out", model, "-b", "50", "--jobs", "1")
    assert trained.code == 0
    result = cli("explain", model, "carpenter", "saw", "--top", "1", "--lines", "0")
    assert "the form saw mostly counts as see (4 times): look up see for these" in flat(result.err)
    assert "similar spellings" not in result.err
    result = cli("explain", model, "carpnter", "saw", "--top", "1", "--lines", "0")
    assert "similar spellings of carpnter: carpenter" in flat(result.err)
