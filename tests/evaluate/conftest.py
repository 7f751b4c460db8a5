"""Tables of the made-up language for each kind of task."""

import json
import random

import pytest

from tests.made_up import PAIRS, ROWS, SAYINGS, table


@pytest.fixture(scope="session")
def store(world):
    return world.store


@pytest.fixture
def relations(write):
    return write("relations.tsv", table(ROWS))


@pytest.fixture
def ratings(write):
    rng = random.Random(3)
    rated = [6 if label == "kind" else f"{2 + rng.random():.2f}" for *_, label in ROWS]
    rows = [(*pair, rated[k], f"v{k % 6}") for k, pair in enumerate(PAIRS)]
    return write("ratings.tsv", table(rows, "w1\tw2\trating\tverb"))


@pytest.fixture
def questions(write):
    by_label = {label: [row[:2] for row in ROWS if row[2] == label] for label in SAYINGS}
    rng = random.Random(5)
    lines = []
    for number in range(12):
        label = list(SAYINGS)[number % 3]
        stem, right = rng.sample(by_label[label], 2)
        choices = [rng.choice(by_label[other]) for other in SAYINGS if other != label]
        answer = rng.randint(0, 2)
        choices.insert(answer, right)
        lines.append(json.dumps({"stem": stem, "choices": choices, "answer": answer}))
    return write("questions.jsonl", "\n".join(lines) + "\n")
