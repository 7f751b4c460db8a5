"""From counts and targets to models: several conditions share their blocks' weightings and Gram matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack.errors import UsageError
from bagpack.learn.block import Block
from bagpack.learn.counts import PairCounts
from bagpack.learn.gram import add_block_gram, back_project, block_gram
from bagpack.learn.model import BlockWeighting, LinearModel
from bagpack.learn.presets import Preset, get_preset
from bagpack.learn.rowwise import rowwise_classes, rowwise_ratings
from bagpack.learn.svm import Dual, UnconvergedError, solve_classes, solve_ratings
from bagpack.learn.targets import Targets, check_trainable

if TYPE_CHECKING:
    from bagpack.learn.types import Csr, Floats, Index


# A Gram matrix of 12,000 rows takes 1.15 GB, and one more is held beside it.
GRAM_ROWS = 12_000
# Single precision bears the plain features' Gram matrix up to here: on 3,000 rows × 18,000 columns libsvm stops
# after 10,000 steps (and is already 1 % off the optimum), on 8,100 rows it never does.
PLAIN_ROWS = 2_000
PLAIN_STEPS = 1_000_000


@dataclass(frozen=True)
class Machine:
    """The learner's settings.

    Parameters
    ----------
    C, epsilon
        Cost of an error, and half the width of the band without cost (ratings only).
    tol
        When libsvm stops, 1e-3 as in scikit-learn.
    solver
        ``plain`` and ``shifted``: libsvm on the Gram matrix of the plain or of the shifted features, see
        `bagpack.learn.svm`; ``rowwise``: no Gram matrix, see `bagpack.learn.rowwise`. ``auto`` is plain up to
        2,000 rows, shifted up to 12,000, rowwise beyond.
    """

    C: float = 1.0
    epsilon: float = 0.2
    tol: float = 1e-3
    solver: str = "auto"

    def __post_init__(self) -> None:
        if not self.C > 0:
            raise UsageError(f"C must be above 0, not {self.C}")
        if self.epsilon < 0:
            raise UsageError(f"epsilon must not be below 0, and is {self.epsilon}")
        if self.solver not in ("auto", "plain", "shifted", "rowwise"):
            raise UsageError(f"unknown solver {self.solver!r}; known are auto, plain, shifted, rowwise")

    def solver_for(self, n: int) -> str:
        """The solver for a set of n rows."""
        if self.solver != "auto":
            return self.solver
        return "plain" if n <= PLAIN_ROWS else "shifted" if n <= GRAM_ROWS else "rowwise"


@dataclass(frozen=True)
class WeightedBlock:
    """A block of the training rows after its steps."""

    weighting: BlockWeighting
    rows: Csr
    index: Index | None

    def gram(self, plain: bool = True) -> Floats:
        """Gram matrix over the distinct rows, of the plain or of the shifted features."""
        return block_gram(self.rows, self.weighting.zero if plain else None)


def fit_weighting(block: Block, preset: Preset) -> BlockWeighting:
    """Fit the preset's steps on the pairs of ``block``."""
    block = block.compact()
    steps = preset.steps(block.name)
    for position, step in enumerate(steps):
        step.fit_block(block)
        if position + 1 < len(steps):
            block = step.on(block)
    return BlockWeighting(block.name, tuple(steps), preset.block_weights.get(block.name, 1.0))


def weight_blocks(
    counts: PairCounts, names: Sequence[str], preset: Preset, fit_on: PairCounts | None = None
) -> dict[str, WeightedBlock]:
    """Weight the named blocks of ``counts``, fitted on those rows or on ``fit_on``."""
    out = {}
    for name in names:
        block = counts.block(name).compact()
        weighting = fit_weighting(block if fit_on is None else fit_on.block(name), preset)
        weighted = weighting.apply(block)
        out[name] = WeightedBlock(weighting, weighted.rows, weighted.index)
    return out


def condition_grams(
    blocks: dict[str, WeightedBlock], conditions: dict[str, tuple[str, ...]], plain: bool = True
) -> Iterator[tuple[str, Floats]]:
    """Each condition's Gram matrix, small conditions first, of the plain or of the shifted features.

    A condition is summed from the conditions before it that it contains. The matrix is valid until the next
    one is asked for: the last condition's is summed in place, so that two n × n matrices are the most there
    ever are.
    """
    order = sorted(conditions, key=lambda name: len(conditions[name]))
    done: dict[str, Floats] = {}
    for position, condition in enumerate(order):
        missing = set(conditions[condition])
        total: Floats | None = None
        for earlier in sorted(done, key=lambda name: -len(conditions[name])):
            part = set(conditions[earlier])
            if part <= missing:
                missing -= part
                last = position + 1 == len(order)
                if total is None:
                    total = done[earlier] if last else done[earlier].copy()
                else:
                    total += done[earlier]
                    if last:
                        del done[earlier]
        for name in conditions[condition]:
            if name in missing:
                total = add_block_gram(total, blocks[name].gram(plain), blocks[name].index)
        assert total is not None
        done[condition] = total
        yield condition, total
        later = [set(conditions[name]) for name in order[position + 1 :]]
        for name in list(done):
            if not any(set(conditions[name]) <= wanted for wanted in later):
                del done[name]


# Three conditions' Gram matrices of 4,000 rows take 384 MB.
SHARED_ROWS = 4_000


