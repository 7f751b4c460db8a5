"""A model of several labels, trained with and without background pairs: what `bagpack find --model` then finds.

Precision at 50 of each label over pairs of the set's own words, and the mean average precision of questions with one
word (`--w1`, `--w2`) over all words of the corpus. A correct pair that the set lacks counts as wrong. These sets are
for development; ConceptNet's test relations are not among them.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bagpack import BlockMatrix
from bagpack.contexts.candidates import find_candidates
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.find.background import MANIFEST, background_answer, draw_background
from bagpack.find.pool import Pool
from bagpack.find.ranking import find_pairs, rank_pool
from bagpack.find.vocabulary import corpus_vocabulary, listed_vocabulary
from bagpack.learn.fitting import SvmSettings, fit_counts
from bagpack.learn.held_out import calibrate
from bagpack.learn.model import LinearModel
from bagpack.learn.presets import get_preset
from bagpack.learn.targets import encode_targets
from bagpack.sources import as_source
from benchmarks.finding.material import MIN_COUNT, MIN_TOGETHER, SETS, Pair, store

CONCEPTNET = (
    "Causes", "HasA", "Desires", "HasPrerequisite", "HasSubevent", "ReceivesAction", "CausesDesire",
)  # fmt: skip
DIFFVEC = ("mero", "hyper", "event", "collective_noun")
ASKED = {"conceptnet": ("Causes", "HasA", "Desires"), "diffvec": DIFFVEC[:3]}
TRAINED, AT, BACKGROUND, MOST_PAIRS, QUESTIONS = 50, 50, 2_000, 100_000, 8


def main(sets: Sequence[str] = tuple(ASKED)) -> None:
    """Both measures for each label, without and with background pairs."""
    source = as_source(store())
    assert isinstance(source, CorpusSource)
    for name in sets:
        gold = gold_pairs(source, name)
        rng = np.random.default_rng(0)
        train = {
            label: [pairs[k] for k in rng.permutation(len(pairs))[: min(TRAINED, len(pairs) // 2)].tolist()]
            for label, pairs in gold.items()
        }
        basis = source.pick_basis(1500)
        models = {drawn: _model(source, basis, train, drawn) for drawn in (0, BACKGROUND)}
        pool = _pool(source, basis, [pair for label in ASKED[name] for pair in gold[label]])
        print(f"   {name}: {len(gold)} labels, {len(pool):,} candidates of its own words", flush=True)
        for label in ASKED[name]:
            shown = []
            for drawn, model in models.items():
                found = rank_pool(pool, model, label, top=AT)
                right = {*gold[label]} - {*train[label]}
                precision = sum((row.w1, row.w2) in right for row in found) / AT
                average, questions = _questions(source, model, label, right)
                shown.append(f"{drawn:,} background pairs: P@50 {precision:.2f}, MAP {average:.3f}")
            print(
                f"      {label} ({len(gold[label])} gold, {questions} questions): {'; '.join(shown)}",
                flush=True,
            )


def gold_pairs(source: CorpusSource, name: str) -> dict[str, list[Pair]]:
    """The pairs of each label whose words the corpus contains, under the corpus's names."""
    wanted = CONCEPTNET if name == "conceptnet" else DIFFVEC
    columns = ("relation", "word1", "word2") if name == "conceptnet" else ("label", "w1", "w2")
    written: dict[str, set[Pair]] = defaultdict(set)
    with open(SETS / name / "pairs.tsv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            label, one, two = (row[column] for column in columns)
            if label in wanted:
                written[label].add((one, two))
    words = sorted({word for pairs in written.values() for pair in pairs for word in pair})
    target = dict(zip(words, source.resolve(words), strict=True))
    content = set(corpus_vocabulary(source, 100_000).targets)
    return {
        label: sorted(
            {
                (str(target[a]), str(target[b]))
                for a, b in pairs
                if target[a] in content and target[b] in content and target[a] != target[b]
            }
        )
        for label, pairs in sorted(written.items())
    }


def _model(source: CorpusSource, basis: object, train: dict[str, list[Pair]], drawn: int) -> LinearModel:
    pairs = [pair for own in train.values() for pair in own]
    answers = [label for label, own in train.items() for _ in own]
    if drawn:
        background = draw_background(source, pairs, drawn, n_jobs=1)
        answers += [background_answer(answers)] * len(background)
        pairs += background
    matrix = BlockMatrix.count(source, pairs, basis, CountSettings(), 1)  # type: ignore[arg-type]
    preset = get_preset("modern")
    targets, svm = encode_targets(answers), SvmSettings(preset.C)
    model = fit_counts(matrix, targets, preset=preset, svm=svm)
    model = calibrate(model, matrix, targets, preset, svm)
    return replace(model, manifest={**model.manifest, MANIFEST: drawn})  # as in `bagpack train`


def _pool(source: CorpusSource, basis: object, gold: Sequence[Pair]) -> Pool:
    """Pairs of the words of gold pairs that co-occur: the gold ones, and others up to a number."""
    words = listed_vocabulary(source, sorted({word for pair in gold for word in pair}))
    found = find_candidates(
        source.corpus, words.targets, min_count=MIN_COUNT, min_together=MIN_TOGETHER, n_jobs=1
    )
    pairs = [(str(one), str(two)) for one, two in found.pairs()]
    wanted = {frozenset(pair) for pair in gold}
    rank = np.random.default_rng(0).permutation(len(pairs)).tolist()
    pairs = [p for p, k in zip(pairs, rank, strict=True) if k < MOST_PAIRS or frozenset(p) in wanted]
    matrix = BlockMatrix.count(source, pairs, basis, CountSettings(), 1)  # type: ignore[arg-type]
    return Pool(source, matrix, True, len(pairs))


def _questions(source: CorpusSource, model: LinearModel, label: str, gold: set[Pair]) -> tuple[float, int]:
    """Mean average precision of questions with one word that has at least four answers."""
    precisions = []
    for side in (0, 1):
        answers: dict[str, set[str]] = defaultdict(set)
        for pair in sorted(gold):
            answers[pair[side]].add(pair[1 - side])
        words = sorted(word for word, own in answers.items() if len(own) >= 4)
        for k in np.random.default_rng(0).permutation(len(words))[:QUESTIONS].tolist():
            asked = {"w1": words[k]} if side == 0 else {"w2": words[k]}
            found = find_pairs(
                source,
                model,
                label,
                **asked,
                top=20_000,
                per_word=None,
                sentences=False,
                n_jobs=1,  # type: ignore[arg-type]
            )
            hits = np.array([(row.w2 if side == 0 else row.w1) in answers[words[k]] for row in found])
            if hits.any():
                precisions.append((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())
    return float(np.mean(precisions)) if precisions else 0.0, len(precisions)


if __name__ == "__main__":
    main()
