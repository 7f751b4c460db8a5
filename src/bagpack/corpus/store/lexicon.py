"""The corpus-wide lexicon, opened for reading: every key with its count, and the form → key table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store import format
from bagpack.corpus.store.strings import Strings
from bagpack.files import map_array
from bagpack.kernels import read_only


class Lexicon:
    """The corpus's keys, sorted, with counts; memory-mapped.

    All files are mapped at once, so that a corpus that is open stays usable while another process appends to it: an
    append writes a new lexicon and removes the old one.
    """

    def __init__(self, directory: Path, tokens: int, keys: int) -> None:
        self.directory = directory
        format.check(directory, format.LEXICON, {"tokens": tokens, "keys": keys})
        arrays = {
            name: read_only(map_array(directory / name, array.dtype))
            for name, array in format.LEXICON.items()
        }
        self.keys = Strings(arrays["keys.blob"], arrays["keys.offsets"])  # in code-point order
        self.counts: NDArray[np.int64] = arrays["keys.count"]  # tokens of each key
        self.forms = Strings(arrays["forms.blob"], arrays["forms.offsets"])
        self.form_keys: NDArray[np.int64] = arrays["forms.key"]

    def counts_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Tokens of some keys by number."""
        return self.counts[numbers]

    def find(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Key index of each word: as a key, failing that as a form; -1 if the corpus has neither."""
        wanted = Strings.of(words)
        found = self.keys.find(wanted)
        missing = np.flatnonzero(found < 0)
        if missing.size:
            by_form = self.forms.find(wanted.take(missing))
            known = by_form >= 0
            found[missing[known]] = self.form_keys[by_form[known]]
        return found
