"""What commands say about misspelt words."""

import json

import pytest

from bagpack.corpus.build.index import index_corpus

TEXT = """I keep a saw and a hammer. The saw is sharp. He saw it. Saws cut wood.
The living room is warm. They make livings from wood. The hammer and the wood.
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "saw.txt").write_text(TEXT)
    index_corpus([str(folder / "saw.txt")], folder / "saw.bp")
    return folder / "saw.bp"


def flat(text):
    """Without the line breaks of a narrow terminal."""
    return " ".join(text.split())


def test_a_misspelt_word_is_answered_with_words_like_it(cli, store):
    said = flat(cli("contexts", store, "hamer", "woood").err)
    assert "similar spellings of hamer: hammer" in said and "similar spellings of woood: wood" in said
    assert "similar spellings" not in cli("contexts", store, "xylophone").err
    json.loads(cli("contexts", store, "hamer", "--json").out)
