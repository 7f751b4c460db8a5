"""Basis terms with parts of speech on the dev parts: `python -m benchmarks.accuracy tags`.

BAGPACK_BENCH_TAGGED names a store with parts of speech; else the shared corpus is indexed with --tag. What is counted
and answered is kept, so that an interrupted run can be continued.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from bagpack import Corpus
from bagpack.basis import Basis, BasisChoice
from bagpack.contexts.source import CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.vectors.matrix import BlockMatrix
from benchmarks.accuracy.answers import PresetMethod, answer
from benchmarks.accuracy.paired import Outcome, bootstrap_difference
from benchmarks.accuracy.sets import OpenSet, open_sets
from benchmarks.measure import BAGPACK, DATA, SHARED, run_watched

PLAIN = "words"
TERMS = {
    PLAIN: {},
    "words with tags": {"tags": True},
    "words, and tags": {"tag_terms": True},
    "words with tags, and tags": {"tags": True, "tag_terms": True},
}


def tagged_store() -> Path:
    """The corpus with parts of speech."""
    if "BAGPACK_BENCH_TAGGED" in os.environ:
        return Path(os.environ["BAGPACK_BENCH_TAGGED"])
    path = DATA / "tagged.bp"
    if not path.exists():
        texts = sorted((SHARED / "corpus").glob("*.txt.xz"))
        run_watched([*BAGPACK, "index", *texts, "--tag", "--out", path, "--quiet"])
    return path


def count(source: CorpusSource, sets: list[OpenSet], choice: BasisChoice) -> BlockMatrix:
    """All pairs of the sets over one basis, counted once."""
    path = (
        DATA
        / f"tags-{source.content_hash[:8]}-{len(sets)}-{choice.b}-{choice.tags:d}{choice.tag_terms:d}.bpm"
    )
    if not path.exists():
        pairs = list(dict.fromkeys(pair for asked in sets for pair in asked.pairs))
        BlockMatrix.count(source, pairs, Basis.of(source.corpus, choice, -1), CountSettings(), -1).save(path)
    return BlockMatrix.open(path)


def compare(analogy_basis: int) -> list[dict]:
    """The scores of each kind of basis on each set, and their differences from words alone."""
    source = CorpusSource(Corpus.open(tagged_store()))
    sets = open_sets("dev")
    questions = [asked for asked in sets if asked.questions]
    kept = DATA / f"tags-{source.content_hash[:8]}.json"
    lines: list[dict] = json.loads(kept.read_text()) if kept.exists() else []
    for asked in sets:
        if any(line["set"] == asked.name for line in lines):
            continue
        outcomes: dict[str, Outcome] = {}
        for name, options in TERMS.items():
            matrix = count(source, sets, BasisChoice(1500, **options))
            wide = count(source, questions, BasisChoice(analogy_basis, **options))
            outcomes[name] = answer(PresetMethod("modern", matrix, wide), asked)
        line = {"set": asked.name, "score": asked.score, PLAIN: outcomes[PLAIN].score()}
        for name in list(TERMS)[1:]:
            line[name] = bootstrap_difference(outcomes[name], outcomes[PLAIN], samples=1000).to_dict()
        lines.append(line)
        print(line, flush=True)
        kept.write_text(json.dumps(lines, indent=1), encoding="utf-8")
    return lines
