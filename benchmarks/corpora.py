"""Text for the benchmarks: real text from next to the checkout if there is any, otherwise a Zipf corpus."""

from __future__ import annotations

import lzma
import os
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.measure import DATA, SHARED

if TYPE_CHECKING:
    from bagpack import Corpus

TEXTS = ("enwiki2015", "enwiki2014", "britannica9", "novels100")


def real_text() -> bool:
    """Whether there is real text next to the checkout."""
    return (SHARED / "corpus" / f"{TEXTS[0]}.txt.xz").exists()


def copy_text(out: Path, most: int) -> None:
    """The first bytes of the real text."""
    left = most
    with open(out, "wb") as file:
        for name in TEXTS:
            with lzma.open(SHARED / "corpus" / f"{name}.txt.xz") as text:
                while left > 0 and (chunk := text.read(min(1 << 20, left))):
                    file.write(chunk)
                    left -= len(chunk)


def sentences(corpus: Corpus) -> Iterator[str]:
    """Every sentence as a line of lemmas."""
    from bagpack.corpus.format import SENTENCE_START, TYPE_MASK

    for segment in corpus.segments:
        names = np.array([key.decode() for key in segment.keys], dtype=object)
        words = names[segment.key_of_type[segment.tokens & TYPE_MASK]]
        starts = np.flatnonzero(segment.tokens & SENTENCE_START)
        for low, high in pairwise([*starts.tolist(), words.size]):
            yield " ".join(words[low:high].tolist()) + "\n"


def write_vertical(corpus: Corpus, path: Path) -> None:
    """A corpus as word TAB tag TAB lemma, with <text> and <s>."""
    from bagpack.corpus.format import SENTENCE_START, TYPE_MASK

    partial = path.with_name(path.name + ".new")
    with open(partial, "wb") as out:
        number = 0
        for segment in corpus.segments:
            keys = [segment.keys[k] for k in range(len(segment.keys))]
            lines = []
            for kind in range(len(segment.forms)):
                form = segment.forms[kind].replace("&", "&amp;").replace("<", "&lt;")
                lemma = keys[int(segment.key_of_type[kind])].replace("&", "&amp;")
                lines.append(f"{form}\t{_tag(form)}\t{lemma}\n".encode())
            tokens = segment.tokens
            opened = np.flatnonzero(tokens & SENTENCE_START)
            for index, (start, end) in enumerate(zip(opened, [*opened[1:], tokens.size], strict=True)):
                if index % 40 == 0:
                    out.write(b"</text>\n" * (number > 0) + b'<text id="bench:%d">\n' % number)
                    number += 1
                ids = (tokens[start:end] & TYPE_MASK).tolist()
                out.write(b"<s>\n" + b"".join([lines[k] for k in ids]) + b"</s>\n")
        out.write(b"</text>\n")
    os.replace(partial, path)


def vertical_of_text(text: Path, path: Path) -> Path:
    """A text as vertical text, tokenised and lemmatised by BagPack itself; made once."""
    from bagpack.corpus.build.index import index_corpus

    if not path.exists():
        with tempfile.TemporaryDirectory(dir=DATA) as place:
            write_vertical(index_corpus([str(text)], Path(place) / "s", jobs=-1).corpus, path)
    return path


def _tag(form: str) -> str:
    """A tag of the right length and variety."""
    for ending, tag in (("ing", "VVG"), ("ed", "VVD"), ("s", "NNS"), ("ly", "RB")):
        if form.endswith(ending):
            return tag
    return "NN" if form[:1].isalpha() else "SENT"
