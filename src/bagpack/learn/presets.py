"""Presets: which blocks a condition has, and how each block is weighted before the machine sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bagpack.errors import UsageError
from bagpack.learn.annex import NOTHING, Beside
from bagpack.learn.modern import Recipe
from bagpack.learn.weighting import Step, TfidfWeighter, TwoSigmaScaler
from bagpack.names import CONDITIONS


def no_steps(block: str) -> list[Step]:
    """The block as it is."""
    return []


@dataclass(frozen=True)
class Preset:
    """A named way from counts to features.

    Parameters
    ----------
    steps
        For a block's name, fresh transformers in the order they apply. All but the last must keep zero at
        zero.
    conditions
        Blocks of each condition; they must be known to `bagpack.learn.blocks.BLOCKS`.
    block_weights
        Factor on a block's features; 1 where a block is not named.
    C
        Cost of an error where the user gives none.
    inner, swapped, cosines
        See `bagpack.learn.modern.Recipe`.
    beside
        What must be counted beside v1, v2 and v12.
    """

    name: str
    summary: str
    steps: Callable[[str], list[Step]]
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: CONDITIONS)
    block_weights: Mapping[str, float] = field(default_factory=dict)
    C: float = 1.0
    inner: bool = False
    swapped: bool = False
    cosines: bool = False
    beside: Beside = NOTHING

    def blocks_of(self, condition: str) -> tuple[str, ...]:
        """Names of the blocks that ``condition`` is made of."""
        if condition not in self.conditions:
            known = ", ".join(self.conditions)
            raise UsageError(f"unknown condition {condition!r}; preset {self.name!r} has {known}")
        return self.conditions[condition]


PRESETS: dict[str, Preset] = {
    "paper": Preset(
        "paper",
        "Herdağdelen & Baroni 2009: TF-IDF, [μ−2σ, μ+2σ] to [0, 1], linear SVM with C = 1",
        lambda block: [TfidfWeighter(), TwoSigmaScaler()],
    ),
    "words": Preset(
        "words",
        "Which words stand in the pair and nothing else: the baseline that never saw a corpus",
        no_steps,
        conditions={"words": ("w1", "w2")},
    ),
}


def modern_preset(recipe: Recipe) -> Preset:
    """Preset `modern` with its switches set."""
    return Preset(
        recipe.name,
        "Log counts and PPMI of unit length, products and cosines of v1 and v2, pair statistics; linear SVM",
        recipe.steps,
        conditions=recipe.conditions,
        block_weights=recipe.block_factors,
        C=recipe.cost,
        inner=recipe.inner,
        swapped=recipe.swapped,
        cosines=recipe.cosines,
        beside=recipe.beside,
    )


PRESETS["modern"] = modern_preset(Recipe())


def portable(preset: Preset) -> str | Preset:
    """A registered preset by name, so that it reaches another process without pickling its functions."""
    return preset.name if PRESETS.get(preset.name) is preset else preset


def get_preset(preset: str | Preset) -> Preset:
    """The preset of that name."""
    if isinstance(preset, Preset):
        return preset
    name, _, switches = preset.partition(":")
    if name == "modern" and switches:
        return modern_preset(Recipe.parse(switches))
    if preset not in PRESETS:
        raise UsageError(
            f"unknown preset {preset!r}; known are {', '.join(PRESETS)}, and modern with switches "
            "(modern:weighting=log,product=no)"
        )
    return PRESETS[preset]
