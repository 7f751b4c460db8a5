"""Filling a search engine with the sentences of a store, or of any input that `bagpack index` reads.

The input is indexed into a store first, by form, in a temporary place, so that every format and option works as there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bagpack.artefacts import MANIFEST
from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus, divide_name
from bagpack.corpus.format import GLUED, SENTENCE_START, TYPE_MASK, LeftOut
from bagpack.corpus.options import TextOptions
from bagpack.corpus.subcorpus import open_corpus
from bagpack.engines.base import make_engine
from bagpack.engines.sentences import JOINER, clean_token
from bagpack.files import disk_errors
from bagpack.parallel import jobs, progress


class BuildSummary(NamedTuple):
    sentences: int
    tokens: int
    problems: dict[str, int]  # as in the manifest of a store
    left_out: list[LeftOut]  # files of directories that hold no text


def corpus_sentences(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """(document, marked sentence) of a corpus, in order; of a subcorpus, those of its documents."""
    for segment in corpus.segments:
        forms = [clean_token(form.decode()) for form in segment.forms]
        tokens = np.asarray(segment.tokens)
        starts = np.flatnonzero(tokens & SENTENCE_START)
        documents = np.searchsorted(segment.document_starts, starts, side="right") - 1
        kept = segment.document_lengths[documents] > 0
        ends = np.append(starts[1:], tokens.size)
        for start, end, document in np.column_stack([starts, ends, documents])[kept].tolist():
            ids = tokens[start:end]
            types, glued = (ids & TYPE_MASK).tolist(), ((ids & GLUED) != 0).tolist()
            pieces = [(JOINER if glue else " ") + forms[t] for t, glue in zip(types, glued, strict=True)]
            yield segment.documents[document], "".join(pieces)[1:]


def build_engine(
    url: str, sources: Iterable[str], options: TextOptions | None = None, *, overwrite: bool = False
) -> BuildSummary:
    """Fill the index that a URL names, from files, directories, globs, ``-``, or one store or a part of it."""
    engine = make_engine(url)
    summary: list[BuildSummary] = []
    with (
        disk_errors(Path(tempfile.gettempdir())),
        tempfile.TemporaryDirectory(prefix="bagpack-") as directory,
    ):

        def sentences() -> Iterator[tuple[str, str]]:
            # Called when the engine has found nothing to refuse: a refusal should come before the long work.
            corpus, made = _open_or_index(list(sources), options or TextOptions(), Path(directory) / "store")
            summary.append(made)
            for done, sentence in enumerate(corpus_sentences(corpus), 1):
                yield sentence
                if done % 1000 == 0:
                    progress()("index", 1000, corpus.sentences)

        engine.fill(sentences(), overwrite)
    return summary[0]


def _open_or_index(sources: Sequence[str], options: TextOptions, place: Path) -> tuple[Corpus, BuildSummary]:
    if len(sources) == 1 and (divide_name(sources[0])[0] / MANIFEST).exists():
        corpus = open_corpus(sources[0])
        return corpus, BuildSummary(corpus.sentences, corpus.tokens, {}, [])
    # An engine looks for forms, so lemmas would be found for nothing.
    made = index_corpus(sources, place, replace(options, level="form", annotator="none"), jobs=jobs())
    counts = made.corpus.sentences, made.corpus.tokens
    return made.corpus, BuildSummary(*counts, made.problems, made.left_out)
