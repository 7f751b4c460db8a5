"""The paper's four tasks, run as it ran them, with its numbers next to ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from bagpack.errors import InputError, UsageError
from bagpack.evaluate import relation_rounds
from bagpack.evaluate.schema import EvaluationResult, without_nan
from bagpack.experiments.counting import CountOptions, with_facts
from bagpack.experiments.evaluation import EvaluateOptions, evaluate_file, load_rows
from bagpack.experiments.questions import solve_file
from bagpack.parallel import Progress

TASKS = ("analogy", "synonyms", "plausibility", "relations")
RELATIONS_B = 500
RELATIONS_WANTED = 5

# Herdağdelen & Baroni (2009), fractions; conditions in the order v12, v1v2, v1v2v12.
PAPER: dict[str, dict[str, dict[str, tuple[float, float, float]]]] = {
    "analogy": {
        "paper, Yahoo": {"score": (0.425, 0.339, 0.441)},
        "paper, ukWaC": {"score": (0.380, 0.382, 0.396)},
    },
    "synonyms": {
        "paper, Yahoo": {"score": (0.800, 0.412, 0.750)},
        "paper, ukWaC": {"score": (0.338, 0.275, 0.425)},
    },
    "plausibility": {
        "paper, Yahoo": {"spearman_pooled": (0.60, 0.36, 0.55), "spearman": (0.45, 0.26, 0.42)},
        "paper, ukWaC": {"spearman_pooled": (0.58, 0.33, 0.60), "spearman": (0.48, 0.22, 0.52)},
    },
}
ORDER = ("v12", "v1v2", "v1v2v12")
RELATIONS_NOTE = "The paper's AUC, over its five relations: 97.6-99.0 % (Yahoo), 95.0-99.1 % (ukWaC)."


def references(task: str) -> list[dict[str, Any]]:
    """The paper's numbers as a report shows them."""
    return [
        {
            "name": name,
            "scores": {
                condition: {metric: values[place] for metric, values in metrics.items()}
                for place, condition in enumerate(ORDER)
            },
        }
        for name, metrics in PAPER.get(task, {}).items()
    ]


def reproduce(
    task: str, source: str, path: str, counting: CountOptions, *, preset: str = "paper", seed: int = 0,
    answers: str | None = None, relations: tuple[str, ...] = (), progress: Progress | None = None,
) -> EvaluationResult:  # fmt: skip
    """Run one of the paper's tasks on the user's copy of its data."""
    if task not in TASKS:
        raise UsageError(f"the paper has no task {task!r}; choose one of {', '.join(TASKS)}")
    if task in ("analogy", "synonyms"):
        result = dict(
            solve_file(source, path, counting, preset=preset, answers=answers, seed=seed, progress=progress)
        )
        expected = "analogies" if task == "analogy" else "synonyms"
        if result["kind"] != expected:
            raise InputError(f"{path} holds {result['kind']}, not {expected}; name the other task or file")
    elif task == "plausibility":
        options = EvaluateOptions(preset=preset, split="group:verb", seed=seed, task="ratings")
        result = dict(evaluate_file(source, path, None, counting, options, progress))
    else:
        result = _relations(source, path, counting, preset, seed, relations, progress)
    notes = list(cast(list[str], result.get("notes", [])))
    if task == "relations":
        notes.append(RELATIONS_NOTE)
    return cast(EvaluationResult, {**result, "references": references(task), "notes": notes})


def _relations(
    source: str, path: str, counting: CountOptions, preset: str, seed: int, wanted: tuple[str, ...],
    progress: Progress | None,
) -> dict[str, Any]:  # fmt: skip
    options = EvaluateOptions(preset=preset, task="relations")
    counting = replace(counting, b=RELATIONS_B if counting.b is None else counting.b)
    rows = load_rows(source, path, None, counting, options, progress)
    counts = rows.data.label_counts
    chosen = wanted or tuple(counts)[:RELATIONS_WANTED]
    found = relation_rounds(
        rows.matrix,
        rows.answers,
        chosen,
        preset=preset,
        seed=seed,
        C=options.cost,
        n_jobs=counting.n_jobs,
        progress=progress,
    ).to_dict()
    notes = list(found["notes"])
    if not wanted and len(counts) > RELATIONS_WANTED:
        notes.append(
            f"The data has {len(counts)} relations; the {RELATIONS_WANTED} most frequent were taken: "
            f"{', '.join(chosen)}."
        )
    described = with_facts({**found, "notes": notes}, rows.matrix, path, labels=counts)
    return cast(dict[str, Any], without_nan(described))
