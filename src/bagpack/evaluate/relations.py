"""The paper's relation task: one binary SVM per relation on balanced samples, scored by AUC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from bagpack.errors import InputError, UsageError
from bagpack.evaluate.comparison import Score, interval
from bagpack.evaluate.crossval import CONDITIONS, check_found
from bagpack.evaluate.metrics import area_under_curve
from bagpack.evaluate.results import Breakdown, Bucket
from bagpack.evaluate.schema import RESULT_FORMAT
from bagpack.evaluate.splits import check_folds, generator_of, random_splits, same_pairs
from bagpack.learn.fitting import SvmSettings, fit_conditions
from bagpack.learn.presets import Preset, get_preset, portable
from bagpack.learn.targets import encode_targets
from bagpack.numbers import many
from bagpack.parallel import Progress, Shared, delayed, share, with_progress
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Answers, Bools, Index, Json, Label


@dataclass(frozen=True)
class RelationScores:
    """One relation: how many pairs have it, how many each balanced sample holds, AUC per condition."""

    relation: Label
    positive: int
    sampled: int
    auc: dict[str, Score]


@dataclass(frozen=True)
class RelationRounds:
    """All relations' scores, and each condition's mean over the relations."""

    relations: list[RelationScores]
    conditions: tuple[str, ...]
    transductive: bool
    settings: dict[str, Any]

    def mean(self, condition: str) -> float:
        """The mean AUC over the relations."""
        return float(np.mean([relation.auc[condition].mean for relation in self.relations]))

    def to_dict(self) -> dict[str, Json]:
        """As JSON, see `bagpack.evaluate.schema`."""
        rows = [
            Bucket(str(r.relation), r.positive, {name: r.auc[name].mean for name in self.conditions})
            for r in self.relations
        ]
        fitted = "all rows (transductive)" if self.transductive else "the training rows alone"
        return {
            "format": RESULT_FORMAT,
            "kind": "relations",
            "main_metric": "auc",
            "conditions": [
                {"name": name, "metrics": {"auc": {"mean": self.mean(name)}}} for name in self.conditions
            ],
            "groups": Breakdown("auc", rows, "relation").to_dict(),
            "relations": [
                {
                    "relation": str(r.relation),
                    "positive": r.positive,
                    "sampled": r.sampled,
                    "auc": {name: score.to_dict() for name, score in r.auc.items()},
                }
                for r in self.relations
            ],
            "transductive": self.transductive,
            "settings": self.settings,
            "notes": [
                f"Weighting and scaling were fitted on {fitted}.",
                "The AUC is the mean over the relations, each from balanced samples of its own.",
            ],
        }


def _balanced(positive: Bools, rng: np.random.Generator) -> Index:
    """Rows of a sample with as many positive as negative ones, in their order."""
    inside, outside = np.flatnonzero(positive), np.flatnonzero(~positive)
    size = min(len(inside), len(outside))
    chosen = [
        rng.choice(part, size, replace=False) if len(part) > size else part for part in (inside, outside)
    ]
    return np.sort(np.concatenate(chosen)).astype(np.intp)


def _fold_areas(
    shared: Shared,
    number: int,
    conditions: Sequence[str],
    preset: str | Preset,
    svm: SvmSettings,
    transductive: bool,
) -> dict[str, float]:
    counts, tasks = shared.get()
    positive, train, test = tasks[number]
    with threadpool_limits(1, "blas"):
        targets = encode_targets(positive[train])
        models = fit_conditions(
            counts[train], targets, conditions, preset, svm, counts if transductive else None
        )
        held_out = counts[test]
        return {
            name: area_under_curve(positive[test], model.decisions(held_out)[:, 0])
            for name, model in models.items()
        }


def relation_rounds(
    counts: BlockMatrix,
    labels: Answers,
    relations: Sequence[Label] | None = None,
    conditions: Sequence[str] = CONDITIONS,
    preset: str | Preset = "modern",
    *,
    rounds: int = 5,
    folds: int = 10,
    seed: int = 0,
    C: float = 1.0,
    transductive: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> RelationRounds:
    """One binary SVM per relation against all other pairs, the larger side down-sampled; rounds × folds AUCs.

    ``transductive`` fits weighting and scaling on all rows, sampled or not. Rounds over the same pairs are not
    independent, so the interval is corrected as for repeated cross-validation (Nadeau and Bengio 2003).
    """
    targets = encode_targets(labels)
    preset, svm = get_preset(preset), SvmSettings(C=C)
    if len(counts) != len(targets):
        raise UsageError(f"there are {len(counts)} pairs and {len(targets)} labels; give one per pair")
    check_folds(folds)
    if rounds < 1:
        raise UsageError(f"at least 1 round is needed, not {rounds}")
    check_found(counts)
    wanted = list(relations) if relations is not None else list(targets.classes)
    one_hot = targets.one_hot()
    pairs = same_pairs(counts.w1, counts.w2)
    rng = generator_of(seed)
    tasks = []
    sampled: dict[Label, tuple[int, int]] = {}
    for relation in wanted:
        if relation not in targets.classes:
            known = ", ".join(map(str, targets.classes))
            raise UsageError(f"there is no relation {relation!r}; the data has {known}")
        positive = one_hot[:, targets.classes.index(relation)]
        smaller = int(min(positive.sum(), (~positive).sum()))
        if smaller < folds:
            side = "has" if positive.sum() == smaller else "is missing from"
            raise InputError(
                f"the relation {relation!r} {side} {many(smaller, 'pair')}, fewer than the {folds} folds; "
                "take fewer folds (--folds), or name other relations (--relation)"
            )
        sampled[relation] = int(positive.sum()), 2 * smaller
        for _ in range(rounds):
            rows = _balanced(positive, rng)
            splits = random_splits(
                encode_targets(positive[rows]), folds, int(rng.integers(2**31)), pairs[rows]
            )
            tasks += [(positive, rows[split.train], rows[split.test]) for split in splits]
    with share((counts, tasks), n_jobs, len(tasks)) as shared:
        calls = (
            delayed(_fold_areas)(shared, number, conditions, portable(preset), svm, transductive)
            for number in range(len(tasks))
        )
        areas: list[dict[str, float]] = list(with_progress(shared.run(calls), "folds", len(tasks), progress))
    out = []
    each = rounds * folds
    for k, relation in enumerate(wanted):
        own = areas[k * each : (k + 1) * each]
        scores = {
            name: interval([fold[name] for fold in own], "auc", test_share=1 / (folds - 1))
            for name in conditions
        }
        out.append(RelationScores(relation, *sampled[relation], scores))
    settings = {
        "preset": preset.name,
        "rounds": rounds,
        "folds": folds,
        "seed": seed,
        "C": C,
        "transductive": transductive,
    }
    return RelationRounds(out, tuple(conditions), transductive, settings)
