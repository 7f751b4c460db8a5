"""Contexts of a thousand pairs: `python -m benchmarks.peers.contexts PEER`.

Every peer says how many contexts each pair has per order (`answers`), which must be ours, and reports `found` (seconds
to count hits) and `delivered` (seconds to have every window's words). Engines that stop early are scaled up by pairs;
what reads text, by tokens. One core.
"""

from __future__ import annotations

import itertools
import os
import sys
import time

from benchmarks.peers.indexing import PLACES, tantivy_schema
from benchmarks.peers.material import (
    BETWEEN,
    SENTENCES,
    STORE,
    B,
    ask_within,
    count_orders,
    locate,
    quickest,
    read_pairs,
    report,
)

BUDGET = 20.0  # seconds for each of found and delivered
SPACY_TOKENS = 60_000


def lines_of_all(corpus, pairs):
    """Every line of the concordance of each of many pairs, which are found together."""
    import numpy as np

    from bagpack.contexts.concordance import show_all
    from bagpack.contexts.count import divide_pairs, search_pairs
    from bagpack.contexts.targets import resolve_targets
    from bagpack.contexts.windows import CountSettings, Windows

    words = list(dict.fromkeys(word for pair in pairs for word in pair))
    target_of = dict(zip(words, resolve_targets(corpus, words), strict=True))
    lines = [[] for _ in pairs]
    targets = [(target_of[w1], target_of[w2]) for w1, w2 in pairs]
    for numbers, task in divide_pairs(corpus, targets, CountSettings(limit=None)):
        for own, counts in search_pairs(task)[0]:
            texts = show_all(corpus, own, [np.repeat(side, counts) for side in task.lengths], Windows())
            ends = np.cumsum(counts)
            for k in np.flatnonzero(counts).tolist():
                lines[numbers[k]] += texts[ends[k] - counts[k] : ends[k]]
    return lines


def ours() -> None:
    """Found: v12 of all pairs, counted. Delivered: every line of the concordance, as written."""
    from bagpack import Basis, Corpus
    from bagpack.contexts import count as counting
    from bagpack.contexts.targets import Target
    from bagpack.contexts.windows import CountSettings

    corpus = Corpus.open(STORE)
    pairs = read_pairs()
    targets = [(Target((one,)), Target((two,))) for one, two in pairs]
    basis = Basis.of(corpus, B)
    settings = CountSettings(limit=None)
    counting.count_pairs(corpus, targets[:10], basis, settings)
    (_, counted), found = quickest(lambda: counting.count_pairs(corpus, targets, basis, settings))
    lines_of_all(corpus, pairs[:10])
    lines, delivered = quickest(lambda: lines_of_all(corpus, pairs))
    answers = [[sum(line.order == order for line in each) for order in "+-"] for each in lines]
    assert answers == counted[:, :2].tolist()
    report(found=found, delivered=delivered, answers=answers)


def tantivy() -> None:
    """Twelve phrases with offsets a pair: each gap, each order."""
    import tantivy

    schema = tantivy_schema()
    searcher = tantivy.Index(schema, path=str(PLACES["tantivy"])).searcher()

    def phrases(pair):
        for first, second in (pair, pair[::-1]):
            for gap in range(1, BETWEEN + 2):
                yield tantivy.Query.phrase_query(schema, "body", [(0, first), (gap, second)])

    def hits(pair):
        return sum(searcher.search(query, 1, count=True).count for query in phrases(pair))

    def read(pair):
        addresses = {}
        for query in phrases(pair):
            for _, address in searcher.search(query, 10_000).hits:
                addresses[address.segment_ord, address.doc] = address
        bodies = (searcher.doc(address)["body"][0] for address in addresses.values())
        return _relocate(bodies, pair)

    _both(hits, read)


def sqlite() -> None:
    """NEAR("one" "two", 5): either order, at most five tokens between."""
    import sqlite3

    base = sqlite3.connect(PLACES["sqlite"])

    def near(pair):
        one, two = (word.replace('"', '""') for word in pair)
        return (f'NEAR("{one}" "{two}", {BETWEEN})',)

    def hits(pair):
        return base.execute("SELECT count(*) FROM sentences WHERE sentences MATCH ?", near(pair)).fetchone()[
            0
        ]

    def read(pair):
        rows = base.execute("SELECT body FROM sentences WHERE sentences MATCH ?", near(pair))
        return _relocate((row[0] for row in rows), pair)

    _both(hits, read)


