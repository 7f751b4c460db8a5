"""What the pages contain: a dataclass for each, which is also the JSON twin, and the function that makes it.

The functions run in worker processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bagpack._version import __version__
from bagpack.app.library import Library
from bagpack.contexts.concordance import FIELDS
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.words import KnownWord, nearby
from bagpack.corpus.words import complete as complete_word
from bagpack.errors import StoreError, UsageError
from bagpack.explain.distribution import ValueCount, count_by
from bagpack.explain.explanation import Explanation, explain_pair
from bagpack.explain.lines import PairEvidence, line_dict
from bagpack.explain.pair import PairSketch, sketch_pair
from bagpack.explain.word import WordSketch, sketch_word
from bagpack.learn.model import LinearModel
from bagpack.sheets import table_text
from bagpack.vectors.words import WordVectors, stored_vectors
from bagpack.wording import say_evidence, say_feature

Json = dict[str, Any]
Near = dict[str, list[KnownWord]]

OFFERED = 12  # similar spellings, words and pairs to begin with
SIMILAR = 15
REASONS = 8
TRAINED = 400  # training pairs that are looked at for the home page
WARM = 100  # rank of the word that is looked up before the first visitor comes
DOWNLOADED = 5_000  # lines of a concordance in one file


class EmptyPageError(StoreError):
    """A page has nothing to show yet: JSON gets this sentence, and the page itself says what to do."""


# Home --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExamplePair:
    """A pair to begin with, and its label if a model was trained on it."""

    w1: str
    w2: str
    label: str = ""


@dataclass(frozen=True)
class HomePage:
    """What is loaded, and pairs to begin with."""

    store: str
    tokens: int
    sentences: int
    documents: int
    types: int
    options: Json
    model: str
    labels: list[str]
    examples: list[ExamplePair]
    version: str = __version__


def home(library: Library) -> HomePage:
    """The home page."""
    corpus = library.background
    return HomePage(
        library.store_name, corpus.tokens, corpus.sentences, corpus.documents, corpus.types,
        corpus.manifest["options"], library.model_name, library.labels, examples(library),
    )  # fmt: skip


def examples(library: Library) -> list[ExamplePair]:
    """Pairs to begin with: those that were fetched, or training pairs of each label in turn.

    Of the training pairs, those that the model is sure about and that are often seen together.
    """
    if not isinstance(library.source, Corpus):
        return [ExamplePair(*pair) for pair in getattr(library.source, "pairs", [])[:OFFERED]]
    model = library.model
    if model is None or not model.classes:
        return []
    kept = model.training
    pairs = [(kept.names[a], kept.names[b]) for a, b in zip(kept.w1.tolist(), kept.w2.tolist(), strict=True)]
    counts = model.count(pairs[:: max(1, len(pairs) // TRAINED)], library.source)
    decisions = model.decisions(counts)
    ranked: dict[str, list[tuple[float, ExamplePair]]] = {}
    for k, (w1, w2) in enumerate(counts.pairs):
        label = str(model.classes[int(decisions[k].argmax()) if decisions.shape[1] > 1 else -1])
        if counts.seen[k] and decisions[k].max() > 0:
            value = float(np.log1p(counts.seen[k]) + decisions[k].max())
            ranked.setdefault(label, []).append((value, ExamplePair(w1, w2, label)))
    columns = [sorted(own, key=lambda item: -item[0]) for own in ranked.values()]
    return [own[at][1] for at in range(OFFERED) for own in columns if at < len(own)][:OFFERED]


def complete(library: Library, start: str) -> list[KnownWord]:
    """The most frequent words that begin so."""
    return list(complete_word(library.background, start, OFFERED))


def unknown_words(library: Library, words: Sequence[str]) -> Near:
    """The words that the corpus does not contain, each with similar spellings."""
    targets = zip(words, library.source.resolve(list(words)), strict=True)
    return {
        word: list(nearby(library.background, word, OFFERED)) for word, target in targets if target is None
    }


# Words and pairs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WordPage:
    """A word's sketch, and similar words with the cosine of their vectors; `near` has spellings like an unknown word.

    `by`: see /distribution.json.
    """

    sketch: WordSketch
    similar: list[tuple[str, float]]
    near: Near
    by: list[str]


@dataclass(frozen=True)
class PairPage:
    """A pair's sketch, and the model's decisions if one is loaded. `by`: see /distribution.json."""

    sketch: PairSketch
    near: Near
    explanation: Explanation | None
    by: list[str]


def word(library: Library, name: str) -> WordPage:
    """A word's page."""
    sketch = sketch_word(library.source, name, windows=library.settings.windows)
    similar = [] if sketch.unknown else similar_words(library, name)
    return WordPage(sketch, similar, unknown_words(library, [name]), library.by)


def similar_words(library: Library, name: str) -> list[tuple[str, float]]:
    """The words that are used most like a word; none before `find` has counted the store's word vectors."""
    if not isinstance(library.source, Corpus) or stored_vectors(library.source.path) is None:
        return []
    found = WordVectors.of(library.source).nearest(name, SIMILAR)
    return [(word, round(cosine, 3)) for word, cosine in found]


def pair(library: Library, w1: str, w2: str, features: bool = False) -> PairPage:
    """A pair's page; ``features`` takes as long as the rest of it."""
    evidence = library.evidence(w1, w2)
    sketch = sketch_pair(library.source, w1, w2, windows=library.settings.windows, evidence=evidence)
    why = None
    if library.model is not None:
        why = explain_pair(
            library.model, library.source, w1, w2, top=REASONS, lines=0, in_full=False, features=features,
            evidence=evidence,
        )  # fmt: skip
    return PairPage(sketch, unknown_words(library, [w1, w2]), why, library.by)


