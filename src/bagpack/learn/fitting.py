"""From counts and targets to models: several conditions share their blocks' weightings and Gram matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bagpack.errors import UsageError
from bagpack.learn.block_weighting import BlockWeighting, apply_step, design_blocks
from bagpack.learn.design import make_design
from bagpack.learn.features import blocks_of_matrix, check_blocks
from bagpack.learn.gram import add_block_gram, back_project, block_gram
from bagpack.learn.model import LinearModel, counted_with
from bagpack.learn.presets import Preset, get_preset
from bagpack.learn.solver import fit_classes, fit_ratings
from bagpack.learn.svm import Dual, constant_output, solve_classes, solve_ratings
from bagpack.learn.targets import Targets, check_trainable
from bagpack.parallel import on_one_machine, worker_count
from bagpack.vectors.blocks import Block
from bagpack.vectors.matrix import BlockMatrix

if TYPE_CHECKING:
    from bagpack.learn.types import Floats, Index, Matrix
    from bagpack.learn.weighting import Step

# A Gram matrix of 4,000 rows takes 128 MB, and one more is held with it.
GRAM_ROWS = 4_000
MEMORY = 4 << 30  # for all folds that are trained at once on one machine
FEWEST_ROWS = 1000  # below, starting workers takes longer than all folds: docs/performance.md
SOLVERS = ("auto", "gram", "blocks")
LARGEST_COST = 1e9


@dataclass(frozen=True)
class SvmSettings:
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

    def add_gram(self, out: Floats | None = None) -> Floats:
        """Add the Gram matrix of the pairs to ``out`` (None: a new matrix)."""
        block = self.block.written_out()
        return add_block_gram(out, block_gram(block.rows), block.index)


def fit_weighting(
    block: Block, preset: Preset, weight: Floats | None = None,
    memory: list[tuple[Step, Block, Block]] | None = None,
) -> BlockWeighting:  # fmt: skip
    """Fit the preset's steps on the pairs of ``block``; for ``memory`` see `BlockWeighting.apply`."""
    steps = preset.steps(block.name)
    for position, step in enumerate(steps):
        step.fit_block(block, weight)
        if position + 1 < len(steps):
            block = apply_step(step, block, memory)
    return BlockWeighting(block.name, tuple(steps), preset.block_weights.get(block.name, 1.0))


def weight_blocks(
    matrix: Matrix, names: Sequence[str], preset: Preset, fit_on: Matrix | None = None,
    sample_weight: Floats | None = None,
) -> dict[str, WeightedBlock]:  # fmt: skip
    """Weight the named blocks of ``matrix``, fitted on those rows or on ``fit_on``."""
    blocks = blocks_of_matrix(matrix, names)
    fitted = blocks if fit_on is None else blocks_of_matrix(fit_on, names)
    memory: list[tuple[Step, Block, Block]] = []
    out = {}
    for name, block in blocks.items():
        weighting = fit_weighting(fitted[name], preset, sample_weight if fit_on is None else None, memory)
        out[name] = WeightedBlock(weighting, weighting.apply(block, memory))
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
                total = blocks[name].add_gram(total)
        assert total is not None
        done[condition] = total
        yield condition, total
        later = [set(conditions[name]) for name in order[position + 1 :]]
        for name in list(done):
            if not any(set(conditions[name]) <= wanted for wanted in later):
                del done[name]


def shared_grams(
    matrix: BlockMatrix, conditions: Sequence[str], preset: Preset, svm: SvmSettings
) -> dict[str, Floats] | None:
    """Each condition's Gram matrix over all rows, of which every fold is a part; None where there is no such thing.

    There is one if no row's features depend on which rows are trained on, and the SVMs are those of all folds.
    """
    if svm.solver_for(len(matrix)) != "gram" or len(matrix) > GRAM_ROWS:
        return None
    wanted = {condition: preset.blocks_of(condition) for condition in conditions}
    names = list(dict.fromkeys(name for blocks in wanted.values() for name in blocks))
    if any(step.learns_from(matrix) for name in names for step in preset.steps(name)):
        return None
    blocks = weight_blocks(matrix, names, preset)
    return {condition: gram.copy() for condition, gram in condition_grams(blocks, wanted)}


