"""What the pages about words, pairs and the model contain, as plain data. These functions run in worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from bagpack._version import __version__
from bagpack.app.state import Library
from bagpack.contexts.concordance import FIELDS, count_by
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.words import complete as complete_word
from bagpack.corpus.words import nearby
from bagpack.errors import StoreError, UsageError
from bagpack.explain.browse import SORTS
from bagpack.explain.lines import PairEvidence, line_dict
from bagpack.explain.pair import sketch_pair
from bagpack.explain.word import sketch_word
from bagpack.learn.model import LinearModel
from bagpack.sheets import table_text
from bagpack.wording import describe_feature, say_evidence, say_feature

Json = dict[str, Any]
Pair = tuple[str, str]

OFFERED = 12  # similar spellings, words and pairs to begin with


# Home --------------------------------------------------------------------------------------------------------------


def home(library: Library) -> Json:
    """What is loaded, and pairs to begin with."""
    corpus = library.background
    if library.examples is None:
        library.examples = _example_pairs(library)
    return {
        "store": library.store_name, "tokens": corpus.tokens, "sentences": corpus.sentences,
        "documents": corpus.documents, "types": corpus.types, "options": corpus.manifest["options"],
        "model": model_facts(library),
        "examples": library.examples, "version": __version__,
    }  # fmt: skip


def warm_up(library: Library) -> None:
    """Load and compile, before the workers are forked, what the first visitor would wait for."""
    for example in home(library)["examples"][:1]:
        w1, w2 = example["w1"], example["w2"]
        pair(library, w1, w2)
        word(library, w1)
        nearby(library.background, f"{w1}xq", 1)
        complete(library, w1[:1])
        for sort in SORTS:
            concordance(library, (w1, w2), 1, 1, sort)
        for feature in ("v12:+betw:of", "v1:pre:the"):
            lines(library, w1, w2, feature, 1)


def _example_pairs(library: Library) -> list[Json]:
    """Pairs that are often seen together: words with a collocate.

    Snippets have only the pairs that were fetched.
    """
    if not isinstance(library.source, Corpus):
        fetched = list(getattr(library.source, "pair_rows", lambda: [])())[:OFFERED]
        return [{"w1": row[0], "w2": row[1]} for row in fetched]
    return [
        {"w1": word, "w2": collocate}
        for word in _content_words(library, OFFERED)
        for collocate in _collocates(library, word)[:1]
    ]


def _collocates(library: Library, word: str) -> list[str]:
    sketch = sketch_word(library.source, word, windows=library.settings.windows)
    return [item.term for pattern in sketch.patterns for item in pattern.words if item.term[0].isalpha()]


def _content_words(library: Library, most: int) -> list[str]:
    """Frequent words, without the most frequent; words with several forms if there are, as content words have."""
    lexicon = library.background.lexicon
    order = np.argsort(-lexicon.counts, kind="stable")[: min(2000, library.background.types)]
    step = max(1, min(25, len(order) // (4 * most)))
    words = [lexicon.keys[int(i)] for i in order[min(len(order) // 4, 300) :: step]]
    words = [word for word in words if word[0].isalpha() and len(word) > 2]
    return ([word for word in words if _is_inflected(library, word)] or words)[:most]


def _is_inflected(library: Library, word: str) -> bool:
    shard = library.background.shards[0]
    key = int(shard.keys.find([word])[0])
    if key < 0:
        return False
    return len({shard.forms[i].casefold() for i in np.flatnonzero(shard.key_of_type == key).tolist()}) > 1


def complete(library: Library, start: str) -> Json:
    """The most frequent words that begin so."""
    return {"words": [asdict(item) for item in complete_word(library.background, start, OFFERED)]}


# Words and pairs ---------------------------------------------------------------------------------------------------


def word(library: Library, name: str) -> Json:
    """A word's sketch; for an unknown word, words with a similar spelling."""
    sketch = sketch_word(library.source, name, windows=library.settings.windows)
    return {
        "sketch": sketch.to_dict(), "near": _near(library, [name] if sketch.unknown else []), "by": library.by,
    }  # fmt: skip


def pair(library: Library, w1: str, w2: str, against: str | None = None) -> Json:
    """A pair's sketch and the model's explanation, also of why it is not another label."""
    evidence = library.evidence(w1, w2)
    sketch = sketch_pair(library.source, w1, w2, windows=library.settings.windows, evidence=evidence)
    why = library.explanation(w1, w2, against)
    return {
        "sketch": sketch.to_dict(), "near": _near(library, sketch.unknown), "explanation": why, "by": library.by,
    }  # fmt: skip


