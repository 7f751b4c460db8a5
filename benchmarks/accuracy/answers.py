"""One way of answering, on any set: a preset over counts, or dense vectors of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from bagpack import Corpus
from bagpack.evaluate.crossval import cross_validate
from bagpack.evaluate.questions import question_rows, solve_analogies
from bagpack.learn.features import Preset, get_preset
from bagpack.learn.fitting import fit_counts
from bagpack.learn.svm import SvmSettings, solve
from bagpack.learn.targets import decode, encode_targets
from bagpack.vectors.counts import PairCounts
from benchmarks.accuracy.paired import Outcome, Part, ratings_part
from benchmarks.accuracy.sets import Job, OpenSet, Pair

# Three examples against two hundred of other relations: with C = 1, the SVM would answer no to all.
RANKING_COST = 10.0


class Method(Protocol):
    """A way of answering."""

    name: str

    def job(self, job: Job) -> np.ndarray:
        """Predictions of all rows: ratings, or class numbers; NaN where a row is in no test part."""
        ...

    def rank(self, examples: Sequence[tuple[Pair, str]], relation: str, pairs: Sequence[Pair]) -> np.ndarray:
        """How well the pairs fit the relation."""
        ...

    def questions(self, questions: Sequence[Any]) -> np.ndarray:
        """Credit for each question."""
        ...


def answer(method: Method, asked: OpenSet) -> Outcome:
    """A method's answers to a set."""
    parts: list[Part] = []
    for job in asked.jobs:
        predicted = method.job(job)
        tested = ~np.isnan(predicted)
        if job.metric == "rho":
            parts.append(ratings_part(np.asarray(job.answers)[tested], predicted[tested], job.folds[tested]))
        else:
            codes = encode_targets(job.answers).codes
            parts.append(Part(job.metric, codes[tested], predicted[tested].astype(np.int64)))  # type: ignore[arg-type]
    for ranking in asked.rankings:
        values = method.rank(asked.examples, ranking.relation, ranking.pairs)
        parts.append(ratings_part(ranking.ratings, values))
    if asked.questions:
        credit = method.questions(asked.questions)
        parts.append(Part("credit", credit, credit))
    return Outcome(method.name, tuple(parts))


class PresetMethod:
    """A preset over a matrix that holds all pairs; analogies may have a matrix of their own."""

    def __init__(self, preset: str | Preset, matrix: PairCounts, analogies: PairCounts | None = None) -> None:
        self.preset = get_preset(preset)
        self.name = self.preset.name
        self.matrix = matrix
        self.for_analogies = matrix if analogies is None else analogies
        self.condition = "v1v2v12"
        self.cost = getattr(self.preset, "C", 1.0)  # a variant's own
        self._ranker: tuple[int, Any] | None = None

    def job(self, job: Job) -> np.ndarray:
        """Predictions in the job's folds."""
        found = cross_validate(
            self._counts(job.pairs), job.answers, job.splits, (self.condition,), self.preset,
            kind="rating" if job.metric == "rho" else "labels", svm=SvmSettings(self.cost), baselines=False,
        )  # fmt: skip
        return np.where(found.tested, found[self.condition].predicted, np.nan)

    def _counts(self, pairs: Sequence[Pair]) -> PairCounts:
        return self.matrix.rows_of(pairs)

    def rank(self, examples: Sequence[tuple[Pair, str]], relation: str, pairs: Sequence[Pair]) -> np.ndarray:
        """Decision values of the relation's svm."""
        if self._ranker is None or self._ranker[0] != id(examples):
            counts = self._counts([pair for pair, _ in examples])
            targets = encode_targets([name for _, name in examples])
            svm = SvmSettings(RANKING_COST)
            self._ranker = id(examples), fit_counts(counts, targets, self.condition, self.preset, svm)
        model = self._ranker[1]
        return model.scores_of(model.decisions(self.matrix.rows_of(pairs)))[:, model.classes.index(relation)]

    def questions(self, questions: Sequence[Any]) -> np.ndarray:
        """Credit for each question."""
        pairs = [p for stem, choices, _ in questions for p in (stem, *choices)]
        counts = self.for_analogies.rows_of(pairs)
        rows = question_rows([(len(choices), right) for _, choices, right in questions], "analogies")
        corpus = Corpus.open(counts.source_path)
        found = solve_analogies(counts, rows, (self.condition,), self.preset, corpus=corpus, C=self.cost)
        found = found[self.condition]
        guess = np.array([1 / len(choices) for _, choices, _ in questions])
        return np.where(found.complete, found.credit, guess)


class WordVectors:
    """Dense word vectors: concatenation, difference and product, each of unit length, and the same svm."""

    def __init__(self, name: str, vector: Callable[[str], np.ndarray], C: float) -> None:
        self.name = name
        self.vector = vector
        self.svm = SvmSettings(C)

    def _gram(self, one: Sequence[Pair], two: Sequence[Pair]) -> np.ndarray:
        total = np.zeros((len(one), len(two)))
        for first, second in zip(self._blocks(one), self._blocks(two), strict=True):
            total += first @ second.T
        return total

    def _blocks(self, pairs: Sequence[Pair]) -> list[np.ndarray]:
        first = np.stack([self.vector(a) for a, _ in pairs])
        second = np.stack([self.vector(b) for _, b in pairs])
        return [_unit(block) for block in (first, second, first - second, first * second)]

    def job(self, job: Job) -> np.ndarray:
        """Predictions in the job's folds."""
        ratings = job.metric == "rho"
        targets = encode_targets(job.answers, kind="rating" if ratings else "labels")
        gram = self._gram(job.pairs, job.pairs)
        predicted = np.full(len(job.pairs), np.nan)
        for split in job.splits:
            dual = solve(gram[np.ix_(split.train, split.train)], targets[split.train], self.svm)
            values = gram[np.ix_(split.test, split.train)] @ dual.coef + dual.intercept
            predicted[split.test] = values[:, 0] if ratings else decode(targets.kind, values)
        return predicted

    def rank(self, examples: Sequence[tuple[Pair, str]], relation: str, pairs: Sequence[Pair]) -> np.ndarray:
        """Decision values of the relation's svm."""
        known = [pair for pair, _ in examples]
        targets = encode_targets([name == relation for _, name in examples])
        dual = solve(self._gram(known, known), targets, SvmSettings(RANKING_COST))
        return (self._gram(pairs, known) @ dual.coef + dual.intercept)[:, 0]

    def questions(self, questions: Sequence[Any]) -> np.ndarray:
        """Credit for each question."""
        credit = []
        for stem, choices, right in questions:
            offsets = _unit(np.stack([self.vector(b) - self.vector(a) for a, b in (stem, *choices)]))
            values = offsets[1:] @ offsets[0]
            best = np.flatnonzero(values >= values.max() - 1e-12)
            credit.append(float(right in best) / len(best))
        return np.array(credit)


def _unit(rows: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def best_worst(outcomes: Outcome, seed: int = 0, draws: int = 200) -> float:
    """MaxDiff-style: of four pairs of a relation, how often the best and the worst are those that people chose."""
    rng = np.random.default_rng(seed)
    right = asked = 0
    for part in outcomes.parts:
        for _ in range(draws):
            rows = rng.choice(len(part.truth), 4, replace=False)
            gold, ours = part.truth[rows], part.predicted[rows]
            for extreme in (np.max, np.min):
                wanted = np.flatnonzero(gold == extreme(gold))
                if len(wanted) == 1:
                    asked += 1
                    right += int(ours[wanted[0]] == extreme(ours))
    return right / asked