def duckdb() -> None:
    """One join of the postings with themselves for all pairs at once."""
    import duckdb

    base = duckdb.connect(str(PLACES["duckdb"]), read_only=True, config={"threads": 1, "memory_limit": "2GB"})
    pairs = read_pairs()
    base.execute("CREATE TEMP TABLE asked (pair INTEGER, one VARCHAR, two VARCHAR)")
    rows = ", ".join(["(?, ?, ?)"] * len(pairs))
    values = [value for number, pair in enumerate(pairs) for value in (number, *pair)]
    base.execute(f"INSERT INTO asked VALUES {rows}", values)
    near = f"""FROM asked JOIN postings a ON a.lemma = one JOIN postings b ON b.lemma = two
        AND b.sentence = a.sentence AND abs(b.place - a.place) BETWEEN 1 AND {BETWEEN + 1}"""
    hits = f"SELECT DISTINCT pair, a.sentence {near}"

    def read():
        bodies: list[list[str]] = [[] for _ in pairs]
        for number, line in base.execute(
            f"SELECT pair, line FROM ({hits}) JOIN sentences USING (sentence)"
        ).fetchall():
            bodies[number].append(line)
        return [count_orders(_relocate(each, pair)) for each, pair in zip(bodies, pairs, strict=True)]

    _, found = quickest(lambda: base.execute(f"SELECT pair, count(*) {near} GROUP BY pair").fetchall())
    answers, delivered = quickest(read)
    report(found=found, delivered=delivered, answers=answers)


def scan() -> None:
    """One pass over the text in plain Python, all pairs at once."""
    pairs = read_pairs()
    begun = time.perf_counter()
    answers = _scan(SENTENCES.open(encoding="utf-8"), pairs)
    report(delivered=time.perf_counter() - begun, answers=[count_orders(each) for each in answers])


def spacy() -> None:
    """Matcher with two patterns a pair over ready-made documents of a sample; checked against the scan of it."""
    import spacy
    from spacy.matcher import Matcher
    from spacy.tokens import Doc

    pairs = read_pairs()
    lines, tokens = [], 0
    with open(SENTENCES, encoding="utf-8") as file:
        for line in file:
            lines.append(line)
            tokens += line.count(" ") + 1
            if tokens >= SPACY_TOKENS:
                break
    nlp = spacy.blank("en")
    docs = [Doc(nlp.vocab, words=line.split()) for line in lines]
    matcher = Matcher(nlp.vocab)
    for number, (one, two) in enumerate(pairs):
        gap = {"ORTH": {"NOT_IN": [one, two]}, "OP": f"{{0,{BETWEEN}}}"}
        matcher.add(f"{number} +", [[{"ORTH": one}, gap, {"ORTH": two}]])
        matcher.add(f"{number} -", [[{"ORTH": two}, gap, {"ORTH": one}]])
    counts = [[0, 0] for _ in pairs]
    begun = time.perf_counter()
    for doc in docs:
        for name, start, end in matcher(doc):
            number, order = nlp.vocab.strings[name].split()
            counts[int(number)][order == "-"] += 1
            _ = doc[max(0, start - 2) : end + 2]
    seconds = time.perf_counter() - begun
    assert counts == [count_orders(each) for each in _scan(lines, pairs)], "spaCy found other contexts"
    report(delivered=seconds, tokens=tokens, answers=[])


def _scan(lines, pairs):
    partners: dict[str, dict[str, int]] = {}
    for number, (one, two) in enumerate(pairs):
        partners.setdefault(one, {})[two] = number
        partners.setdefault(two, {})[one] = number
    found: list[list] = [[] for _ in pairs]
    for line in lines:
        sentence = line.split()
        places = [place for place, word in enumerate(sentence) if word in partners]
        for at, place in enumerate(places):
            word = sentence[place]
            asked = partners[word]
            hits = set()
            for other in places[at + 1 :]:
                if other - place > BETWEEN + 1:
                    break
                second = sentence[other]
                if second in asked and second not in hits:
                    number = asked[second]
                    order = "+" if pairs[number][0] == word else "-"
                    left, right = sentence[max(0, place - 2) : place], sentence[other + 1 : other + 3]
                    found[number].append((order, left, sentence[place + 1 : other], right))
                if second == word:
                    break
                hits.add(second)
    return found


def _relocate(bodies, pair):
    return list(itertools.chain.from_iterable(locate(body.split(" "), *pair) for body in bodies))


def _both(hits, read) -> None:
    """Count hits, then deliver windows, within the budget."""
    pairs = read_pairs()
    _, found = ask_within(pairs, hits, BUDGET)
    windows, delivered = ask_within(pairs, read, BUDGET)
    report(found=found, delivered=delivered, answers=[count_orders(each) for each in windows])


if __name__ == "__main__":
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    named = (ours, tantivy, sqlite, duckdb, scan, spacy)
    {each.__name__: each for each in named}[sys.argv[1]]()
