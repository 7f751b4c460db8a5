"""A made-up language in which relations have their own ways of being said, and a model of one of them."""

import random

import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.find.examples import Examples
from bagpack.find.training import train_on_examples
from bagpack.sources import as_source
from tests.made_up import ROWS, said, table

PARTS = [(a, b) for a, b, label in ROWS if label == "part"]
GIVEN, HELD_OUT = PARTS[:10], PARTS[10:]


def made_up_sentences():
    rng, lines = random.Random(7), said(most=5, least=2)
    terms = "the red wheel of the old engine broke .", "a red wheel is on its old engine again ."
    lines += [line.split() for line in terms * 2]
    words = [word for line in lines for word in line if word[-2:].isdigit()]
    for _ in range(300):  # words of all relations that happen to be near
        lines.append(["here", rng.choice(words), "came", "and", rng.choice(words), "went", "."])
    rng.shuffle(lines)
    return lines


SENTENCES = made_up_sentences()


def index_sentences(folder):
    """A store of them in several segments, without parts of speech, so that no word is excluded as a function word."""
    vertical = ["<text id='all'>"]
    for words in SENTENCES:
        vertical += ["<s>", *(f"{word}\t{word}" for word in words), "</s>"]
    source = folder / "made-up.vert"
    source.write_text("\n".join([*vertical, "</text>", ""]))
    index_corpus([str(source)], folder / "made-up.bp", TextOptions(columns="word,lemma"), part_bytes=8000)
    return folder / "made-up.bp"


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return index_sentences(tmp_path_factory.mktemp("find"))


@pytest.fixture(scope="session")
def source(store):
    return as_source(Corpus.open(store))


@pytest.fixture(scope="session")
def trained(source):
    return train_on_examples(source, Examples("part", tuple(GIVEN)))


@pytest.fixture
def examples(write):
    return write("examples.tsv", table(GIVEN, "w1\tw2"))