@dataclass(frozen=True)
class LinesPage:
    """The lines of a feature: `shown` of `total`. `evidence` says what `count` counts, if not these lines."""

    w1: str
    w2: str
    feature: str
    pattern: str
    place: str
    count: int
    evidence: str
    total: int
    shown: int
    lines: list[Json]


def lines(library: Library, w1: str, w2: str, feature: str, most: int) -> LinesPage:
    """The contexts that were counted for a feature."""
    first, second = library.source.resolve([w1, w2])
    block = feature.partition(":")[0]
    # The contexts of one word can be shown even if the other word is unknown.
    if block == "v1":
        second = second or first
    elif block == "v2":
        first = first or second
    if first is None or second is None:
        raise StoreError(f"the corpus does not contain {w1 if first is None else w2}")
    evidence = library.evidence(w1, w2) or PairEvidence(library.source, first, second, library.settings)
    found = evidence.lines(feature, most)
    said = say_feature(feature, w1, w2)
    return LinesPage(
        w1, w2, feature, said.pattern, said.place, found.count, say_evidence(feature, found.count, w1, w2),
        found.total, len(found.lines), found.line_dicts(),
    )  # fmt: skip


# Concordances and distributions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConcordancePage:
    """Some lines of a concordance; `reachable` of `total` can be paged to (sorting takes a part of them).

    `downloadable` are in its CSV file. `by`: see /distribution.json.
    """

    words: list[str]
    unknown: list[str]
    total: int
    reachable: int
    page: int
    pages: int
    size: int
    sort: str
    note: str
    lines: list[Json]
    downloadable: int
    by: list[str]


def concordance(library: Library, words: Sequence[str], page: int, size: int, sort: str) -> ConcordancePage:
    """A page of a concordance."""
    browser = library.browser(words)
    found = browser.lines((page - 1) * size, size, sort)
    return ConcordancePage(
        list(words), list(browser.unknown), found.total, found.reachable, page, -(-found.reachable // size), size,
        sort, found.note, [line_dict(line) for line in found.lines], min(found.reachable, DOWNLOADED), library.by,
    )  # fmt: skip


def concordance_csv(library: Library, words: Sequence[str], sort: str) -> str:
    """The first lines of a concordance as CSV."""
    rows = [line.to_dict() for line in library.browser(words).lines(0, DOWNLOADED, sort).lines]
    return table_text([FIELDS, *([row[name] for name in FIELDS] for row in rows)], ",")


@dataclass(frozen=True)
class DistributionPage:
    """How often a word or a pair occurs by an attribute of the documents; `offered` are values of `by` to choose."""

    words: list[str]
    unknown: list[str]
    attribute: str
    by: str
    offered: list[str]
    total: int
    rows: list[ValueCount]


def distribution(library: Library, words: Sequence[str], by: str) -> DistributionPage:
    """How often a word or a pair occurs by an attribute of the documents."""
    if not library.by:
        raise StoreError(
            "the documents of this corpus have no attributes to count by; see bagpack info STORE"
        )
    by = by or library.by[0]
    if by.partition(":")[0].strip().lower() not in library.background.attributes:
        known = ", ".join(library.background.attributes)
        raise UsageError(f"the documents have no attribute {by}; they have {known}")
    found = count_by(library.background, words, by, library.settings.windows)
    total = sum(row.count for row in found.rows)
    return DistributionPage(
        list(found.words), list(found.unknown), found.attribute, by, library.by, total, list(found.rows)
    )


# Model -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WeightedFeature:
    """A feature and its weight."""

    name: str
    pattern: str
    place: str
    weight: float


@dataclass(frozen=True)
class ModelPage:
    """The loaded model: its cross-validated scores, and for each label the strongest features and training pairs."""

    name: str
    labels: list[str]
    condition: str
    preset: str
    features: int
    scores: dict[str, Json]
    strongest: dict[str, list[WeightedFeature]]
    examples: dict[str, list[tuple[str, str]]]


def model(library: Library, top: int) -> ModelPage:
    """The model's page."""
    loaded = library.model
    if loaded is None:
        raise EmptyPageError("no model is loaded; start the explorer with --model")
    strongest, examples = {}, {}
    for label in loaded.classes or (None,):
        name = "rating" if label is None else str(label)
        strongest[name] = [
            WeightedFeature(feature, (said := say_feature(feature)).pattern, said.place, weight)
            for feature, weight in loaded.strongest(label, top)
            if weight > 0
        ]
        examples[name] = [] if label is None else _training_pairs(loaded, label)
    return ModelPage(
        library.model_name, library.labels, loaded.condition, loaded.preset.name, len(loaded.feature_names()),
        dict(loaded.manifest.get("scores", {})), strongest, examples,
    )  # fmt: skip


def _training_pairs(model: LinearModel, label: str | int) -> list[tuple[str, str]]:
    """Some training pairs of a label: those with a positive dual coefficient."""
    kept = model.training
    output, sign = model.output_of(label)
    rows = np.flatnonzero(sign * kept.coef[:, output] > 0)[:OFFERED].tolist()
    return [(kept.names[kept.w1[k]], kept.names[kept.w2[k]]) for k in rows]


def warm_up(library: Library) -> None:
    """Load the kernels that the first visitor would wait for; where they are not compiled yet, pages wait for that."""
    home(library)
    lexicon = library.background.lexicon
    words = [lexicon.keys[k] for k in np.argsort(-lexicon.counts, kind="stable")[:WARM][-2:].tolist()]
    if len(words) == 2 and isinstance(library.source, Corpus):
        pair(library, words[0], words[1])
        word(library, words[0])
        concordance(library, words, 1, 1, "left")
