"""Small stores for tests: sentences given as lists of lemmas or lemma/TAG, cut into segments where wanted."""

from itertools import pairwise
from pathlib import Path

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.corpus import Corpus


def token_line(token):
    lemma, _, tag = token.partition("/")
    return f"{lemma.upper()}\t{tag or 'X'}\t{lemma}"


def make_store(folder: Path, sentences, cuts=(), name="store.bp"):
    """One segment per run of sentences between cuts, made by appending, which leaves old segments alone."""
    bounds = sorted({0, len(sentences), *(cut for cut in cuts if cut < len(sentences))})
    store = folder / name
    for number, (start, end) in enumerate(pairwise(bounds)):
        lines = []
        for sentence in sentences[start:end]:
            lines += ["<s>", *map(token_line, sentence), "</s>"]
        source = folder / f"{name}-part{number}.vert"
        source.write_text("\n".join([f'<text id="t{number}">', *lines, "</text>", ""]), encoding="utf-8")
        index_corpus([str(source)], store, append=number > 0)
    return Corpus.open(store)
