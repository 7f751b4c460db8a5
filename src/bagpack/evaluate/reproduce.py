"""The paper's four tasks, run as it ran them, with its numbers next to ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack.errors import InputError
from bagpack.evaluate.crossval import CONDITIONS, cross_validate, zero_note
from bagpack.evaluate.result import Condition, Evaluation, Score, interval
from bagpack.evaluate.run import EvaluateOptions, evaluate_file, load_rows, with_facts
from bagpack.evaluate.splits import Split, random_splits, same_pairs
from bagpack.learn.features import Preset
from bagpack.learn.svm import SvmSettings
from bagpack.learn.targets import encode_targets
from bagpack.names import blocks_of
from bagpack.numbers import many
from bagpack.tasks.files import read_text_file
from bagpack.tasks.questions import read_any
from bagpack.vectors.counts import PairCounts

if TYPE_CHECKING:
    from bagpack.arrays import Bools, Index

KINDS = {"analogy": "analogies", "synonyms": "synonyms", "plausibility": "ratings", "relations": "relations"}
RELATIONS_B = 500
RELATIONS_WANTED = 5

# Herdağdelen & Baroni (2009), fractions; conditions in the order v12, v1v2, v1v2v12.
ORDER = ("v12", "v1v2", "v1v2v12")
PAPER: dict[str, dict[str, dict[str, tuple[float, float, float]]]] = {
    "analogy": {"Yahoo": {"score": (0.425, 0.339, 0.441)}, "ukWaC": {"score": (0.380, 0.382, 0.396)}},
    "synonyms": {"Yahoo": {"score": (0.800, 0.412, 0.750)}, "ukWaC": {"score": (0.338, 0.275, 0.425)}},
    "plausibility": {
        "Yahoo": {"spearman_pooled": (0.60, 0.36, 0.55), "spearman": (0.45, 0.26, 0.42)},
        "ukWaC": {"spearman_pooled": (0.58, 0.33, 0.60), "spearman": (0.48, 0.22, 0.52)},
    },
}
RELATIONS_NOTE = "The paper's AUC, over its five relations: 97.6-99.0 % (Yahoo), 95.0-99.1 % (ukWaC)."


def reproduce(task: str, source: str, path: str, options: EvaluateOptions | None = None) -> Evaluation:
    """Run one of the paper's tasks on the user's copy of its data, by default with preset `paper`.

    Weighting and scaling are fitted on all rows, as the paper seems to have done.
    """
    options = replace(options or EvaluateOptions(preset="paper"), transductive=True)
    file = read_text_file(path)
    if (kind := read_any(file).kind) != KINDS[task]:
        raise InputError(f"{path} holds {kind}, not {KINDS[task]}; name the other task or file")
    if task != "relations":
        split = "group:verb" if task == "plausibility" else "random"
        found = evaluate_file(source, file, replace(options, split=split))
        published = []
        for name, metrics in PAPER[task].items():
            scores = {own: {key: row[at] for key, row in metrics.items()} for at, own in enumerate(ORDER)}
            published.append({"name": f"paper, {name}", "scores": scores})
        return replace(found, references=published)
    rows = load_rows(source, file, options, RELATIONS_B)
    counts = rows.data.label_counts
    chosen = tuple(counts)[:RELATIONS_WANTED]
    how: dict[str, Any] = {"preset": options.preset, "seed": options.seed, "C": options.svm.C}
    found = relation_rounds(rows.matrix, rows.data.labels, chosen, transductive=True, **how)
    taken = f"Of {len(counts)} relations, the most frequent were taken: {', '.join(chosen)}."
    found = replace(found, notes=[*found.notes, taken, RELATIONS_NOTE])
    return with_facts(found, rows.matrix, path, labels=counts)


def _balanced(positive: Bools, rng: np.random.Generator) -> Index:
    """Rows of a sample with as many positive as negative ones, in their order."""
    parts = np.flatnonzero(positive), np.flatnonzero(~positive)
    size = min(map(len, parts))
    chosen = [rng.choice(part, size, replace=False) if len(part) > size else part for part in parts]
    return np.sort(np.concatenate(chosen)).astype(np.intp)


def relation_rounds(
    counts: PairCounts, labels: Any, relations: Sequence[Any] | None = None, conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern", *, rounds: int = 5, folds: int = 10, seed: int = 0, C: float = 1.0,
    transductive: bool = False,
) -> Evaluation:  # fmt: skip
    """One binary SVM per relation against all other pairs, the larger side down-sampled; rounds × folds AUCs.

    The score of a condition is the mean over the relations. Rounds over the same pairs are not independent, so its
    interval is corrected as for repeated cross-validation (Nadeau and Bengio 2003).
    """
    labels, rng = np.asarray(labels), np.random.default_rng(seed)
    tested: list[Evaluation] = []
    parts: list[dict[str, Any]] = []
    pairs = same_pairs(counts.w1, counts.w2)
    for relation in np.unique(labels) if relations is None else relations:
        positive = labels == relation
        smaller = int(min(positive.sum(), (~positive).sum()))
        if smaller < folds:
            few = f"{many(smaller, 'pair')} with or without it, fewer than the {folds} folds"
            raise InputError(f"the relation '{relation}' has {few}; remove its rows")
        splits = []
        for _ in range(rounds):
            rows = _balanced(positive, rng)
            own = encode_targets(positive[rows])
            drawn = random_splits(own, folds, int(rng.integers(2**31)), pairs[rows])
            splits += [Split(split.name, rows[split.train], rows[split.test]) for split in drawn]
        how: dict[str, Any] = {"svm": SvmSettings(C), "transductive": transductive, "baselines": False}
        found = cross_validate(counts, positive, splits, conditions, preset, **how)
        means = {name: found[name].metrics["auc"].mean for name in conditions}
        parts.append({"name": str(relation), "n": int(positive.sum()), "scores": means})
        tested.append(found)

    def mean(scores: Sequence[Score]) -> dict[str, Score]:
        """Over the relations, fold by fold; a fold may have no row left that is not all-zero."""
        areas = np.ma.masked_invalid([score.folds for score in scores]).mean(axis=0).filled(np.nan)
        return {"auc": interval(areas.tolist(), "auc", test_share=1 / (folds - 1))}

    results = []
    for name in conditions:
        each = [found[name] for found in tested]
        zero = int(counts.zero_rows(blocks_of(name)).sum())
        rest = mean([(one.nonzero or one.metrics)["auc"] for one in each]) if zero else {}
        results.append(Condition(name, mean([one.metrics["auc"] for one in each]), zero, rest))
    settings = {**found.settings, "rounds": rounds, "folds": folds, "seed": seed}
    notes = [
        found.notes[0], "The AUC is the mean over the relations, each from balanced samples of its own.",
        *(zero_note(one, len(counts), ("auc",)) for one in results if one.zero_rows),
    ]  # fmt: skip
    return Evaluation(
        kind="relations", main_metric="auc", settings=settings, conditions=results, notes=notes,
        groups={"metric": "auc", "rows": parts},
    )  # fmt: skip
