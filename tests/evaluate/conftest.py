"""A small made-up language in which three relations have their own ways of being said."""

import json
import random

import pytest

from tests.contexts.stores import make_store

SAYINGS = {
    "kind": ["a {a} is a kind of {b} .", "{b} such as the {a} were found .", "every {a} and other {b} came ."],
    "part": ["the {a} of the {b} broke .", "a {b} has a {a} on its side .", "its {b} lost one {a} again ."],
    "tool": ["they {b} it with a {a} .", "use the {a} to {b} them .", "with a {a} one can {b} well ."],
}  # fmt: skip
PER_LABEL = 24


def made_up_pairs():
    return [(f"{name}a{i:02d}", f"{name}b{i % 12:02d}", name) for name in SAYINGS for i in range(PER_LABEL)]


def made_up_text():
    rng = random.Random(7)
    lines = []
    for a, b, label in made_up_pairs():
        lines += [rng.choice(SAYINGS[label]).format(a=a, b=b) for _ in range(rng.randint(1, 4))]
        lines.append(f"nobody saw the {a} before .")
    rng.shuffle(lines)
    return lines


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    sentences = [line.split() for line in made_up_text()]
    return make_store(tmp_path_factory.mktemp("experiments"), sentences, (90, 180), "made-up.bp").path


@pytest.fixture
def relations(write):
    rows = "".join(f"{a}\t{b}\t{label}\n" for a, b, label in made_up_pairs())
    return write("relations.tsv", "w1\tw2\tlabel\n" + rows)


@pytest.fixture
def ratings(write):
    rng = random.Random(3)
    rows = []
    for number, (a, b, label) in enumerate(made_up_pairs()):
        rows.append(f"{a}\t{b}\t{6 if label == 'kind' else 2 + rng.random():.2f}\tv{number % 6}\n")
    return write("ratings.tsv", "w1\tw2\trating\tverb\n" + "".join(rows))


@pytest.fixture
def questions(write):
    pairs = made_up_pairs()
    by_label = {label: [p[:2] for p in pairs if p[2] == label] for label in SAYINGS}
    rng = random.Random(5)
    lines = []
    for number in range(12):
        label = list(SAYINGS)[number % 3]
        stem, right = rng.sample(by_label[label], 2)
        wrong = [rng.choice(by_label[other]) for other in SAYINGS if other != label]
        answer = rng.randint(0, 2)
        choices = [*wrong[:answer], right, *wrong[answer:]]
        lines.append(json.dumps({"stem": stem, "choices": choices, "answer": answer}))
    return write("questions.jsonl", "\n".join(lines) + "\n")
