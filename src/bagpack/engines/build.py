"""Filling a search engine with sentences, from any input that `bagpack index` reads or from a store.

The input is indexed into a store first, by form, in a temporary place: every format, encoding and option works as it
does there, in parallel and in bounded memory. Then the sentences are read out of its shards in order.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.options import TextOptions
from bagpack.corpus.store.corpus import Corpus, divide_name
from bagpack.corpus.store.format import GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.store.manifest import MANIFEST, LeftOut
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.subcorpus import open_corpus
from bagpack.engines.base import engine_kind, parse_address
from bagpack.engines.words import JOINER, clean_token
from bagpack.files import disk_errors

CHUNK = 1 << 18

Progress = Callable[[int, int], None]  # (sentences done, sentences in all)


@dataclass(frozen=True)
class BuildSummary:
    """What a finished build reports."""

    sentences: int
    tokens: int
    problems: dict[str, int]  # as in the manifest of a store
    left_out: list[LeftOut]  # files of directories that hold no text


def shard_sentences(shard: Shard) -> Iterator[tuple[str, str]]:
    """(document, marked sentence) of a shard, in order; of a subcorpus, those of its documents."""
    forms = [clean_token(form.decode()) for form in shard.forms]
    tokens = shard.tokens
    openings = np.flatnonzero(np.asarray(tokens) & SENTENCE_START)
    starts = [*shard.document_starts.tolist(), tokens.size]
    lengths = shard.document_lengths.tolist()
    document = -1
    name = ""
    for first in range(0, openings.size, CHUNK):
        bounds = openings[first : first + CHUNK + 1].tolist()
        if len(bounds) <= CHUNK:
            bounds.append(tokens.size)
        base = bounds[0]
        ids = np.asarray(tokens[base : bounds[-1]])
        types = (ids & TYPE_MASK).tolist()
        glued = ((ids & GLUED) != 0).tolist()
        for start, end in itertools.pairwise(bounds):
            while starts[document + 1] <= start:
                document += 1
                name = shard.documents[document]
            if not lengths[document]:
                continue
            pieces = [forms[types[start - base]]]
            for at in range(start + 1 - base, end - base):
                pieces.append(JOINER if glued[at] else " ")
                pieces.append(forms[types[at]])
            yield name, "".join(pieces)


def corpus_sentences(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """(document, marked sentence) of a corpus, in order."""
    return itertools.chain.from_iterable(map(shard_sentences, corpus.shards))


def build_engine(
    url: str,
    sources: Iterable[str],
    options: TextOptions | None = None,
    *,
    overwrite: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> BuildSummary:
    """Fill the index that a URL names, from files, directories, globs, ``-``, or one store or a part of it."""
    address = parse_address(url)
    kind = engine_kind(address.scheme)
    named = list(sources)
    with ExitStack() as stack:
        with disk_errors(Path(os.environ.get("TMPDIR", "/tmp"))):
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="bagpack-"))
        builder = kind.build(address, overwrite)  # before the long work: a refusal should come at once
        try:
            corpus, problems, left_out = _open_or_index(
                named, options or TextOptions(), Path(directory) / "store", jobs
            )
            for done, (document, marked) in enumerate(corpus_sentences(corpus), 1):
                builder.add(document, marked)
                if progress and done % 1000 == 0:
                    progress(done, corpus.sentences)
            builder.finish()
        except BaseException:
            builder.abandon()
            raise
    return BuildSummary(corpus.sentences, corpus.tokens, problems, left_out)


def _open_or_index(
    sources: Sequence[str], options: TextOptions, place: Path, jobs: int | None
) -> tuple[Corpus, dict[str, int], list[LeftOut]]:
    if len(sources) == 1 and (divide_name(sources[0])[0] / MANIFEST).exists():
        return open_corpus(sources[0]), {}, []
    # An engine looks for forms, so lemmas would be found for nothing.
    annotator = options.annotator if options.annotator.startswith("spacy:") else "none"
    summary = index_corpus(sources, place, replace(options, level="form", annotator=annotator), jobs=jobs)
    return summary.corpus, summary.problems, summary.left_out
