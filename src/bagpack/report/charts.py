"""Positions of marks on an axis. The template draws them; positions are percentages of the plot's width.

Percentages and not a view box, so that a plot fills any window while its marks and its text keep their size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from bagpack.evaluate.result import Score
from bagpack.numbers import inside, is_number, metric_info


class Tick(NamedTuple):
    """A tick of an axis."""

    at: float
    text: str


class Axis(NamedTuple):
    """A linear axis from ``low`` to ``high`` with round ticks."""

    low: float
    high: float
    ticks: list[Tick]

    def at(self, value: float) -> float:
        """A value's place in percent of the width, kept inside the plot."""
        place = 100 * (value - self.low) / (self.high - self.low)
        return round(min(100.0, max(0.0, place)), 2)


class Whisker(NamedTuple):
    """An interval's two ends on an axis."""

    low: float
    high: float


def make_axis(values: Iterable[float | None], metric: str) -> Axis:
    """An axis that holds the values, with a margin, and four to seven round ticks.

    Percentages never leave 0 to 100. The axis need not begin at zero: what it carries are points, not bars.
    """
    finite = [float(value) for value in values if is_number(value)]
    percent = metric_info(metric).percent
    if not finite:
        finite = [0.0, 1.0]
    low, high = min(finite), max(finite)
    if percent:
        low, high = min(1.0, max(0.0, low)), min(1.0, max(0.0, high))
    span = max(high - low, 0.1 if percent else 0.1 * max(1.0, abs(high)))
    low, high = min(low, (low + high - span) / 2), max(high, (low + high + span) / 2)
    margin = 0.08 * span
    step = _round_step((span + 2 * margin) / 5)
    first = math.floor((low - margin) / step + 1e-9)
    last = math.ceil((high + margin) / step - 1e-9)
    if percent:
        first, last = max(0, first), min(round(1 / step), last)
    if last - first < 1:
        first, last = (first - 1, last) if first > 0 else (first, last + 1)
    scale = 100 if percent else 1
    digits = next(d for d in range(10) if math.isclose(round(step * scale, d), step * scale, rel_tol=1e-6))
    axis = Axis(first * step, last * step, [])
    for count in range(first, last + 1):
        value = count * step
        text = f"{scale * value:.{digits}f}".replace("-", "−")
        axis.ticks.append(Tick(axis.at(value), text))
    return axis


def make_whisker(axis: Axis, score: Score, metric: str) -> Whisker | None:
    """The place of a score's interval, or None where there is none."""
    ends = inside(score.low, score.high, metric)
    return None if ends is None else Whisker(axis.at(ends[0]), axis.at(ends[1]))


def _round_step(rough: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not below ``rough``."""
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 2.5, 5.0):
        if factor * power >= rough * (1 - 1e-9):
            return factor * power
    return 10 * power
