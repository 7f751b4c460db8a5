"""A Zipf-like corpus with long sentences, so that words lie many blocks apart, and its stores in several segments."""

import random

import pytest

from .stores import make_store


@pytest.fixture(scope="session")
def random_sentences():
    rng = random.Random(4)
    words = [f"w{i}" for i in range(300)]
    weights = [1 / (i + 1) for i in range(300)]
    return [rng.choices(words, weights, k=rng.choice([1, 5, 30, 200])) for _ in range(300)]


@pytest.fixture(scope="session")
def corpora(tmp_path_factory, random_sentences):
    folder, cuts = tmp_path_factory.mktemp("corpora"), [(), (40, 41, 150), (299,)]
    return [make_store(folder, random_sentences, own, f"store{n}.bp") for n, own in enumerate(cuts)]
