"""Precision at 30 of `find` for ten relations from twelve examples each, all words of the corpus as candidates.

`relations.tsv` has the examples: five relations for development, five that are read at the end. `judgements.tsv` has
the answers that were judged by hand (docs/finding.md says by whom and how). Answers without a judgement are written to
`unjudged.tsv` in the benchmark's data, in alphabetical order and without the system that gave them.

    BAGPACK_BENCH_STORE=STORE python -m benchmarks.finding.precision [development|test]
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from bagpack import Corpus
from bagpack.find.candidates import Pool, collect_pool
from bagpack.find.examples import Examples
from bagpack.find.options import FindOptions
from bagpack.find.ranking import find_pairs
from bagpack.find.slots import Places
from bagpack.find.training import train_on_examples
from bagpack.learn.features import weigh
from benchmarks.finding.material import Pair, store
from benchmarks.measure import DATA

HERE = Path(__file__).parent
AT, PER_WORD = 30, 5


def main(part: str = "development") -> None:
    """A line per relation and system, and the means."""
    corpus = store()
    judged = read_judgements()
    unjudged: set[tuple[str, ...]] = set()
    means: dict[str, list[float]] = defaultdict(list)
    for relation, examples in read_relations(part).items():
        shown = []
        for name, answers in systems(corpus, relation, examples).items():
            right = [judged.get((relation, *pair)) for pair in answers]
            unjudged |= {
                (relation, *pair) for pair, known in zip(answers, right, strict=True) if known is None
            }
            means[name].append(right.count(True) / AT)
            shown.append(f"{name} {right.count(True) / AT:.2f} ({right.count(None)} not judged)")
            if name == "find":
                words = {word for pair in examples for word in pair}
                new = np.mean([not words.issuperset(pair) for pair in answers])
                shown[-1] += f", {new:.2f} with a new word"
        print(f"   {relation}: {'; '.join(shown)}", flush=True)
    for name, values in means.items():
        print(f"   mean of {len(values)}: {name} {np.mean(values):.3f}", flush=True)
    write_unjudged(unjudged)


def write_unjudged(answers: set[tuple[str, ...]]) -> None:
    """Write answers without a judgement for somebody to judge."""
    if answers:
        DATA.mkdir(exist_ok=True)
        path = DATA / "unjudged.tsv"
        path.write_text("".join("\t".join(row) + "\n" for row in sorted(answers)), encoding="utf-8")
        print(f"   {len(answers)} answers without a judgement: {path}", flush=True)


def read_relations(part: str) -> dict[str, list[Pair]]:
    """The examples of the relations of one part."""
    found: dict[str, list[Pair]] = {}
    with open(HERE / "relations.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["part"] == part:
                found.setdefault(row["relation"], []).append((row["w1"], row["w2"]))
    return found


def read_judgements() -> dict[tuple[str, str, str], bool]:
    """Whether a pair is in a relation."""
    with open(HERE / "judgements.tsv", encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return {(row["relation"], row["w1"], row["w2"]): row["right"] == "yes" for row in rows}


def systems(corpus: Corpus, relation: str, examples: Sequence[Pair]) -> dict[str, list[Pair]]:
    """The first answers of each system; the others rank the candidates that find's first pass keeps."""
    trained = train_on_examples(corpus, Examples(relation, tuple(examples)))
    options = FindOptions()
    places = Places.of(corpus, trained, options)
    pool = collect_pool(corpus, trained.model, relation, options, places)
    alone = pool.scored(trained.model, relation, None)
    both = [*pool.counts.pairs, *((two, one) for one, two in pool.counts.pairs)]
    found = find_pairs(corpus, trained, top=AT, per_word=PER_WORD, sentences=False)
    return {
        "find": [(row.w1, row.w2) for row in found],
        "model alone": listed(alone.counts.pairs, examples, alone.value),
        "association": listed(both, examples, association(pool)),
        "Snowball": listed(both, examples, snowball(pool, examples)),
        "offsets of word vectors": listed(both, examples, offsets(pool, examples, places)),
    }


