"""From counts and targets to models: several conditions share their blocks' weightings and Gram matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bagpack.errors import UsageError
from bagpack.learn.features import block_of, check_blocks
from bagpack.learn.gram import add_block_gram, back_project, block_gram
from bagpack.learn.model import BlockWeighting, LinearModel, counted_with
from bagpack.learn.presets import Preset, get_preset
from bagpack.learn.rowwise import rowwise_classes, rowwise_ratings
from bagpack.learn.svm import Dual, solve_classes, solve_ratings
from bagpack.learn.targets import Targets, check_trainable
from bagpack.vectors.blocks import Block
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Floats, Matrix

# A Gram matrix of 4,000 rows takes 128 MB, and one more is held with it.
GRAM_ROWS = 4_000
SOLVERS = ("auto", "gram", "blocks")
LARGEST_COST = 1e9


@dataclass(frozen=True)
class Machine:
    """Settings of the SVM.

    Parameters
    ----------
    C, epsilon
        Cost of an error, and half the width of the band without cost (ratings only).
    tol
        When the solver stops: the largest violation (``gram``), or the share by which a better solution could exist
        (``blocks``); 1e-3 as in scikit-learn.
    solver
        ``gram``: libsvm on the Gram matrix; ``blocks``: dual coordinate descent over the blocks, linear in the number
        of pairs. ``auto`` is gram up to 4,000 rows.
    """

    C: float = 1.0
    epsilon: float = 0.2
    tol: float = 1e-3
    solver: str = "auto"

    def __post_init__(self) -> None:
        if not 0 < self.C <= LARGEST_COST:
            raise UsageError(f"C must be above 0 and at most {LARGEST_COST:g}, not {self.C}")
        if not (0 <= self.epsilon < math.inf):
            raise UsageError(f"epsilon must be a number from 0 on, not {self.epsilon}")
        if not 0 < self.tol < 1:
            raise UsageError(f"tol must be between 0 and 1, not {self.tol}")
        if self.solver not in SOLVERS:
            raise UsageError(f"unknown solver {self.solver!r}; choose one of {', '.join(SOLVERS)}")

    def solver_for(self, n: int) -> str:
        """The solver for n rows."""
        if self.solver != "auto":
            return self.solver
        return "gram" if n <= GRAM_ROWS else "blocks"


@dataclass(frozen=True, eq=False)
class WeightedBlock:
    """A block of the training rows after its steps, and the steps."""

    weighting: BlockWeighting
    block: Block

    @property
    def gram(self) -> Floats:
        """Gram matrix over the distinct rows."""
        return block_gram(self.block.rows)


def fit_weighting(block: Block, preset: Preset, weight: Floats | None = None) -> BlockWeighting:
    """Fit the preset's steps on the pairs of ``block``."""
    block = block.compact()
    steps = preset.steps(block.name)
    for position, step in enumerate(steps):
        step.fit_block(block, weight)
        if position + 1 < len(steps):
            block = step.on(block)
    return BlockWeighting(block.name, tuple(steps), preset.block_weights.get(block.name, 1.0))


def weight_blocks(
    matrix: Matrix, names: Sequence[str], preset: Preset, fit_on: Matrix | None = None,
    sample_weight: Floats | None = None,
) -> dict[str, WeightedBlock]:  # fmt: skip
    """Weight the named blocks of ``matrix``, fitted on those rows or on ``fit_on``."""
    out = {}
    for name in names:
        block = block_of(matrix, name).compact()
        weighting = (
            fit_weighting(block, preset, sample_weight)
            if fit_on is None
            else fit_weighting(block_of(fit_on, name), preset)
        )
        out[name] = WeightedBlock(weighting, weighting.apply(block))
    return out


def condition_grams(
    blocks: Mapping[str, WeightedBlock], conditions: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, Floats]]:
    """Each condition's Gram matrix, small conditions first.

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
                total = add_block_gram(total, blocks[name].gram, blocks[name].block.index)
        assert total is not None
        done[condition] = total
        yield condition, total
        later = [set(conditions[name]) for name in order[position + 1 :]]
        for name in list(done):
            if not any(set(conditions[name]) <= wanted for wanted in later):
                del done[name]


def shared_grams(
    matrix: BlockMatrix, conditions: Sequence[str], preset: Preset, machine: Machine
) -> dict[str, Floats] | None:
    """Each condition's Gram matrix over all rows, of which every fold is a part; None where there is no such thing.

    There is one if no row's features depend on which rows are trained on, and the SVMs are those of all folds.
    """
    if machine.solver_for(len(matrix)) != "gram" or len(matrix) > GRAM_ROWS:
        return None
    wanted = {condition: preset.blocks_of(condition) for condition in conditions}
    names = list(dict.fromkeys(name for blocks in wanted.values() for name in blocks))
    if any(step.learns_from(matrix) for name in names for step in preset.steps(name)):
        return None
    blocks = weight_blocks(matrix, names, preset)
    return {condition: gram.copy() for condition, gram in condition_grams(blocks, wanted)}


def solve_gram(gram: Floats, targets: Targets, machine: Machine, weight: Floats | None = None) -> Dual:
    """The SVM's solution on a Gram matrix; ``weight`` multiplies C, rows × outputs."""
    if targets.kind == "rating":
        return solve_ratings(gram, targets.ratings, machine.C, machine.epsilon, machine.tol, weight)
    return solve_classes(gram, targets.columns, machine.C, machine.tol, weight)