def _near(library: Library, words: Sequence[str]) -> dict[str, list[Json]]:
    return {name: [asdict(item) for item in nearby(library.background, name, OFFERED)] for name in words}


def lines(library: Library, w1: str, w2: str, feature: str, most: int) -> Json:
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
    return {
        "w1": w1, "w2": w2, "feature": feature, "words": describe_feature(feature, w1, w2, mark=""),
        "pattern": said.pattern, "place": said.place,
        "count": found.count, "evidence": say_evidence(feature, found.count, w1, w2),
        "total": found.total, "shown": len(found.lines), "lines": found.line_dicts(),
    }  # fmt: skip


def distribution(library: Library, words: Sequence[str], by: str) -> Json:
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
    return {**found.to_dict(), "by": by, "offered": library.by}


def distribution_csv(data: Json) -> str:
    """The same as CSV."""
    names = ("value", "count", "tokens", "per_million", "low", "high")
    rows = ([row[name] for name in names] for row in data["rows"])
    return table_text([(data["attribute"], *names[1:]), *rows], ",")


# Concordances ------------------------------------------------------------------------------------------------------


def concordance(library: Library, words: Sequence[str], page: int, size: int, sort: str) -> Json:
    """A page of a concordance."""
    browser = library.browser(words)
    found = browser.lines((page - 1) * size, size, sort)
    return {
        "words": list(words), "unknown": list(browser.unknown), "total": found.total, "reachable": found.reachable,
        "page": page, "pages": -(-found.reachable // size), "size": size, "sort": sort, "note": found.note,
        "lines": [line_dict(line) for line in found.lines],
    }  # fmt: skip


def concordance_file(library: Library, words: Sequence[str], sort: str) -> Json:
    """As many lines as a file may have."""
    found = library.browser(words).lines(0, library.limits.download, sort)
    shown = [line.to_dict() for line in found.lines]
    return {
        "words": list(words),
        "total": found.total,
        "shown": len(shown),
        "note": found.note,
        "lines": shown,
    }


def concordance_csv(library: Library, words: Sequence[str], sort: str) -> str:
    """The same as CSV."""
    rows = concordance_file(library, words, sort)["lines"]
    return table_text([FIELDS, *([row[name] for name in FIELDS] for row in rows)], ",")


# Model -------------------------------------------------------------------------------------------------------------


def model_facts(library: Library) -> Json | None:
    """What the model predicts, and from what; None without a model."""
    model = library.model
    if model is None:
        return None
    return {
        "name": library.model_name, "predicts": model.kind, "labels": [str(label) for label in model.classes],
        "condition": model.condition, "preset": model.preset.name, "features": len(model.feature_names()),
        "probabilities": model.calibration is not None,
    }  # fmt: skip


def loaded_model(library: Library) -> LinearModel:
    """The model; an error without one."""
    if library.model is None:
        raise StoreError("no model is loaded; start the explorer with --model")
    return library.model


def model_page(library: Library, top: int) -> Json:
    """The model's labels, scores and strongest features."""
    model = loaded_model(library)
    labels = {str(label): label for label in model.classes} or {"rating": None}
    features = {name: strongest(model, label, top) for name, label in labels.items()}
    manifest = model.manifest
    return {
        "facts": model_facts(library), "scores": dict(manifest.get("scores", {})),
        "settings": {**model.settings, **_counting(model)},
        "trained_on": {
            name: value for name, value in dict(manifest.get("data", {})).items() if name != "path"
        },
        "strongest": {name: found[0] for name, found in features.items()},
        "weakest": {name: found[1] for name, found in features.items()},
    }  # fmt: skip


def strongest(model: LinearModel, label: Any, top: int) -> tuple[list[Json], list[Json]]:
    """The features with the largest weights for a label, and against it."""
    ordered = model.strongest(label, len(model.feature_names()))
    return (
        [_weighted(name, weight) for name, weight in ordered[:top] if weight > 0],
        [_weighted(name, weight) for name, weight in ordered[: -top - 1 : -1] if weight < 0],
    )


def _counting(model: LinearModel) -> Json:
    """How the model's pairs were counted, the windows in one line."""
    counting = model.counting.to_dict() if model.counting else {}
    windows = counting.pop("windows", {})
    return {**counting, "windows": ", ".join(f"{name} {size}" for name, size in windows.items())}


def _weighted(feature: str, weight: float) -> Json:
    said = say_feature(feature)
    return {
        "name": feature, "words": describe_feature(feature, mark=""),
        "pattern": said.pattern, "place": said.place, "weight": weight,
    }  # fmt: skip
