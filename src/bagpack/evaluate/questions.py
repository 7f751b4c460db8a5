"""Multiple choice: analogies and synonyms as the paper ran them, and how answers are scored.

A question one of whose pairs has an all-zero vector in the condition at hand counts as a random guess, 1/choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bagpack.errors import InputError
from bagpack.evaluate.crossval import CONDITIONS, check_found, cross_validate
from bagpack.evaluate.result import Condition, Evaluation, Score, interval
from bagpack.evaluate.splits import folds_of
from bagpack.learn.features import Preset, get_preset, used_words, weigh, weighted_pairs
from bagpack.learn.fitting import WHOLE, condition_features, condition_grams
from bagpack.learn.svm import SvmSettings, row_gram
from bagpack.names import blocks_of
from bagpack.parallel import progress
from bagpack.vectors.counts import PairCounts
from bagpack.vectors.words import wide_rows

if TYPE_CHECKING:
    from bagpack.arrays import Csr, Floats, Ints
    from bagpack.corpus.corpus import Corpus

    Answers = list[Ints]  # of each question, the best choices

DIFFERENCE, WIDE = "v1−v2", "wide v1−v2"
WEIGHTS = {"v1": 0.5, "v2": 0.5, DIFFERENCE: 1.0, WIDE: 1.0, "v12": 2.0}
WORDS = ("v1", "v2", DIFFERENCE, WIDE)
BLOCKS_OF = {"v1v2": WORDS, "v12": ("v12",), "v1v2v12": (*WORDS, "v12")}
COSINE_OF_SYNONYMS = 32.0  # so that the SVM decides where cosines are nearly equal: docs/research-notes.md


class QuestionRows(NamedTuple):
    """Rows of a question's pairs in the counts: the choices', and the stem's (analogies)."""

    choices: tuple[int, ...]
    answer: int
    stem: int | None = None


def question_rows(shapes: Sequence[tuple[int, int]], kind: str) -> list[QuestionRows]:
    """Rows of questions that follow each other, from (number of choices, answer) of each."""
    out, at = [], 0
    for choices, answer in shapes:
        stem = at if kind == "analogies" else None
        at += stem is not None
        out.append(QuestionRows(tuple(range(at, at + choices)), answer, stem))
        at += choices
    return out


def solve_analogies(
    counts: PairCounts, questions: Sequence[QuestionRows], conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern", *, corpus: Corpus | None = None, rounds: int = 10, seed: int = 0, C: float = 1.0,
) -> Evaluation:  # fmt: skip
    """Answer analogy questions: by the sum of centred cosines with the stem (`modern`), or as the paper did.

    With ``corpus``, `modern` counts wide vectors of the words in it. As the paper did, each question is its own data
    set: the stem is the positive row, and each round takes the stem of another question as the negative one. The choice
    of the highest decision value wins the round, most wins the question. Weighting and scaling are fitted on all rows:
    a round trains on two.
    """
    progress()("features", 0, 0)
    preset = get_preset(preset)
    stems = [question.stem for question in questions if question.stem is not None]
    if not stems or len(stems) < len(questions):
        raise InputError("there is no analogy question, or one has no stem; give each a pair")
    check_found(counts)
    settings: dict[str, Any] = {"preset": preset.name, "transductive": True}
    answered: dict[str, Answers] = {}
    if not preset.learns:
        note = "Answered by cosines around the centre of all pairs (transductive); nothing was trained."
        wide = None if corpus is None else wide_rows(corpus, counts.targets)
        for name, total in analogy_scores(counts, conditions, wide).items():
            both = zip(stems, questions, strict=True)
            answered[name] = [best_choices(total[stem, list(own.choices)]) for stem, own in both]
    else:
        note = "Weighting and scaling were fitted on all rows (transductive)."
        negatives = _draw_negatives(stems, rounds, seed)
        settings |= {"rounds": len(negatives[0]), "seed": seed, "C": C}
        features = condition_features(counts, conditions, preset, preset.learn(counts, WHOLE))
        grams = condition_grams(features, conditions)
        for name, gram in grams.items():
            answered[name] = [
                elect(np.array([two_point_decisions(gram, stem, k, question.choices, C) for k in drawn]))
                for stem, drawn, question in zip(stems, negatives, questions, strict=True)
            ]
    return _scored("analogies", counts, questions, answered, settings, note)