def _solve_conditions(
    blocks: Mapping[str, WeightedBlock], wanted: Mapping[str, tuple[str, ...]], targets: Targets,
    machine: Machine, weight: Floats | None,
) -> dict[str, tuple[tuple[Floats, ...], Floats, dict[str, Any]]]:  # fmt: skip
    """Each condition's weights by block, its intercepts, and what is reported of the solution."""
    solver = machine.solver_for(len(targets))
    duals = (
        (
            (condition, solve_gram(gram, targets, machine, weight))
            for condition, gram in condition_grams(blocks, wanted)
        )
        if solver == "gram"
        else (
            (condition, _solve_blocks([blocks[name].block for name in names], targets, machine, weight))
            for condition, names in wanted.items()
        )
    )
    out: dict[str, tuple[tuple[Floats, ...], Floats, dict[str, Any]]] = {}
    for condition, dual in duals:
        used = [blocks[name].block for name in wanted[condition]]
        weights = tuple(back_project(block.rows, block.index, dual.coef) for block in used)
        out[condition] = weights, dual.intercept, {"solver": solver, "converged": dual.converged}
    return {condition: out[condition] for condition in wanted}


def _solve_blocks(blocks: Sequence[Block], targets: Targets, machine: Machine, weight: Floats | None) -> Dual:
    parts = [(block.rows, block.index) for block in blocks]
    if targets.kind == "rating":
        return rowwise_ratings(parts, targets.ratings, machine.C, machine.epsilon, machine.tol, weight)
    return rowwise_classes(parts, targets.columns, machine.C, machine.tol, weight)


def fit_conditions(
    matrix: Matrix,
    targets: Targets,
    conditions: Sequence[str] = ("v1v2", "v12", "v1v2v12"),
    preset: str | Preset = "modern",
    machine: Machine | None = None,
    fit_on: Matrix | None = None,
    weight: Floats | None = None,
    sample_weight: Floats | None = None,
) -> dict[str, LinearModel]:
    """One model per condition, trained on all rows of ``matrix``.

    Parameters
    ----------
    fit_on
        The rows on which weighting and scaling are fitted, where they are more than the training rows (transductive).
    weight
        Factor on C for each row and output.
    sample_weight
        How many times each row counts for weighting and scaling.
    """
    preset, machine = get_preset(preset), machine or Machine()
    n = int(matrix.shape[0])
    if n != len(targets):
        raise UsageError(f"there are {n} pairs and {len(targets)} targets: one per pair is needed")
    check_trainable(targets)
    wanted = {condition: preset.blocks_of(condition) for condition in conditions}
    names = list(dict.fromkeys(name for blocks in wanted.values() for name in blocks))
    check_blocks(matrix, names, f"preset {preset.name}")
    blocks = weight_blocks(matrix, names, preset, fit_on, sample_weight)
    settings = {"C": machine.C, "tol": machine.tol, "transductive": fit_on is not None, "rows": n}
    if targets.kind == "rating":
        settings["epsilon"] = machine.epsilon
    solved = _solve_conditions(blocks, wanted, targets, machine, weight)
    return {
        condition: LinearModel(
            kind=targets.kind,
            classes=targets.classes,
            condition=condition,
            preset=preset.name,
            weightings=tuple(blocks[name].weighting for name in wanted[condition]),
            weights=weights,
            intercept=intercept,
            settings={**settings, **reported},
            as_sets=targets.as_sets,
            **counted_with(matrix),
        )
        for condition, (weights, intercept, reported) in solved.items()
    }


def fit_counts(
    matrix: Matrix,
    targets: Targets,
    condition: str = "v1v2v12",
    preset: str | Preset = "modern",
    machine: Machine | None = None,
    fit_on: Matrix | None = None,
    weight: Floats | None = None,
    sample_weight: Floats | None = None,
) -> LinearModel:
    """One condition's model; see `fit_conditions`."""
    found = fit_conditions(matrix, targets, (condition,), preset, machine, fit_on, weight, sample_weight)
    return found[condition]
