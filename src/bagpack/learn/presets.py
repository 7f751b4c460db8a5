"""Presets: which blocks a condition has, and how each block is weighted before the SVM sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bagpack.errors import UsageError
from bagpack.learn.association import Cosine, Difference, LogPpmi, Product, Trust, UnitLength
from bagpack.learn.weighting import Step, Tfidf, TwoSigma
from bagpack.names import CONDITIONS, COSINE, DIFFERENCE, PRODUCT, STATISTICS

# Gram matrices add up, so a block counts with the square of its factor.
STATISTICS_FACTOR = 0.55
COSINE_FACTOR = 2.0


def paper_steps(block: str) -> list[Step]:
    """TF-IDF, then scaling."""
    return [Tfidf(), TwoSigma()]


def no_steps(block: str) -> list[Step]:
    """The block unchanged."""
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
        Blocks of each condition; they must be known to `bagpack.learn.features.block_of`.
    block_weights
        Factor on a block's features; 1 where a block is not named.
    C
        Cost of an error where the user gives none.
    analogies_by_cosine
        Whether analogies are answered by centred cosines and not by two-point SVMs.
    """

    name: str
    summary: str
    steps: Callable[[str], list[Step]]
    conditions: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: CONDITIONS)
    block_weights: Mapping[str, float] = field(default_factory=dict)
    C: float = 1.0
    analogies_by_cosine: bool = False

    def blocks_of(self, condition: str) -> tuple[str, ...]:
        """Names of the blocks that ``condition`` is made of."""
        if condition not in self.conditions:
            known = ", ".join(self.conditions)
            raise UsageError(f"unknown condition {condition!r}; preset {self.name!r} has {known}")
        return self.conditions[condition]


def modern(
    name: str = "modern",
    *,
    words: Callable[[], Step] | None = LogPpmi,
    pairs: Callable[[], Step] | None = LogPpmi,
    unit: bool = True,
    trust: float = 1.0,
    v12: float = 1.0,
    product: bool = True,
    difference: bool = False,
    cosine: float = COSINE_FACTOR,
    statistics: bool = True,
    C: float = 1.0,
) -> Preset:
    """Preset `modern`, or a variant of it for `python -m benchmarks.accuracy ablation`.

    Raw counts let a few frequent terms decide, and a frequent word's row outweighs a rare one's; log counts and PPMI
    of unit length reduce both effects. v1 and v2 share their columns, so their product says what the words have in
    common, and their cosine how similar they are.
    Nothing but the SVM itself is learned from a task's rows. docs/accuracy.md shows what each part contributes.

    Parameters
    ----------
    words, pairs
        Weighting of v1 and v2, and of v12; None leaves the counts.
    unit
        Whether rows are scaled to unit length.
    trust
        k of n/(n+k), by which v12 grows with how often the pair was seen; 0 turns it off.
    v12
        Factor on v12.
    product, difference, statistics
        Which blocks are added: of the two words, and of the pair (n+, n−, seen, PMI, log odds of the order).
    cosine
        Factor on the cosine of v1 and v2; 0 omits it.
    """
    joined = {PRODUCT: product, DIFFERENCE: difference, COSINE: cosine}
    of_words = ("v1", "v2", *(block for block, wanted in joined.items() if wanted))
    of_pair = ("v12", *((STATISTICS,) if statistics else ()))

    def steps(block: str) -> list[Step]:
        if block == STATISTICS:
            return []
        weighting = pairs if block == "v12" else words
        found: list[Step] = [weighting()] if weighting else []
        if unit or block == COSINE:
            found.append(UnitLength())
        if block == "v12" and trust:
            found.append(Trust(trust))
        if block in joined:
            found.append({PRODUCT: Product, DIFFERENCE: Difference, COSINE: Cosine}[block]())
        if unit and block in (PRODUCT, DIFFERENCE):
            found.append(UnitLength())
        return found

    return Preset(
        name,
        "Log counts and PPMI of unit length, product and cosine of v1 and v2, pair statistics; linear SVM",
        steps,
        conditions={"v1v2": of_words, "v12": of_pair, "v1v2v12": (*of_words, *of_pair)},
        block_weights={STATISTICS: STATISTICS_FACTOR, COSINE: cosine, "v12": v12},
        C=C,
        analogies_by_cosine=True,
    )


PRESETS: dict[str, Preset] = {
    "paper": Preset(
        "paper",
        "Herdağdelen & Baroni 2009: TF-IDF, [μ−2σ, μ+2σ] to [0, 1], linear SVM with C = 1",
        paper_steps,
    ),
    "words": Preset(
        "words",
        "Which words are in the pair and nothing else: the baseline that never saw a corpus",
        no_steps,
        conditions={"words": ("w1", "w2")},
    ),
    "modern": modern(),
}


def portable(preset: Preset) -> str | Preset:
    """A registered preset by name, so that it reaches another process without pickling its functions."""
    return preset.name if PRESETS.get(preset.name) is preset else preset


def get_preset(preset: str | Preset) -> Preset:
    """The preset of that name."""
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise UsageError(f"unknown preset {preset!r}; choose one of {', '.join(PRESETS)}")
    return PRESETS[preset]
