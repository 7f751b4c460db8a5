"""Snippets from a search engine serve for sketches, similarities and the explorer as a store does."""

import random

import pytest

from bagpack.app import Library
from bagpack.app.pages import home, warm_up
from bagpack.corpus.build.index import index_corpus
from bagpack.engines.build import build_engine
from bagpack.engines.fetch import fetch_snippets
from bagpack.explain.pair import sketch_pair
from bagpack.explain.word import sketch_word
from tests.app.conftest import in_process
from tests.conftest import run_apart

PAIRS = [("cat", "lion"), ("dog", "cat"), ("ice cream", "cat"), ("unicorn", "cat")]
WORDS = ["cat", "cats", "lion", "dog", "dogs", "ice", "cream", "the", "of", "a", "big", "run"]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    pytest.importorskip("tantivy")
    folder = tmp_path_factory.mktemp("snippets")
    chance = random.Random(2)
    sentences = sorted({" ".join(chance.choices(WORDS, k=chance.randint(3, 14))) for _ in range(300)})
    (folder / "t.txt").write_text("".join(f"{sentence}\n" for sentence in sentences))
    store = index_corpus([str(folder / "t.txt")], folder / "t.bp", jobs=1).corpus
    build_engine(f"tantivy:{folder / 'index'}", [str(folder / "t.txt")])
    fetched = fetch_snippets(PAIRS, f"tantivy:{folder / 'index'}", folder / "s.bps", cache=folder / "cache")
    return store, fetched.corpus


@pytest.mark.parametrize("pair", PAIRS[:3])
def test_a_pair_is_sketched_alike(sources, pair):
    store, snippets = (sketch_pair(source, *pair, top=100) for source in sources)
    assert (store.together, store.n_plus) == (snippets.together, snippets.n_plus) and store.together > 5
    assert store.distances_plus == snippets.distances_plus
    assert sum(m.count for m in store.middles) == sum(m.count for m in snippets.middles)
    assert sketch_pair(sources[1], "unicorn", "cat").unknown == ("unicorn",)
    assert sketch_word(sources[1], "cat").count == sketch_word(sources[0], "cat").count


def test_the_explorer_over_snippets(sources):
    library = Library(str(sources[1].path))
    warm_up(library)
    offered = [(pair.w1, pair.w2) for pair in home(library).examples]
    assert offered == PAIRS, "only what was fetched can be asked"
    paths = ["/", "/word/cat", "/pair/cat/lion", "/concordance?w1=cat&w2=lion&sort=left"]
    paths += ["/pair/dog/zebra", "/pair/unicorn/cat"]

    async def scene():
        async with in_process(sources[1].path) as client:
            return [await client.get(path) for path in paths]

    answers = run_apart(scene())
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 404, 404]
    assert "no snippets for" in answers[4].text and "does not contain" in answers[5].text
