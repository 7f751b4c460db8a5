"""What each switch of preset `modern` brings on a data set: one thing is changed at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bagpack.evaluate import cross_validate, question_rows, solve_analogies
from bagpack.evaluate.paired import (
    Outcome,
    Part,
    bootstrap_difference,
    bootstrap_score,
    ratings_part,
)
from bagpack.experiments.counting import CountOptions, counts_for, is_matrix, is_store, matrix_of
from bagpack.experiments.evaluation import EvaluateOptions, Rows, load_rows, progress_of, splits_of
from bagpack.learn.annex import GAPS
from bagpack.learn.presets import get_preset
from bagpack.parallel import Progress
from bagpack.tasks import QuestionSet, read_any
from bagpack.vectors.matrix import PairMatrix

CONDITION = "v1v2v12"


@dataclass(frozen=True)
class Variant:
    """One row of the table: what is changed, in words, and the preset that has it changed."""

    name: str
    preset: str
    b: int | None = None
    windows: str | None = None

    @property
    def needs_gaps(self) -> bool:
        """Whether a matrix must know how far apart its words stand, which older ones do not."""
        return GAPS in get_preset(self.preset).blocks_of(CONDITION)

    @property
    def recounts(self) -> bool:
        """Whether other pairs, or the same otherwise, must be counted."""
        return self.b is not None or self.windows is not None or bool(get_preset(self.preset).beside)


BASE = Variant("modern", "modern")
LEARNING = (
    BASE,
    Variant("paper", "paper"),
    Variant("words: log counts", "modern:weighting=log"),
    Variant("words: PPMI", "modern:weighting=ppmi"),
    Variant("words: LLR", "modern:weighting=llr"),
    Variant("words: plain counts", "modern:weighting=counts"),
    Variant("pairs: log counts", "modern:pairs=log"),
    Variant("pairs: PPMI", "modern:pairs=ppmi"),
    Variant("no unit length", "modern:unit=no"),
    Variant("no trust in n", "modern:trust=0"),
    Variant("trust with k = 10", "modern:trust=10"),
    Variant("v12 weighs half", "modern:v12=0.7"),
    Variant("v12 weighs double", "modern:v12=1.4"),
    Variant("no product", "modern:product=no"),
    Variant("no cosines", "modern:cosine=no"),
    Variant("no statistics", "modern:statistics=no"),
    Variant("with gaps", "modern:gaps=yes"),
    Variant("with minimum", "modern:minimum=yes"),
    Variant("with difference", "modern:difference=yes"),
    Variant("C = 10", "modern:cost=10"),
    Variant("C and v12 by inner folds", "modern:inner=yes"),
    Variant("swapped copies", "modern:swapped=yes"),
    Variant("neighbours of rare pairs", "modern:neighbours=20"),
    Variant("content words around", "modern:content=3000"),
    Variant("whole stretches between", "modern:whole=2000"),
)
COUNTING = (
    Variant("b = 500", "modern", b=500),
    Variant("b = 6000", "modern", b=6000),
    Variant("10 words around a word", "modern", windows="10/2-5-2"),
)
QUESTIONS = (
    BASE,
    Variant("paper", "paper"),
    Variant("two-point machines", "modern:cosines=no"),
    *(
        v
        for v in LEARNING
        if v.name.startswith(("words:", "pairs:", "no trust", "neighbours", "content", "whole"))
    ),
)


@dataclass(frozen=True)
class Line:
    """A variant's score, and what it has more than `modern`."""

    variant: Variant
    score: dict[str, Any]
    difference: dict[str, Any] | None


