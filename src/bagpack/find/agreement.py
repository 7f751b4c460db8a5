"""How far two annotators agree: observed agreement, Cohen's kappa, and the pairs that they label differently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bagpack.errors import InputError
from bagpack.find.examples import Pair
from bagpack.sheets import Cell
from bagpack.tasks import Dataset, read_dataset

COLUMNS = ("w1", "w2", "label_a", "label_b")


@dataclass(frozen=True)
class Disagreement:
    """A pair with two different labels."""

    w1: str
    w2: str
    label_a: str
    label_b: str


@dataclass(frozen=True)
class Agreement:
    """Agreement of two files on the pairs that both have.

    Attributes
    ----------
    pairs
        The number of pairs in both files.
    observed, kappa
        Share of them with the same label, and Cohen's kappa; kappa is None where chance alone would always agree
        (every pair has the same label in both files).
    table
        The number of pairs with each label in the first file and each in the second: ``table[i][j]`` for ``labels``.
    only_a, only_b
        The number of pairs that only one file has.
    repeated
        The number of pairs that a file labels more than once; the last label counts.
    """

    pairs: int
    observed: float
    kappa: float | None
    labels: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    disagreements: tuple[Disagreement, ...]
    only_a: int
    only_b: int
    repeated: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def label_rows(self) -> list[list[str]]:
        """The table of labels as text: a header, then a row for each label of the first file."""
        rows = zip(self.labels, self.table, strict=True)
        return [["", *self.labels], *([label, *(f"{count:,}" for count in row)] for label, row in rows)]

    def rows(self) -> list[list[Cell]]:
        """The disagreements with a header, for a file."""
        return [list(COLUMNS), *([getattr(one, name) for name in COLUMNS] for one in self.disagreements)]


def agreement(a: Mapping[Pair, str], b: Mapping[Pair, str], repeated: int = 0) -> Agreement:
    """Compare the labels that two annotators gave to the same pairs.

    Examples
    --------
    >>> a = {("leaf", "tree"): "yes", ("tree", "leaf"): "no", ("car", "tree"): "no", ("wheel", "car"): "yes"}
    >>> b = {("leaf", "tree"): "yes", ("tree", "leaf"): "no", ("car", "tree"): "yes", ("wheel", "car"): "yes"}
    >>> found = agreement(a, b)
    >>> found.observed, found.kappa, found.disagreements[0].w1
    (0.75, 0.5, 'car')
    """
    from sklearn.metrics import cohen_kappa_score

    both = [pair for pair in a if pair in b]
    if not both:
        raise InputError(
            "no pair is in both files, so there is nothing to compare; give two files of the same pairs"
        )
    ours, theirs = [a[pair] for pair in both], [b[pair] for pair in both]
    labels = sorted({*ours, *theirs})
    counts = Counter(zip(ours, theirs, strict=True))
    kappa = float(cohen_kappa_score(ours, theirs, labels=labels)) if len(labels) > 1 else None
    return Agreement(
        pairs=len(both),
        observed=sum(one == two for one, two in zip(ours, theirs, strict=True)) / len(both),
        kappa=kappa,
        labels=tuple(labels),
        table=tuple(tuple(counts[one, two] for two in labels) for one in labels),
        disagreements=tuple(Disagreement(*pair, a[pair], b[pair]) for pair in both if a[pair] != b[pair]),
        only_a=len(a) - len(both),
        only_b=len(b) - len(both),
        repeated=repeated,
    )


def compare_files(a: str | Path, b: str | Path, columns: Mapping[str, str] | None = None) -> Agreement:
    """The agreement of two files with w1, w2 and label."""
    files = [read_dataset(path, "relations", columns) for path in (a, b)]
    (one, twice_a), (two, twice_b) = (_labels(file) for file in files)
    return agreement(one, two, twice_a + twice_b)


def _labels(data: Dataset) -> tuple[dict[Pair, str], int]:
    labels: dict[Pair, str] = dict(zip(data.pairs, data.labels, strict=True))
    return labels, len(data.pairs) - len(labels)
