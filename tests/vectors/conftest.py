"""A small corpus in two segments, and the vectors of a few pairs in it."""

import pytest

from bagpack import Corpus, PairVectorizer
from tests.contexts.stores import make_store

TEXT = """
lion be the only cat that live in large social group .
a cat chase the lion and the cat sleep .
cat and cat .
ice cream be the best ice in town .
the dog chase the cat .
hammer and nail .
"""
SENTENCES = [line.split() for line in TEXT.strip().splitlines()] * 3
PAIRS = [
    ("cat", "lion"), ("lion", "cat"), ("cat", "cat"), ("ice cream", "town"), ("unicorn", "cat"),
    ("hammer", "nail"), ("cat", "lion"),
]  # fmt: skip


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("vectors"), SENTENCES, (7,)).path


@pytest.fixture
def corpus(store):
    return Corpus.open(store)


@pytest.fixture
def matrix(corpus):
    return PairVectorizer(corpus, b=4).fit(PAIRS).count(PAIRS)
