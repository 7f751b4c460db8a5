"""A made-up language in which relations have their own ways of being said, and a model of one of them."""

import random

import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.options import TextOptions
from bagpack.find.examples import Examples
from bagpack.find.training import train_on_examples
from bagpack.sources import as_source
from tests.evaluate.conftest import PER_LABEL, SAYINGS

PARTS = [(f"parta{i:02d}", f"partb{i % 12:02d}") for i in range(PER_LABEL)]
GIVEN, HELD_OUT = PARTS[:10], PARTS[10:]


def made_up_sentences():
    rng = random.Random(7)
    lines = []
    for label, sayings in SAYINGS.items():
        for i in range(PER_LABEL):
            a, b = f"{label}a{i:02d}", f"{label}b{i % 12:02d}"
            lines += [rng.choice(sayings).format(a=a, b=b) for _ in range(rng.randint(2, 5))]
            lines.append(f"nobody saw the {a} before .")
    lines += ["the red wheel of the old engine broke .", "a red wheel is on its old engine again ."] * 2
    words = [word for line in lines for word in line.split() if word[-2:].isdigit()]
    for _ in range(300):  # words of all relations that happen to be near
        lines.append(f"here {rng.choice(words)} came and {rng.choice(words)} went .")
    rng.shuffle(lines)
    return [line.split() for line in lines]


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
    return write("examples.tsv", "w1\tw2\n" + "".join(f"{a}\t{b}\n" for a, b in GIVEN))
