"""Preset `modern` as a recipe of switches, each of which can be turned by name: `modern:weighting=log,product=no`.

Raw counts let a few frequent terms decide, and a frequent word's row outweighs a rare one's; log counts and PPMI of
unit length tame both. v1 and v2 share their columns, so their product and cosines say what the words have in common.
Nothing here is learned from a task's rows but the machine itself. docs/accuracy.md shows what each switch brings.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from bagpack.errors import UsageError
from bagpack.learn.annex import BORROWED, GAPS, WHOLE, Beside
from bagpack.learn.association import Fading, Llr, LogCounts, LogPpmi, Ppmi, Trust, UnitLength
from bagpack.learn.blocks import WIDE
from bagpack.learn.interactions import (
    COSINES,
    DIFFERENCE,
    MINIMUM,
    PRODUCT,
    Cosines,
    Difference,
    Joining,
    Minimum,
    Product,
)
from bagpack.learn.statistics import STATISTICS
from bagpack.learn.weighting import Step

WEIGHTINGS: dict[str, type[Step] | None] = {
    "log+ppmi": LogPpmi,
    "log": LogCounts,
    "ppmi": Ppmi,
    "llr": Llr,
    "counts": None,
}
JOININGS: dict[str, type[Joining]] = {
    PRODUCT: Product,
    MINIMUM: Minimum,
    DIFFERENCE: Difference,
    COSINES: Cosines,
}
# Gram matrices add up, so a block counts with the square of its factor.
BLOCK_FACTORS = {COSINES: 2.0, STATISTICS: 0.55, WHOLE: 0.5, **dict.fromkeys(WIDE, 0.7)}


@dataclass(frozen=True)
class Recipe:
    """The switches of preset `modern`; the defaults are what it recommends.

    Parameters
    ----------
    weighting, pairs
        How counts of v1 and v2, and of v12, are weighted: log+ppmi, log, ppmi, llr, counts.
    unit
        Whether rows are brought to unit length.
    trust
        k of n/(n+k), by which v12 grows with how often the pair was seen; 0 turns it off.
    v12
        Factor on v12.
    product, minimum, difference, cosine
        Which interactions of v1 and v2 stand beside them.
    statistics
        Numbers of the pair: n+, n−, whether it is seen, PMI, log odds of the order.
    gaps
        Shares of the pair's couples with 0 to 5 words between, in each order.
    neighbours
        How many similar words of each word may lend the contexts of their pairs, which are counted for it; 0 is off.
    content
        How many content words are looked for ten words around each word, as blocks of their own; 0 is off.
    whole
        How many whole stretches of up to four words between the two, those that most pairs share, are features of
        their own; 0 is off.
    cost
        C where the user gives none.
    inner
        Whether C and v12's factor are chosen by inner cross-validation on the training rows.
    swapped
        Whether the training pairs are also shown the other way round, as examples of no relation.
    cosines
        Whether analogies are answered by centred cosines and not by two-point machines.
    """

    weighting: str = "log+ppmi"
    pairs: str = "log+ppmi"
    unit: bool = True
    trust: float = 1.0
    v12: float = 1.0
    product: bool = True
    minimum: bool = False
    difference: bool = False
    cosine: bool = True
    statistics: bool = True
    gaps: bool = False
    neighbours: int = 0
    content: int = 0
    whole: int = 0
    cost: float = 1.0
    inner: bool = False
    swapped: bool = False
    cosines: bool = True

    def __post_init__(self) -> None:
        for name in ("weighting", "pairs"):
            if getattr(self, name) not in WEIGHTINGS:
                raise UsageError(
                    f"unknown weighting {name}={getattr(self, name)}; known are {', '.join(WEIGHTINGS)}"
                )
        for name, least in (
            ("trust", 0.0),
            ("v12", 1e-9),
            ("neighbours", 0),
            ("content", 0),
            ("whole", 0),
            ("cost", 1e-9),
        ):
            if getattr(self, name) < least:
                raise UsageError(
                    f"the switch {name}={getattr(self, name):g} is too small; give at least {least:g}"
                )

    @property
    def name(self) -> str:
        """`modern`, and what differs from its defaults."""
        usual = Recipe()
        turned = [
            f"{field.name}={_show(getattr(self, field.name))}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(usual, field.name)
        ]
        return f"modern:{','.join(turned)}" if turned else "modern"

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """From `weighting=log,product=no`; what is not named keeps its default.

        Examples
        --------
        >>> Recipe.parse("weighting=log,product=no").name
        'modern:weighting=log,product=no'
        """
        known = {field.name: getattr(cls(), field.name) for field in fields(cls)}
        turned: dict[str, object] = {}
        for item in filter(None, text.split(",")):
            name, _, value = item.partition("=")
            if name not in known:
                raise UsageError(f"preset modern has no switch {name!r}; it has {', '.join(known)}")
            turned[name] = _read(name, value, known[name])
        return replace(cls(), **turned)  # type: ignore[arg-type]

    @property
    def conditions(self) -> dict[str, tuple[str, ...]]:
        """The blocks of each condition: what is of the words goes with v1 and v2, what is of the pair with v12."""
        wanted = {
            PRODUCT: self.product,
            MINIMUM: self.minimum,
            DIFFERENCE: self.difference,
            COSINES: self.cosine,
        }
        words = ("v1", "v2", *(WIDE if self.content else ()), *(block for block, on in wanted.items() if on))
        beside = {
            WHOLE: self.whole > 0,
            BORROWED: self.neighbours > 0,
            STATISTICS: self.statistics,
            GAPS: self.gaps,
        }
        pair = ("v12", *(block for block, on in beside.items() if on))
        return {"v1v2": words, "v12": pair, "v1v2v12": (*words, *pair)}

    @property
    def block_factors(self) -> dict[str, float]:
        """The factor on each block."""
        return {**BLOCK_FACTORS, "v12": self.v12}

    @property
    def beside(self) -> Beside:
        """What must be counted beside v1, v2 and v12."""
        return Beside(self.neighbours, self.content, self.whole)

    def steps(self, block: str) -> list[Step]:
        """Fresh steps of a block."""
        if block in (STATISTICS, GAPS):
            return []
        unit: list[Step] = [UnitLength()] if self.unit else []
        trust: list[Step] = [Trust(self.trust)] if self.trust else []
        if block == BORROWED:
            return [LogCounts(), *unit, Fading()]
        if block == WHOLE:
            return [LogCounts(), *unit, *trust]
        weighting = WEIGHTINGS[self.pairs if block == "v12" else self.weighting]
        steps: list[Step] = [*([weighting()] if weighting is not None else []), *unit]
        if block == "v12":
            steps += trust
        if block in JOININGS:
            steps += [JOININGS[block](), *(unit if block != COSINES else [])]
        return steps


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _read(name: str, value: str, like: object) -> object:
    if isinstance(like, bool):
        if value not in ("yes", "no"):
            raise UsageError(f"the switch {name} takes yes or no, not {value!r}")
        return value == "yes"
    if isinstance(like, int | float):
        kind, called = (int, "a whole number") if isinstance(like, int) else (float, "a number")
        try:
            return kind(value)
        except ValueError:
            raise UsageError(f"the switch {name} takes {called}, not {value!r}") from None
    return value
