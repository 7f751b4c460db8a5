"""What pages say of a run of words, and of a misspelt word."""

import pytest

from bagpack.corpus.build.index import index_corpus
from tests.app.conftest import ask

TEXT = (
    "A hammer in the living room. They make livings. He saw it. She saw it. They saw it. Saws and a hammer.\n"
)


@pytest.fixture(scope="module")
def get(tmp_path_factory):
    """Ask the explorer of a small corpus, in this process."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "saw.txt").write_text(TEXT)
    index_corpus([str(folder / "saw.txt")], folder / "saw.bp")
    return lambda url: ask(url, folder / "saw.bp")


def test_a_run_of_words_and_words_like_a_misspelt_one(get):
    assert get("/pair/hammer/living%20room.json").json()["sketch"]["together"] == 1
    for url in ("/word/hamer", "/pair/hamer/saw"):
        page = get(url)
        assert page.status_code == 404
        assert 'Similar spellings: <a href="/word/hammer">hammer</a>' in page.text
