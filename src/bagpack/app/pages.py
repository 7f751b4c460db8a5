"""What the pages contain: a dataclass for each, which is also the JSON twin, and the function that makes it.

The functions run in worker processes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bagpack._version import __version__
from bagpack.app.library import Library
from bagpack.contexts.concordance import FIELDS, Distribution, ValueCount, count_by
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.words import KnownWord, nearby
from bagpack.corpus.words import complete as complete_word
from bagpack.errors import StoreError, UsageError
from bagpack.explain.explanation import Explanation
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
TRAINED = 400  # training pairs that are looked at for the home page
WARM = 100  # rank of the word that is looked up before the first visitor comes


# Home --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelFacts:
    """What a model predicts, and from what; `probabilities` says whether it is calibrated."""

    name: str
    predicts: str
    labels: list[str]
    condition: str
    preset: str
    features: int
    probabilities: bool


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
    model: ModelFacts | None
    examples: list[ExamplePair]
    version: str = __version__


@dataclass(frozen=True)
class Completions:
    """The most frequent words that begin with the given letters."""

    words: list[KnownWord]


def home(library: Library) -> HomePage:
    """The home page."""
    corpus = library.background
    return HomePage(
        library.store_name, corpus.tokens, corpus.sentences, corpus.documents, corpus.types,
        corpus.manifest["options"], None if library.model is None else model_facts(library), examples(library),
    )  # fmt: skip


def examples(library: Library) -> list[ExamplePair]:
    """Pairs to begin with: training pairs that are often seen together, or pairs that were fetched."""
    if not isinstance(library.source, Corpus):
        return [ExamplePair(*pair) for pair in getattr(library.source, "pairs", [])[:OFFERED]]
    return [] if library.model is None else _trained(library, library.model)


def _trained(library: Library, model: LinearModel) -> list[ExamplePair]:
    """Training pairs that a model is sure about and that are often seen together, of each label in turn."""
    kept = model.training
    if kept is None or model.kind == "rating" or not model.classes:
        return []
    pairs = [(kept.names[a], kept.names[b]) for a, b in zip(kept.w1.tolist(), kept.w2.tolist(), strict=True)]
    step = max(1, len(pairs) // TRAINED)
    counts = model.count(pairs[::step], library.source)
    decisions = model.decisions(counts)
    ranked: dict[str, list[tuple[float, ExamplePair]]] = {}
    for k, (w1, w2) in enumerate(counts.pairs):
        label = str(
            model.classes[int(decisions[k].argmax())] if decisions.shape[1] > 1 else model.classes[-1]
        )
        if counts.seen[k] and decisions[k].max() > 0:
            value = float(np.log1p(counts.seen[k]) + decisions[k].max())
            ranked.setdefault(label, []).append((value, ExamplePair(w1, w2, label)))
    columns = [sorted(own, key=lambda item: -item[0]) for own in ranked.values()]
    rows = [own[at][1] for at in range(OFFERED) for own in columns if at < len(own)]
    return rows[:OFFERED]


def complete(library: Library, start: str) -> Completions:
    """The most frequent words that begin so."""
    return Completions(list(complete_word(library.background, start, OFFERED)))


def near(library: Library, words: Sequence[str]) -> Near:
    """Words with a similar spelling."""
    return {name: list(nearby(library.background, name, OFFERED)) for name in words}


def unknown_words(library: Library, words: Sequence[str]) -> Near:
    """The words that the corpus does not contain, each with similar spellings."""
    targets = library.source.resolve(list(words))
    return near(library, [word for word, target in zip(words, targets, strict=True) if target is None])


# Words and pairs ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Similar:
    """A word that is used like another one, and the cosine of their vectors."""

    word: str
    cosine: float


@dataclass(frozen=True)
class WordPage:
    """A word's sketch and similar words; for an unknown word, `near` has words with a similar spelling.

    `by`: see /distribution.json.
    """

    sketch: WordSketch
    similar: list[Similar]
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
    return WordPage(sketch, similar, near(library, [name] if sketch.unknown else []), library.by)


def similar_words(library: Library, name: str) -> list[Similar]:
    """The words that are used most like a word; none before `find` has counted the store's word vectors."""
    if not isinstance(library.source, Corpus) or stored_vectors(library.source.path) is None:
        return []
    found = WordVectors.of(library.source).nearest(name, SIMILAR)
    return [Similar(word, round(cosine, 3)) for word, cosine in found]