def _draw_negatives(stems: Sequence[int], rounds: int, seed: int) -> list[list[int]]:
    """For each question the stems of others, drawn without repetition, one per round."""
    rng, others = np.random.default_rng(seed), len(stems) - 1
    if others < 1 or rounds < 1:
        raise InputError("at least two analogies and one round are needed for negatives; use --preset modern")
    drawn = [rng.choice(others, size=min(rounds, others), replace=False) for _ in stems]
    return [[stems[k + (k >= i)] for k in own] for i, own in enumerate(drawn)]


def two_point_decisions(gram: Floats, positive: int, negative: int, rows: Sequence[int], C: float) -> Floats:
    """Decision values of ``rows`` under the SVM of one positive and one negative row, in closed form.

    The stem is the positive row, that of another question the negative one. w = α (x⁺ − x⁻) with
    α = min(C, 2/‖x⁺ − x⁻‖²), and the bias puts 0 half-way between the two.
    """
    square = gram[positive, positive] + gram[negative, negative] - 2 * gram[positive, negative]
    alpha = C if square * C <= 2 else 2 / square
    bias = (gram[positive, positive] - gram[negative, negative]) / 2
    at = list(rows)
    return np.asarray(alpha * (gram[positive, at] - gram[negative, at] - bias))


def elect(values: Floats) -> Ints:
    """The choices with most rounds won (a tied round is shared), ties by summed value."""
    wins = np.zeros(values.shape[1])
    for row in values:
        best = best_choices(row)
        wins[best] += 1 / len(best)
    most = best_choices(wins)
    return most[best_choices(values.sum(axis=0)[most])]


def analogy_scores(
    counts: PairCounts, conditions: Sequence[str], wide: Csr | None = None
) -> dict[str, Floats]:
    """For each condition, the sum of the blocks' centred cosines of every two pairs.

    Two pairs have the same relation if they differ from other pairs in the same way. So the mean over all pairs is
    subtracted from each row, and the cosines with the stem's row are added up over the blocks: v12 with twice the
    weight, the difference of v1 and v2, that of the words' wide vectors (`wide_rows`, if they are given), and, with
    half the weight, v1 and v2 themselves. Nothing is trained.
    """
    blocks = block_rows(counts, wide)
    used = {own: [name for name in BLOCKS_OF[own] if name in blocks] for own in conditions}
    names = {name for own in used.values() for name in own}
    cosines = {name: WEIGHTS[name] * centred_cosines(blocks[name]) for name in names}
    return {own: np.sum([cosines[name] for name in used[own]], axis=0) for own in conditions}


def block_rows(counts: PairCounts, wide: Csr | None = None) -> dict[str, Csr]:
    """φ(v1), φ(v2), unit(φ(v1) − φ(v2)), n/(n+1) · φ(v12) and the difference of wide vectors, a row for each pair."""
    from sklearn.preprocessing import normalize

    words, w1, w2 = used_words(counts)
    weighted = weigh(words, counts.basis)
    one, two = weighted[w1], weighted[w2]
    blocks = {"v1": one, "v2": two, DIFFERENCE: normalize(one - two), "v12": weighted_pairs(counts)}
    if wide is not None:
        blocks[WIDE] = normalize(wide[counts.rows[:, 0]] - wide[counts.rows[:, 1]])
    return blocks


def centred_cosines(rows: Csr) -> Floats:
    """Cosine of every two rows after the mean of all rows was subtracted; 0 for all-zero rows."""
    gram = row_gram(rows)
    filled = np.diag(gram) > 0
    mean = gram.mean(axis=1)
    gram = gram - mean[:, None] - mean[None, :] + float(mean.mean())
    lengths = np.sqrt(np.maximum(np.diag(gram), 1e-12))
    return np.where(filled[:, None] & filled[None, :], gram / lengths[:, None] / lengths[None, :], 0.0)


