"""The corpus and the questions that all peers get, and how a peer's process reports."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from benchmarks import corpora
from benchmarks.measure import BAGPACK, DATA, SHARED, run_watched
from benchmarks.zipf import write_zipf_vertical, zipf_pairs

TOKENS = int(os.environ.get("BAGPACK_BENCH_PEER_TOKENS", "66000000"))
PLACE = DATA / ("peers" if TOKENS == 66_000_000 else f"peers-{TOKENS}")
VERTICAL = PLACE / "text.vert"  # word TAB tag TAB lemma
SENTENCES = PLACE / "sentences.txt"  # the same: a line a sentence, lemmas divided by spaces
STORE = PLACE / "ours.bp"
PAIRS_FILE = PLACE / "pairs.json"
MATRIX = PLACE / "relations.bpm"
TEXT_BYTES = (330 << 20) * TOKENS // 66_000_000
ZIPF_TOKENS = TOKENS // 3
PAIRS = 1000
B = 1500
ROUNDS, LONG = 3, 10.0  # short measurements are repeated, since other work may share the cores
BETWEEN, SIDE = 5, 2  # the method's windows of a pair

Pair = tuple[str, str]
Answer = TypeVar("Answer")


def write_corpus() -> None:
    """The vertical file; made once."""
    PLACE.mkdir(parents=True, exist_ok=True)
    if VERTICAL.exists():
        return
    if corpora.real_text():
        text = PLACE / "text.txt"
        corpora.copy_text(text, TEXT_BYTES)
        corpora.vertical_of_text(text, VERTICAL)
        text.unlink()
    else:
        write_zipf_vertical(VERTICAL, ZIPF_TOKENS)


def write_questions() -> None:
    """Sentences, pairs and the matrix of a data set, from our store of the corpus."""
    from bagpack import Corpus

    corpus = Corpus.open(STORE)
    with open(SENTENCES, "w", encoding="utf-8") as out:
        out.writelines(corpora.sentences(corpus))
    PAIRS_FILE.write_text(json.dumps(_draw_pairs(corpus)), encoding="utf-8")
    if not corpora.real_text():
        return
    relations = Path(__file__).resolve().parents[2] / "src" / "bagpack" / "data" / "relations.tsv"
    command = ["vectors", STORE, relations, "--out", MATRIX, "-b", B, "--quiet", "--overwrite"]
    run_watched([*BAGPACK, *map(str, command)])


def _draw_pairs(corpus: Any) -> list[Pair]:
    """A thousand pairs of different lemmas that the corpus knows: of BLESS where it is there, else drawn."""
    bless = SHARED / "sets" / "bless" / "all.tsv"
    if bless.exists() and corpora.real_text():
        from bagpack.tasks.pairs import read_pairs

        listed = read_pairs(bless).pairs
    else:
        listed = zipf_pairs(4 * PAIRS, tokens=corpus.tokens)
    words = sorted({word for pair in listed for word in pair if " " not in word and "_" not in word})
    known = {word: key for word, key in zip(words, corpus.keys_of(words), strict=True) if key}
    pairs = {tuple(sorted((known[a], known[b]))) for a, b in listed if a in known and b in known}
    return random.Random(0).sample(sorted(pair for pair in pairs if pair[0] != pair[1]), PAIRS)


def read_pairs() -> list[Pair]:
    """The pairs asked, as lemmas."""
    return [(one, two) for one, two in json.loads(PAIRS_FILE.read_text(encoding="utf-8"))]


def locate(
    sentence: Sequence[str], one: str, two: str
) -> list[tuple[str, Sequence[str], Sequence[str], Sequence[str]]]:
    """Contexts of a pair in a sentence that an engine returned: order, left, between, right.

    Engines match any two positions; a context is two consecutive targets, so D contains neither word.
    """
    found = []
    before = -1
    for place, word in enumerate(sentence):
        if word not in (one, two):
            continue
        if before >= 0 and sentence[before] != word and place - before <= BETWEEN + 1:
            order = "+" if word == two else "-"
            left = sentence[max(0, before - SIDE) : before]
            found.append((order, left, sentence[before + 1 : place], sentence[place + 1 : place + 1 + SIDE]))
        before = place
    return found


def count_orders(contexts: Sequence[Sequence[Any]]) -> list[int]:
    """How many contexts have the first word first, and how many the second."""
    plus = sum(context[0] == "+" for context in contexts)
    return [plus, len(contexts) - plus]


def quickest(action: Callable[[], Answer]) -> tuple[Answer, float]:
    """What an action gives, and its seconds: of the fastest of three runs, unless it takes long."""
    best = float("inf")
    begun = time.perf_counter()
    for _ in range(ROUNDS):
        start = time.perf_counter()
        answer = action()
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() - begun > LONG:
            break
    return answer, best


def ask_within(
    pairs: Sequence[Pair], ask: Callable[[Pair], Answer], budget: float
) -> tuple[list[Answer], float]:
    """Ask for one pair after the other until the time is over; the answers, and seconds for all pairs at that rate."""
    ask(pairs[-1])

    def ask_some() -> list[Answer]:
        begun = time.perf_counter()
        answers = []
        for pair in pairs:
            answers.append(ask(pair))
            if time.perf_counter() - begun > budget:
                break
        return answers

    answers, seconds = quickest(ask_some)
    return answers, seconds * len(pairs) / len(answers)


def report(**facts: Any) -> None:
    """What a peer's process says, on its last line."""
    print(json.dumps(facts))