def ablate(
    source: str, path: str, counting: CountOptions, options: EvaluateOptions, *, counts_too: bool = False,
    progress: Progress | None = None,
) -> Iterator[Line]:  # fmt: skip
    """Score every variant on the data set at `path`, `modern` first; each line comes as soon as it is known."""
    data = read_any(path, options.task, options.columns)  # type: ignore[arg-type]
    questions = data if isinstance(data, QuestionSet) else None
    variants: Sequence[Variant] = QUESTIONS if questions is not None else LEARNING
    if not is_store(Path(source)):
        variants = [variant for variant in variants if not variant.recounts]
    if is_matrix(Path(source)) and PairMatrix.open(source).gaps is None:
        variants = [variant for variant in variants if not variant.needs_gaps]
    if counts_too and not is_matrix(Path(source)):
        variants = (*variants, *COUNTING)

    def answerer(variant: Variant) -> Callable[[Variant], Outcome]:
        asked = _counting(counting, variant)
        if questions is not None:
            answer = question_answerer(source, questions, asked, variant.preset, progress)
            return lambda variant: answer(variant.preset)
        rows = load_rows(source, path, None, asked, replace(options, preset=variant.preset), progress)
        return lambda variant: answer_rows(
            rows,
            replace(options, preset=variant.preset),
            counting.n_jobs,
            CONDITION,
            progress_of(variant.name, progress),
        )

    answer = answerer(BASE)
    base = answer(BASE)
    yield Line(BASE, bootstrap_score(base).to_dict(), None)
    for variant in variants[1:]:
        found = (answerer(variant) if variant.recounts else answer)(variant)
        yield Line(variant, bootstrap_score(found).to_dict(), bootstrap_difference(found, base).to_dict())


def _counting(counting: CountOptions, variant: Variant) -> CountOptions:
    from bagpack.contexts.windows import Windows

    if variant.b is not None:
        counting = replace(counting, b=variant.b, basis=None)
    if variant.windows is not None:
        counting = replace(
            counting, settings=replace(counting.settings, windows=Windows.parse(variant.windows))
        )
    return counting


def question_answerer(
    source: str, questions: QuestionSet, counting: CountOptions, preset: str = BASE.preset,
    progress: Progress | None = None,
) -> Callable[[str], Outcome]:  # fmt: skip
    """Analogies, counted once as a preset wants them, and answered by any that wants no more."""
    from bagpack.errors import UsageError

    if questions.kind != "analogies":
        raise UsageError(
            "bagpack ablate takes relations, ratings and analogies, and this file holds synonyms"
        )
    known = [question for question in questions if question.answer is not None]
    if len(known) < 2:
        raise UsageError("bagpack ablate compares scores, and needs at least two questions with an answer")
    pairs = [pair for question in known for pair in question.pairs]
    counts = counts_for(matrix_of(source, pairs, counting, progress), preset, counting, progress)
    rows = question_rows([(len(q.choices), q.answer) for q in known], "analogies")

    def answer(preset: str) -> Outcome:
        found = solve_analogies(counts, rows, (CONDITION,), preset, C=get_preset(preset).C)[CONDITION]
        guess = np.array([1 / len(question.choices) for question in rows])
        credit = np.where(found.complete, found.credit, guess)
        return Outcome(preset, (Part("credit", credit, credit),))

    return answer


def answer_rows(
    rows: Rows, options: EvaluateOptions, n_jobs: int | None, condition: str = CONDITION,
    progress: Progress | None = None,
) -> Outcome:  # fmt: skip
    """One condition's predictions in cross-validation; a data set of several tasks has a part for each."""
    by = rows.data.group_column if rows.data.kind == "relations" else None
    if by is None:
        parts = [_part(rows, options, n_jobs, condition, progress)]
    else:
        values = rows.data.column(by)
        parts = [
            _part(
                rows.select([i for i, value in enumerate(values) if value == name]),
                options,
                n_jobs,
                condition,
                progress,
            )
            for name in dict.fromkeys(values)
        ]
    return Outcome(options.preset, tuple(parts))


def _part(
    rows: Rows, options: EvaluateOptions, n_jobs: int | None, condition: str, progress: Progress | None
) -> Part:
    ratings = rows.data.kind == "ratings"
    found = cross_validate(
        rows.counts, rows.answers, splits_of(rows, options), (condition,), options.preset,
        kind="rating" if ratings else "labels", C=options.cost, epsilon=options.epsilon,
        transductive=options.transductive, baselines=False, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    tested = found.tested
    predicted = found[condition].predicted[tested]
    targets = rows.targets
    if ratings:
        return ratings_part(targets.ratings[tested], predicted)
    truth = targets.codes[tested]
    metric: Any = "f1" if tuple(targets.classes) == ("false", "true") else "f1_macro"
    return Part(metric, truth, predicted)