def solve_synonyms(
    counts: PairCounts, questions: Sequence[QuestionRows], conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern", *, corpus: Corpus | None = None, folds: int = 10, seed: int = 0, C: float = 1.0,
    transductive: bool = False,
) -> Evaluation:  # fmt: skip
    """Answer synonym questions with one binary classifier over all (word, candidate) pairs.

    Right candidates are the positive pairs, the others the negative ones; a question's pairs are in one fold,
    and the candidate of the highest decision value is the answer. The score is the mean over folds. With ``corpus``,
    `modern` adds the centred cosine of the two words' wide vectors wherever a condition has the words.
    """
    if len(questions) < folds:
        few = f"there are {len(questions)} synonym questions, fewer than the {folds} folds"
        raise InputError(f"{few}; add some, or take fewer --folds (at least 2)")
    rows, sizes = np.concatenate([own.choices for own in questions]), [len(own.choices) for own in questions]
    y = np.concatenate([np.arange(len(own.choices)) == own.answer for own in questions])
    fold_of = np.arange(len(questions)) % folds
    np.random.default_rng(seed).shuffle(fold_of)
    splits = folds_of(np.repeat(fold_of, sizes), range(1, folds + 1))
    how: dict[str, Any] = {"svm": SvmSettings(C), "transductive": transductive}
    found = cross_validate(counts[rows], y, splits, conditions, preset, **how)
    cosines = np.zeros(len(rows))
    if corpus is not None and not get_preset(preset).learns:
        words = wide_rows(corpus, counts.targets)
        cosines = COSINE_OF_SYNONYMS * word_cosines(words, *counts.rows[rows].T)
    answered: dict[str, Answers] = {}
    for name in (*conditions, "words-only"):
        values = found[name].decisions[:, 0] + (cosines if "v1" in BLOCKS_OF.get(name, ()) else 0)
        answered[name] = [best_choices(own) for own in np.split(values, np.cumsum(sizes)[:-1])]
    members = [np.flatnonzero(fold_of == k) for k in range(folds)]
    settings = {**found.settings, "folds": folds, "seed": seed}
    return _scored("synonyms", counts, questions, answered, settings, found.notes[0], members)


def word_cosines(words: Csr, first: Ints, second: Ints) -> Floats:
    """Cosines of rows of unit length after their mean was subtracted; 0 for all-zero rows."""
    mean = np.asarray(words.mean(axis=0)).ravel()
    toward, square = words @ mean, float(mean @ mean)
    lengths = np.sqrt(np.maximum(1 - 2 * toward + square, 1e-12))
    dots = (
        np.asarray(words[first].multiply(words[second]).sum(axis=1)) - toward[first] - toward[second] + square
    )
    filled = np.diff(words.indptr) > 0
    return np.where(filled[first] & filled[second], dots / lengths[first] / lengths[second], 0.0)


def best_choices(values: Floats) -> Ints:
    """The choices of the highest value; those a rounding error below it count as equal."""
    slack = 1e-10 * max(1.0, float(np.abs(values).max()))
    return np.flatnonzero(values >= values.max() - slack)


def _scored(
    kind: str, counts: PairCounts, questions: Sequence[QuestionRows], answered: dict[str, Answers],
    settings: dict[str, Any], note: str, folds: Sequence[Ints] | None = None,
) -> Evaluation:  # fmt: skip
    """The scores of each condition, means over folds where there are any, else over questions."""

    def mean(values: Floats, folds: Sequence[Ints] | None = folds) -> Score:
        if folds is None:
            return replace(interval(values.tolist(), "accuracy"), folds=())
        return interval([float(values[fold].mean()) for fold in folds], "accuracy")

    guess = np.array([1 / len(question.choices) for question in questions])
    rows = [[*own.choices, *([] if own.stem is None else [own.stem])] for own in questions]
    results = []
    for name, picks in answered.items():
        credit = np.array([(q.answer in own) / len(own) for q, own in zip(questions, picks, strict=True)])
        complete = np.ones(len(questions), dtype=bool)
        if name != "words-only":
            zero = counts.zero_rows(blocks_of(name))
            complete = np.array([not zero[own].any() for own in rows])
        metrics = {
            "score": mean(np.where(complete, credit, guess)),
            "coverage": Score(float(complete.mean())),
            "complete_accuracy": mean(credit[complete], None),
            "accuracy": mean(credit),
        }
        picked = np.array([own[0] for own in picks])
        results.append(Condition(name, metrics, picked=picked, credit=credit, complete=complete))
    conditions = [result for result in results if result.name != "words-only"]
    random = Condition("random", {"score": Score(float(guess.mean()))})
    return Evaluation(
        kind=kind, main_metric="score", conditions=conditions, settings=settings, notes=[note],
        baselines=[random, *results[len(conditions) :]],
    )  # fmt: skip