def folds_at_once(matrix: BlockMatrix, svm: SvmSettings, n_jobs: int | None) -> int | None:
    """``n_jobs``; one for few rows, and fewer where workers of this machine would together need more than `MEMORY`.

    A Gram matrix, a part of it and libsvm's kernel rows take 21 bytes for each two rows; weighted counts and their
    design matrix 40 for each count.
    """
    if not on_one_machine():
        return n_jobs
    n, tables = len(matrix), matrix.tables
    if n < FEWEST_ROWS:
        return 1
    gram = svm.solver_for(n) == "gram"
    needed = 21 * n * n if gram else 40 * (tables.words.rows.nnz + tables.distinct_pairs.rows.nnz)
    return max(1, min(worker_count(n_jobs), MEMORY // max(needed, 1)))


def solve_gram(
    gram: Floats, targets: Targets, svm: SvmSettings, weight: Floats | None = None, n_jobs: int | None = 1
) -> Dual:
    """The SVM's solution on a Gram matrix; ``weight`` multiplies C, rows × outputs."""
    if targets.kind == "rating":
        return solve_ratings(gram, targets.ratings, svm.C, svm.epsilon, svm.tol, weight)
    return solve_classes(gram, targets.columns, svm.C, svm.tol, weight, n_jobs=n_jobs)


def held_out_by_gram(
    gram: Floats, train: Index, test: Index, targets: Targets, svm: SvmSettings, weight: Floats | None = None,
    n_jobs: int | None = 1,
) -> Floats:  # fmt: skip
    """Decision values of the test rows by an SVM of the training rows, from the Gram matrix of all rows.

    ``targets`` and ``weight`` are those of the training rows.
    """
    dual = solve_gram(gram[np.ix_(train, train)], targets, svm, weight, n_jobs)
    return np.asarray(gram[np.ix_(test, train)] @ dual.coef + dual.intercept)


def _solve_conditions(
    blocks: Mapping[str, WeightedBlock], wanted: Mapping[str, tuple[str, ...]], targets: Targets,
    svm: SvmSettings, weight: Floats | None, n_jobs: int | None, grams: Mapping[str, Floats] | None = None,
) -> dict[str, tuple[tuple[Floats, ...], Floats, dict[str, Any]]]:  # fmt: skip
    """Each condition's weights by block, its intercepts, and what is reported of the solution."""
    solver = svm.solver_for(len(targets))
    out: dict[str, tuple[tuple[Floats, ...], Floats, dict[str, Any]]] = {}
    if solver == "blocks":
        for condition, names in wanted.items():
            found = _solve_blocks([blocks[name].block for name in names], targets, svm, weight, n_jobs)
            out[condition] = (*found[:2], {"solver": solver, "converged": found[2]})
        return out
    for condition, gram in condition_grams(blocks, wanted) if grams is None else grams.items():
        dual = solve_gram(gram, targets, svm, weight, n_jobs)
        used = [blocks[name].block.written_out() for name in wanted[condition]]
        weights = tuple(back_project(block.rows, block.index, dual.coef) for block in used)
        out[condition] = weights, dual.intercept, {"solver": solver, "converged": dual.converged}
    return {condition: out[condition] for condition in wanted}


def _solve_blocks(
    blocks: Sequence[Block], targets: Targets, svm: SvmSettings, weight: Floats | None, n_jobs: int | None
) -> tuple[tuple[Floats, ...], Floats, bool]:
    """Weights by block, intercepts, and whether the solver converged."""
    design = make_design(design_blocks(blocks))
    if targets.kind == "rating":
        found = fit_ratings(design, targets.ratings, svm.C, svm.epsilon, weight, svm.tol)
        return tuple(design.split(found.weights)), found.intercept, found.converged
    columns = targets.columns
    kept = np.ones(columns.shape, bool) if weight is None else weight > 0
    constant = [constant_output(columns[kept[:, k], k]) for k in range(columns.shape[1])]
    learned = [k for k, value in enumerate(constant) if value is None]
    weights = np.zeros((design.n_columns, columns.shape[1]))
    intercept = np.array([0.0 if value is None else value for value in constant])
    converged = True
    if learned:
        cost = None if weight is None else weight[:, learned]
        solved = fit_classes(design, columns[:, learned], svm.C, cost, svm.tol, n_jobs=n_jobs)
        weights[:, learned], intercept[learned] = solved.weights, solved.intercept
        converged = solved.converged
    return tuple(design.split(weights)), intercept, converged


def fit_conditions(
    matrix: Matrix,
    targets: Targets,
    conditions: Sequence[str] = ("v1v2", "v12", "v1v2v12"),
    preset: str | Preset = "modern",
    svm: SvmSettings | None = None,
    fit_on: Matrix | None = None,
    weight: Floats | None = None,
    sample_weight: Floats | None = None,
    n_jobs: int | None = 1,
    grams: Mapping[str, Floats] | None = None,
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
    n_jobs
        Labels trained at once, in threads; the models are the same for any number.
    grams
        Each condition's Gram matrix (`shared_grams`), where it was computed before.
    """
    preset, svm = get_preset(preset), svm or SvmSettings()
    n = int(matrix.shape[0])
    if n != len(targets):
        raise UsageError(f"there are {n} pairs and {len(targets)} targets: one per pair is needed")
    check_trainable(targets)
    wanted = {condition: preset.blocks_of(condition) for condition in conditions}
    names = list(dict.fromkeys(name for blocks in wanted.values() for name in blocks))
    check_blocks(matrix, names, f"preset {preset.name}")
    blocks = weight_blocks(matrix, names, preset, fit_on, sample_weight)
    settings = {"C": svm.C, "tol": svm.tol, "transductive": fit_on is not None, "rows": n}
    if targets.kind == "rating":
        settings["epsilon"] = svm.epsilon
    solved = _solve_conditions(blocks, wanted, targets, svm, weight, n_jobs, grams)
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
    svm: SvmSettings | None = None,
    fit_on: Matrix | None = None,
    weight: Floats | None = None,
    sample_weight: Floats | None = None,
    n_jobs: int | None = 1,
    grams: Mapping[str, Floats] | None = None,
) -> LinearModel:
    """One condition's model; see `fit_conditions`."""
    found = fit_conditions(
        matrix, targets, (condition,), preset, svm, fit_on, weight, sample_weight, n_jobs, grams
    )
    return found[condition]