def listed(pairs: Sequence[Pair], examples: Sequence[Pair], values: np.ndarray) -> list[Pair]:
    """The first pairs that are no examples, in their better order, few with the same word in a place."""
    known = {frozenset(pair) for pair in examples}
    used: tuple[dict[str, int], dict[str, int]] = ({}, {})
    answers: list[Pair] = []
    for k in np.argsort(-values, kind="stable").tolist():
        if len(answers) == AT:
            break
        pair = pairs[k]
        if frozenset(pair) in known or any(n.get(w, 0) >= PER_WORD for w, n in zip(pair, used, strict=True)):
            continue
        known.add(frozenset(pair))
        for word, counts in zip(pair, used, strict=True):
            counts[word] = counts.get(word, 0) + 1
        answers.append(pair)
    return answers


def association(pool: Pool) -> np.ndarray:
    """PMI of the words times the logarithm of how often they co-occur; the more frequent order first."""
    n1, n2, plus, minus, together = pool.counts.totals.astype(float).T
    strength = np.log(together * sum(pool.counts.basis.unigram_counts) / (n1 * n2)) * np.log1p(together)
    return np.concatenate([strength + (plus >= minus) * 1e-6, strength + (plus < minus) * 1e-6])


def offsets(pool: Pool, examples: Sequence[Pair], places: Places) -> np.ndarray:
    """3CosAdd with the mean offset of the examples over the corpus's own word vectors."""
    rows = places.vectors.vectors([target for target in pool.counts.targets if target is not None])
    yes = [places.vectors.vectors([pair[k] for pair in places.positives]) for k in (0, 1)]
    moved = rows + (yes[1] - yes[0]).mean(axis=0)
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    one, two = pool.counts.rows.T
    return np.concatenate([(moved[a] * rows[b]).sum(axis=1) for a, b in ((one, two), (two, one))])


def snowball(pool: Pool, examples: Sequence[Pair], rounds: int = 4, added: int = 10) -> np.ndarray:
    """Snowball (Agichtein and Gravano 2000) over v12 vectors: patterns from pairs, pairs from patterns, by confidence.

    A pattern is the v12 vector of a known pair; its confidence is the share of the matches with a known first word
    that are known pairs. A pair's is 1 − Π (1 − confidence · similarity) over the patterns that match it.
    """
    counts = pool.counts
    rows = weigh(counts.tocsr("v12"), counts.basis)
    half = rows.shape[1] // 2
    rows = sparse.csr_array(
        sparse.vstack([rows, sparse.hstack([rows[:, half:], rows[:, :half]], format="csr")])
    )
    pairs = [*counts.pairs, *((two, one) for one, two in counts.pairs)]
    number = {pair: k for k, pair in enumerate(pairs)}
    known = {pair for pair in examples if pair in number}
    scores = np.zeros(len(pairs))
    for _ in range(rounds if known else 0):
        patterns = rows[[number[pair] for pair in sorted(known)]]
        similar = sparse.csr_array(rows @ patterns.T)
        similar.data[similar.data < 0.2] = 0
        similar.eliminate_zeros()
        firsts = {one for one, _ in known}
        is_known = np.array([pair in known for pair in pairs], float)
        rival = np.array([pair[0] in firsts and pair not in known for pair in pairs], float)
        matched = (similar > 0).astype(np.float64)
        right, wrong = matched.T @ is_known, matched.T @ rival
        weighted = sparse.csr_array(similar.multiply((right / np.maximum(right + wrong, 1))[None, :]))
        weighted.data = np.log1p(-np.minimum(weighted.data, 0.999))
        scores = 1 - np.exp(np.asarray(weighted.sum(axis=1)).ravel())
        both = known | {pair[::-1] for pair in known}
        best = np.argsort(-scores, kind="stable")[: len(both) + added].tolist()
        known |= set([pairs[k] for k in best if pairs[k] not in both][:added])
    return scores


if __name__ == "__main__":
    main(*sys.argv[1:2])
