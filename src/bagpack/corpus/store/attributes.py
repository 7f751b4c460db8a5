"""Attributes of the documents of a shard, as columns of numbered values."""

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
    """A row of `cells` for each attribute: for each document the number of its value plus 1, or 0."""

    names: tuple[str, ...]
    cells: NDArray[np.uint32]
    values: Strings

    @classmethod
    def of(cls, documents: Sequence[Attributes]) -> AttributeColumns:
        """From the attributes of each document; of a repeated one, the last is taken. Empty values are none."""
        listed = [{name: value for name, value in own if value} for own in documents]
        names = sorted({name for own in listed for name in own})
        values = sorted({value for own in listed for value in own.values()}, key=str.encode)
        number = {value: index for index, value in enumerate(values, 1)}
        cells = np.zeros((len(names), len(documents)), np.uint32)
        row = {name: index for index, name in enumerate(names)}
        for document, own in enumerate(listed):
            for name, value in own.items():
                cells[row[name], document] = number[value]
        return cls(tuple(names), cells, Strings.of(values))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The files of a shard."""
        return {
            "attributes.blob": self.values.blob,
            "attributes.offsets": self.values.offsets,
            "attributes.values": self.cells.reshape(-1),
        }

    def column(self, name: str) -> tuple[NDArray[np.uint32], list[str]]:
        """For each document the place of its value in the list, whose first item, an empty string, means none."""
        if name not in self.names:
            return np.zeros(self.cells.shape[1], np.uint32), [""]
        cells = self.cells[self.names.index(name)]
        used, places = np.unique(cells, return_inverse=True)
        texts = [self.values[int(number) - 1] if number else "" for number in used.tolist()]
        if used.size and used[0] == 0:
            return places.astype(np.uint32), texts
        return (places + 1).astype(np.uint32), ["", *texts]

    def counts(self, name: str, documents: NDArray[np.int64]) -> Counter[str]:
        """Of some documents, how many have each value of an attribute."""
        places, texts = self.column(name)
        counted = np.bincount(places[documents], minlength=len(texts)).tolist()
        return Counter({text: count for text, count in zip(texts, counted, strict=True) if text and count})