def shared_grams(
    counts: PairCounts, conditions: Sequence[str], preset: Preset, machine: Machine
) -> dict[str, Floats] | None:
    """Each condition's Gram matrix over all rows, of which every fold is a part; None where there is no such thing.

    There is one if no row's features depend on which rows are trained on, and the machines are those of all folds.
    """
    if machine.solver == "rowwise" or len(counts) > SHARED_ROWS:
        return None
    wanted = {condition: preset.blocks_of(condition) for condition in conditions}
    names = list(dict.fromkeys(name for blocks in wanted.values() for name in blocks))
    if any(step.learns_from(counts) for name in names for step in preset.steps(name)):
        return None
    blocks = weight_blocks(counts, names, preset)
    return {condition: gram.copy() for condition, gram in condition_grams(blocks, wanted)}


def solve_gram(gram: Floats, targets: Targets, machine: Machine, max_iter: int = -1) -> Dual:
    """The machine's solution on a Gram matrix."""
    if targets.kind == "rating":
        return solve_ratings(gram, targets.ratings, machine.C, machine.epsilon, machine.tol, max_iter)
    return solve_classes(gram, targets.columns, machine.C, machine.tol, max_iter)


def _solve_rowwise(blocks: Sequence[WeightedBlock], targets: Targets, machine: Machine) -> Dual:
    parts = [(block.rows, block.index) for block in blocks]
    if targets.kind == "rating":
        return rowwise_ratings(parts, targets.ratings, machine.C, machine.epsilon, machine.tol)
    return rowwise_classes(parts, targets.columns, machine.C, machine.tol)


def _solve_conditions(
    blocks: dict[str, WeightedBlock], wanted: dict[str, tuple[str, ...]], targets: Targets, machine: Machine
) -> dict[str, tuple[Dual, str]]:
    """Each condition's solution, and the solver that found it."""
    solver = machine.solver_for(len(targets))
    out: dict[str, tuple[Dual, str]] = {}
    if solver == "rowwise":
        for condition, names in wanted.items():
            out[condition] = _solve_rowwise([blocks[name] for name in names], targets, machine), solver
        return out
    limit = PLAIN_STEPS if solver == "plain" and machine.solver == "auto" else -1
    again = {}
    for condition, gram in condition_grams(blocks, wanted, solver == "plain"):
        try:
            out[condition] = solve_gram(gram, targets, machine, limit), solver
        except UnconvergedError:
            again[condition] = wanted[condition]
    for condition, gram in condition_grams(blocks, again, plain=False):
        out[condition] = solve_gram(gram, targets, machine), "shifted"
    return out


def _model(
    counts: PairCounts,
    targets: Targets,
    condition: str,
    preset: Preset,
    blocks: Sequence[WeightedBlock],
    dual: Dual,
    solver: str,
    settings: dict[str, Any],
) -> LinearModel:
    weights = tuple(back_project(block.rows, block.index, dual.coef) for block in blocks)
    intercept = dual.intercept.copy()
    for block, block_weights in zip(blocks, weights, strict=True):
        zero = block.weighting.zero
        if zero is not None and solver == "plain":
            # Σ_i coef_i (r_i + z) = Rᵀcoef + z Σ coef, and Σ coef is 0 only up to rounding.
            block_weights += np.outer(zero, dual.coef.sum(axis=0))
            intercept += zero @ block_weights
    return LinearModel(
        kind=targets.kind,
        classes=targets.classes,
        condition=condition,
        preset=preset.name,
        terms=counts.term_list,
        weightings=tuple(block.weighting for block in blocks),
        weights=weights,
        intercept=intercept,
        settings={**settings, "solver": solver},
        as_sets=targets.as_sets,
    )


def fit_conditions(
    counts: PairCounts,
    targets: Targets,
    conditions: Sequence[str] = ("v1v2", "v12", "v1v2v12"),
    preset: str | Preset = "paper",
    machine: Machine | None = None,
    fit_on: PairCounts | None = None,
) -> dict[str, LinearModel]:
    """One model per condition, trained on all rows of ``counts``.

    ``fit_on`` has the rows on which weighting and scaling are fitted, where they are more than the training
    rows (transductive).
    """
    preset, machine = get_preset(preset), machine or Machine()
    if len(counts) != len(targets):
        raise UsageError(f"there are {len(counts)} pairs and {len(targets)} targets: one per pair is needed")
    check_trainable(targets)
    wanted = {condition: preset.blocks_of(condition) for condition in conditions}
    names = list(dict.fromkeys(name for blocks in wanted.values() for name in blocks))
    blocks = weight_blocks(counts, names, preset, fit_on)
    settings = {
        "C": machine.C,
        "tol": machine.tol,
        "transductive": fit_on is not None,
        "rows": len(counts),
    }
    if targets.kind == "rating":
        settings["epsilon"] = machine.epsilon

    duals = _solve_conditions(blocks, wanted, targets, machine)
    return {
        condition: _model(
            counts, targets, condition, preset, [blocks[name] for name in names], *duals[condition], settings
        )
        for condition, names in wanted.items()
    }


def fit_counts(
    counts: PairCounts,
    targets: Targets,
    condition: str = "v1v2v12",
    preset: str | Preset = "paper",
    machine: Machine | None = None,
    fit_on: PairCounts | None = None,
) -> LinearModel:
    """One condition's model; see `fit_conditions`."""
    return fit_conditions(counts, targets, (condition,), preset, machine, fit_on)[condition]
