"""Partners of similar words: what the examples say about a word that a search fixes.

Words with similar contexts have similar partners. If *wheel – car* and *wheel – truck* are examples of parts, *wheel*
is likely a part of a *bus*. A kernel ridge regression predicts from the contexts of a word which of the partners in the
examples it has; the kernel is the cosine of two words' weighted vectors. For a word of the examples, the prediction is
that without its own examples (leave-one-out, in closed form): they may not list all its partners.

Whether examples predict each other is seen from them: the prediction counts as much as partners recur in the examples.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.learn.association import unit_length
from bagpack.learn.calibration import Curve
from bagpack.learn.model import LinearModel
from bagpack.vectors.blocks import Block
from bagpack.vectors.matrix import BlockMatrix
from bagpack.vectors.tables import CountTables

Floats = NDArray[np.float64]
I64 = NDArray[np.int64]

# Chosen on development sets: docs/finding.md.
PENALTY = 1.0  # of the regression
WEIGHT = 30.0  # of its predictions, mostly between 0 and 0.2, if the partner of every example recurs
AT_ONCE = 500  # words whose vectors are held as a dense array
MOST_WORDS = 2_000  # of the examples, the first ones: the regression inverts a matrix of that size


class SimilarExamples:
    """A regression from the words of examples in one place (0 or 1) to their partners.

    Parameters
    ----------
    examples
        The counts of the pairs of the relation.
    model
        Whose weighting makes the vectors of the words.

    Attributes
    ----------
    weight
        What predictions are multiplied by: 30 times the share of examples whose partner is in another one too.
    curve
        From sums of decision values and weighted predictions to probabilities.
    """

    curve: Curve | None = None

    def __init__(self, examples: BlockMatrix, model: LinearModel, side: int) -> None:
        self.side = side
        self._block = ("v1", "v2")[side]
        self._weighting = model.weightings[model.block_names.index(self._block)]
        words, partners = self._places(examples)
        targets = examples.words.targets
        row = {number: k for k, number in enumerate(list(dict.fromkeys(words.tolist()))[:MOST_WORDS])}
        pairs = [
            (row[word], targets[partner])
            for word, partner in dict.fromkeys(zip(words.tolist(), partners.tolist(), strict=True))
            if word in row
        ]
        self._words = {targets[number]: k for number, k in row.items()}
        often = Counter(partner for _, partner in pairs)
        self._partners = {partner: k for k, partner in enumerate(often)}
        taught = np.zeros((len(row), len(often) + 1))  # the last column is for all other words
        for word, partner in pairs:
            taught[word, self._partners[partner]] = 1
        self.weight = WEIGHT * sum(often[partner] > 1 for _, partner in pairs) / len(pairs)
        self._rows = self._vectors(examples.tables, np.array(list(row)))
        inverse = np.linalg.inv(self._rows @ self._rows.T + PENALTY * np.eye(len(row)))
        self._weights: Floats = inverse @ taught
        self._left_out: Floats = taught - self._weights / np.diag(inverse)[:, None]

    def added(self, matrix: BlockMatrix) -> Floats:
        """What is added to the decision value of each pair; 0 for words that are no partner in the examples."""
        words, partners = self._places(matrix)
        distinct, number = np.unique(words, return_inverse=True)
        predicted = self._predict(matrix.tables, distinct)
        found: Floats = self.weight * predicted[number, self._columns(matrix.tables)[partners]]
        return found

    def added_to_words(self, tables: CountTables, word: int) -> Floats:
        """What is added for each word of the tables as a partner of this one."""
        found: Floats = self.weight * self._predict(tables, np.array([word]))[0, self._columns(tables)]
        return found

    def _predict(self, tables: CountTables, words: I64) -> Floats:
        parts = [words[start : start + AT_ONCE] for start in range(0, len(words), AT_ONCE)]
        similar = [self._vectors(tables, part) @ self._rows.T for part in parts]
        predicted: Floats = np.concatenate(similar) @ self._weights
        targets = tables.words.targets
        for k, word in enumerate(words.tolist()):
            if (known := self._words.get(targets[word])) is not None:
                predicted[k] = self._left_out[known]
        return predicted

    def _columns(self, tables: CountTables) -> I64:
        """The column of each word of the tables among the predictions."""
        return np.array([self._partners.get(target, -1) for target in tables.words.targets], np.int64)

    def _places(self, matrix: BlockMatrix) -> tuple[I64, I64]:
        """The words and their partners, as rows of the table of words."""
        both = (matrix.w1, matrix.w2)
        return both[self.side], both[1 - self.side]

    def _vectors(self, tables: CountTables, words: I64) -> Floats:
        block = Block(self._block, tables.words.rows[words], frequencies=tables.basis.frequencies)
        rows: Floats = unit_length(sparse.csr_array(self._weighting.apply(block).rows)).toarray()
        return rows