def pair(library: Library, w1: str, w2: str) -> PairPage:
    """A pair's page."""
    evidence = library.evidence(w1, w2)
    sketch = sketch_pair(library.source, w1, w2, windows=library.settings.windows, evidence=evidence)
    return PairPage(sketch, near(library, sketch.unknown), library.explanation(w1, w2, evidence), library.by)


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
    """Some lines of a concordance; `reachable` of `total` can be paged to (sorting takes a part of them)."""

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


def concordance(library: Library, words: Sequence[str], page: int, size: int, sort: str) -> ConcordancePage:
    """A page of a concordance."""
    browser = library.browser(words)
    found = browser.lines((page - 1) * size, size, sort)
    return ConcordancePage(
        list(words), list(browser.unknown), found.total, found.reachable, page, -(-found.reachable // size), size,
        sort, found.note, [line_dict(line) for line in found.lines],
    )  # fmt: skip


def concordance_csv(library: Library, words: Sequence[str], sort: str, most: int) -> str:
    """The first lines of a concordance as CSV."""
    rows = [line.to_dict() for line in library.browser(words).lines(0, most, sort).lines]
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
    by, found = _count_by(library, words, by)
    total = sum(row.count for row in found.rows)
    return DistributionPage(
        list(found.words), list(found.unknown), found.attribute, by, library.by, total, list(found.rows)
    )


def distribution_csv(library: Library, words: Sequence[str], by: str) -> tuple[str, str]:
    """The name of the attribute, and the same as CSV."""
    _, found = _count_by(library, words, by)
    return found.attribute, found.to_csv()


def _count_by(library: Library, words: Sequence[str], by: str) -> tuple[str, Distribution]:
    if not library.by:
        raise StoreError(
            "the documents of this corpus have no attributes to count by; see bagpack info STORE"
        )
    by = by or library.by[0]
    if by.partition(":")[0].strip().lower() not in library.background.attributes:
        known = ", ".join(library.background.attributes)
        raise UsageError(f"the documents have no attribute {by}; they have {known}")
    return by, count_by(library.background, words, by, library.settings.windows)


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
    """The loaded model: labels, scores of its cross-validation, strongest features, training pairs."""

    facts: ModelFacts
    scores: dict[str, Json]
    settings: Json
    trained_on: Json
    strongest: dict[str, list[WeightedFeature]] = field(default_factory=dict)
    examples: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def model_facts(library: Library) -> ModelFacts:
    """What the model predicts, and from what."""
    model = library.loaded_model
    return ModelFacts(
        library.model_name, model.kind, [str(label) for label in model.classes], model.condition,
        model.preset.name, len(model.feature_names()), model.calibration is not None,
    )  # fmt: skip


def model(library: Library, top: int) -> ModelPage:
    """The model's page."""
    loaded = library.loaded_model
    counting = loaded.counting.to_dict()
    windows = ", ".join(f"{name} {size}" for name, size in counting.pop("windows", {}).items())
    data = dict(loaded.manifest.get("data", {}))
    data.pop("path", None)
    strongest, examples = {}, {}
    for label in loaded.classes or (None,):
        name = "rating" if label is None else str(label)
        strongest[name] = [_weighted(*item) for item in loaded.strongest(label, top) if item[1] > 0]
        examples[name] = [] if label is None else _training_pairs(loaded, label)
    settings = {**loaded.settings, **counting, "windows": windows}
    return ModelPage(
        model_facts(library), dict(loaded.manifest.get("scores", {})), settings, data, strongest, examples
    )  # fmt: skip


def _training_pairs(model: LinearModel, label: str | int) -> list[tuple[str, str]]:
    """Some training pairs of a label: those with a positive dual coefficient."""
    kept = model.training
    if kept is None:
        return []
    output, sign = model.output_of(label)
    rows = np.flatnonzero(sign * kept.coef[:, output] > 0)[:OFFERED].tolist()
    return [(kept.names[kept.w1[k]], kept.names[kept.w2[k]]) for k in rows]


def _weighted(name: str, weight: float) -> WeightedFeature:
    said = say_feature(name)
    return WeightedFeature(name, said.pattern, said.place, weight)


def warm_up(library: Library) -> None:
    """Load the kernels that the first visitor would wait for."""
    lexicon = library.background.lexicon
    words = [lexicon.keys[k] for k in np.argsort(-lexicon.counts, kind="stable")[:WARM][-2:].tolist()]
    if len(words) == 2 and isinstance(library.source, Corpus):
        pair(library, words[0], words[1])
        word(library, words[0])
        concordance(library, words, 1, 1, "left")
