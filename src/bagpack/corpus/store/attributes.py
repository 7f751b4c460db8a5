"""Attributes of the documents of a segment: for each name, the documents that have it, and their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.strings import Strings

Attributes = tuple[tuple[str, str], ...]  # names and values, such as genre and fiction


@dataclass(frozen=True)
class AttributeColumns:
    """Attribute k is that of documents[bounds[k]:bounds[k + 1]], ascending; `numbers` are those of its values."""

    names: tuple[str, ...]
    bounds: NDArray[np.int64]
    documents: NDArray[np.uint32]
    numbers: NDArray[np.uint32]
    values: Strings
    size: int  # documents

    @classmethod
    def of(cls, documents: Sequence[Attributes]) -> AttributeColumns:
        """From the attributes of each document; of a repeated one, the last is taken. Empty values are none."""
        listed = [{name: value for name, value in own if value} for own in documents]
        names = sorted({name for own in listed for name in own})
        values = sorted({value for own in listed for value in own.values()}, key=str.encode)
        row = {name: index for index, name in enumerate(names)}
        number = {value: index for index, value in enumerate(values)}
        cells = sorted(
            (row[name], document, number[value])
            for document, own in enumerate(listed)
            for name, value in own.items()
        )
        table = np.array(cells, np.int64).reshape(-1, 3)
        bounds = np.searchsorted(table[:, 0], np.arange(len(names) + 1))
        where, what = table[:, 1].astype(np.uint32), table[:, 2].astype(np.uint32)
        return cls(tuple(names), bounds, where, what, Strings.of(values), len(documents))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The files of a segment."""
        return {
            "attributes.blob": self.values.blob,
            "attributes.offsets": self.values.offsets,
            "attributes.bounds": self.bounds,
            "attributes.document": self.documents,
            "attributes.value": self.numbers,
        }

    def column(self, name: str) -> tuple[NDArray[np.uint32], list[str]]:
        """For each document the place of its value in the list, whose first item, an empty string, means none."""
        places = np.zeros(self.size, np.uint32)
        if name not in self.names:
            return places, [""]
        which = self.names.index(name)
        cells = slice(int(self.bounds[which]), int(self.bounds[which + 1]))
        used, inverse = np.unique(self.numbers[cells], return_inverse=True)
        places[self.documents[cells]] = inverse + 1
        return places, ["", *(self.values[int(number)] for number in used.tolist())]

    def counts(self, name: str, documents: NDArray[np.int64]) -> Counter[str]:
        """Of some documents, how many have each value of an attribute."""
        places, texts = self.column(name)
        counted = np.bincount(places[documents], minlength=len(texts)).tolist()
        return Counter({text: count for text, count in zip(texts, counted, strict=True) if text and count})
