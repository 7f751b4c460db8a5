"""Examples of a relation: pairs that are in it and, where the file has them, pairs that are not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bagpack.errors import InputError, UsageError, did_you_mean
from bagpack.tasks.files import TextFile, mapped_columns, plain, read_table, read_text_file
from bagpack.tasks.pairs import LABELS, NO_LABELS, RELATIONS, SCORES, read_dataset, read_pairs
from bagpack.tasks.pairs import Pair as Pair
from bagpack.vectors.counts import as_pairs

NO = "no"  # the label of pairs that are not in the relation, where we write one
UNNAMED = "yes"  # the label of pairs whose file has none


@dataclass(frozen=True)
class Examples:
    """Pairs that are in a relation (``positives``) and pairs that are not (``negatives``)."""

    label: str
    positives: tuple[Pair, ...]
    negatives: tuple[Pair, ...] = ()
    path: str = ""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All of them, positives first."""
        return (*self.positives, *self.negatives)

    @property
    def is_symmetric(self) -> bool:
        """Whether a positive is given in both orders, so that order says nothing."""
        given = set(self.positives)
        return any((w2, w1) in given for w1, w2 in given if w1 != w2)


def make_examples(
    pairs: Iterable[Pair], labels: Iterable[str], label: str | None = None, path: str = ""
) -> Examples:
    """Examples from labelled pairs; ``label`` is chosen where the labels leave no doubt.

    Labels such as `no`, `none` and `random` mark pairs that are not in the relation. A pair that has the label and
    another one is a positive.
    """
    given = list(zip(pairs, labels, strict=True))
    names = list(dict.fromkeys(name for _, name in given))
    where = path or "the examples"
    wanted = [name for name in names if name.lower() not in NO_LABELS]
    if label is None:
        if not wanted:
            raise InputError(
                f"{where} has no positive example, only pairs labelled {', '.join(names)}; add pairs of the relation"
            )
        if len(wanted) > 1:
            shown = ", ".join(sorted(wanted))
            raise UsageError(
                f"{where} has {len(wanted)} labels; choose the one to find with --label: {shown}"
            )
        label = wanted[0]
    elif label not in names:
        shown = ", ".join(sorted(names))
        raise UsageError(
            f"{where} has no label {label!r}; {did_you_mean(label, names)}it has {shown or 'none'}"
        )
    positives = dict.fromkeys(pair for pair, name in given if name == label)
    negatives = dict.fromkeys(pair for pair, name in given if pair not in positives)
    return Examples(label, tuple(positives), tuple(negatives), path)


def as_examples(given: Any, label: str | None = None, columns: Mapping[str, str] | None = None) -> Examples:
    """Examples from a file, a data frame with columns w1, w2 and, optionally, label, or a sequence of pairs."""
    if isinstance(given, Examples):
        return given
    if isinstance(given, str | Path | TextFile):
        return read_examples(given, label, columns)
    if hasattr(given, "to_csv") or hasattr(given, "write_csv"):  # a data frame of pandas, of polars
        pandas = hasattr(given, "to_csv")
        text = given.to_csv(sep="\t", index=False) if pandas else given.write_csv(separator="\t")
        return read_examples(TextFile("the data frame", text.splitlines()), label, columns)
    if label is not None:
        raise UsageError(f"the examples have no labels, so label={label!r} cannot choose among them")
    return Examples(UNNAMED, tuple(dict.fromkeys(as_pairs(given))))


def read_examples(
    path: str | Path | TextFile, label: str | None = None, columns: Mapping[str, str] | None = None
) -> Examples:
    """Read examples from a table with w1, w2 and, optionally, label; without labels, all pairs are positives."""
    file = read_text_file(path)
    header = read_table(file)
    mapped = mapped_columns(header, columns)
    names = {plain(name) for name in header.header}
    if "label" in mapped or names & {*LABELS, *RELATIONS}:
        data = read_dataset(file, "relations", columns)
        return make_examples(data.pairs, data.labels, label, data.path)
    scores = next((name for name in header.header if plain(name) in SCORES), None)
    if scores is not None and "together" not in names:  # a table that `find` wrote has both
        raise InputError(
            f"{file.name} has ratings (column {scores}) but no labels, so it does not say which pairs are in the "
            f"relation; add a column label, or keep only those pairs and remove the ratings"
        )
    if label is not None:
        raise UsageError(
            f"{file.name} has no column label, so --label {label} cannot choose among its pairs; remove --label, or "
            f"add the column"
        )
    listed = read_pairs(file, columns)
    return Examples(UNNAMED, tuple(dict.fromkeys(listed.pairs)), (), listed.path)
