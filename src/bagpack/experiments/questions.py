"""Multiple-choice questions: analogies and synonyms."""

from __future__ import annotations

from typing import Any, cast

from bagpack.evaluate import question_rows, solve_analogies, solve_synonyms
from bagpack.evaluate.crossval import CONDITIONS
from bagpack.evaluate.schema import EvaluationResult, without_nan
from bagpack.experiments.counting import CountOptions, matrix_of, with_facts
from bagpack.learn.presets import get_preset
from bagpack.parallel import Progress
from bagpack.tasks import read_questions


def solve_file(
    source: str, path: str, counting: CountOptions, *, preset: str = "modern",
    conditions: tuple[str, ...] = CONDITIONS, answers: str | None = None, rounds: int = 10, folds: int = 10,
    seed: int = 0, transductive: bool | None = None, progress: Progress | None = None,
) -> EvaluationResult:  # fmt: skip
    """Answer the questions of a file as the paper did; `transductive` None takes the task's default."""
    questions = read_questions(path, answers)
    pairs = [pair for question in questions for pair in question.pairs]
    matrix = matrix_of(source, pairs, counting, progress)
    rows = question_rows([(len(q.choices), q.answer) for q in questions], questions.kind)
    common: dict[str, Any] = {"seed": seed, "n_jobs": counting.n_jobs, "C": get_preset(preset).C}
    common["progress"] = progress
    if questions.kind == "analogies":
        fit_on_all = True if transductive is None else transductive
        found = solve_analogies(
            matrix, rows, conditions, preset, rounds=rounds, transductive=fit_on_all, **common
        )
    else:
        found = solve_synonyms(
            matrix, rows, conditions, preset, folds=folds, transductive=bool(transductive), **common
        )
    result = found.to_dict()
    for entry, question in zip(result["answers"], questions, strict=True):
        entry["id"] = question.id or f"line {question.line}"
        entry["stem"] = question.stem
        entry["choices"] = list(question.choices)
    return cast(EvaluationResult, without_nan(with_facts(result, matrix, path, questions=len(questions))))
