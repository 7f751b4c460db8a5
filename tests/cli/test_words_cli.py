"""What commands say about a form that mostly belongs to another lemma, and about misspelt words."""

import json

import pytest

from bagpack.corpus.build.index import index_corpus

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


def test_contexts_and_check_say_where_a_form_is(cli, store, write):
    result = cli("contexts", store, "hammer", "saw")
    assert result.code == 0
    assert flat(result.err) == f"0 of 0 shown {SAW}"
    assert result.out == ""
    [reported] = json.loads(cli("contexts", store, "hammer", "saw", "--json").out)["elsewhere"]
    assert reported == {"word": "saw", "count": 1, "key": "see", "form_count": 3}
    assert flat(cli("contexts", store, "hammer", "see").err) == "1 of 1 shown"
    pairs = write("pairs.tsv", "w1\tw2\nhammer\tsaw\nsaw\tliving_room\nwood\thammer\n")
    checked = cli("check", store, pairs).out
    assert "1 word is mostly a form of another lemma: saw (see)" in flat(checked)
    assert "unknown" not in checked  # living room is found
    assert json.loads(cli("check", store, pairs, "--json").out)["elsewhere"] == [reported]


def test_a_misspelt_word_is_answered_with_words_like_it(cli, store):
    said = flat(cli("contexts", store, "hamer", "woood").err)
    assert "similar spellings of hamer: hammer" in said and "similar spellings of woood: wood" in said
    assert "similar spellings" not in cli("contexts", store, "xylophone").err
    json.loads(cli("contexts", store, "hamer", "--json").out)
