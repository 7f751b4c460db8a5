"""The shapes of the JSON twins, as OpenAPI describes them; sketches are described by their own classes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bagpack.explain.explanation import Explanation
from bagpack.explain.judge import Judged
from bagpack.explain.similar import SimilarPair
from bagpack.explain.sketch import PairSketch, WordSketch


class Problem(BaseModel):
    """What went wrong, in a sentence."""

    error: str


class Line(BaseModel):
    """A line: its segments and the rest of the sentence; `pieces`, joined, are the text as written."""

    pieces: list[str]
    document: str
    order: str
    left: str
    key: str
    between: str
    key2: str
    right: str
    before: str
    after: str
    spans: list[tuple[str, str]] = []


class Completion(BaseModel):
    """A word that begins as asked, and how often it occurs."""

    word: str
    count: int


class Completions(BaseModel):
    """The most frequent words that begin so."""

    words: list[Completion]


class DataEntry(BaseModel):
    """A data set that is loaded."""

    id: str
    name: str
    kind: str
    rows: int
    uploaded: bool


class ModelFacts(BaseModel):
    """What a model predicts, and from what."""

    name: str
    predicts: str
    labels: list[str]
    condition: str
    preset: str
    features: int


class ExamplePair(BaseModel):
    """A pair of the first data set whose words the corpus knows."""

    w1: str
    w2: str


class Home(BaseModel):
    """What is loaded."""

    store: str
    tokens: int
    sentences: int
    documents: int
    types: int
    options: dict[str, Any]
    model: ModelFacts | None
    data: list[DataEntry]
    examples: list[ExamplePair]
    frequent: list[Completion]
    version: str


class WordPage(BaseModel):
    """A word's sketch."""

    sketch: WordSketch


class PairPage(BaseModel):
    """A pair's sketch, and the model's decisions if one is loaded."""

    sketch: PairSketch
    explanation: Explanation | None


class ConcordancePage(BaseModel):
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
    lines: list[Line]


class LinesPage(BaseModel):
    """The lines of a feature: `shown` of `total`. What the `count` counts, if not these lines, `evidence` says."""

    w1: str
    w2: str
    feature: str
    words: str
    pattern: str
    place: str
    count: int
    evidence: str
    total: int
    shown: int
    lines: list[Line]


class ComparePage(BaseModel):
    """Two pairs side by side, and how similar their relations are (over the model's basis)."""

    first: PairPage
    second: PairPage
    shared: dict[str, list[str]]
    likeness: SimilarPair | None


class WeightedFeature(BaseModel):
    """A feature and its weight."""

    name: str
    words: str
    pattern: str
    place: str
    weight: float


class ModelPage(BaseModel):
    """The loaded model: labels, scores of its cross-validation, strongest features for and against."""

    facts: ModelFacts
    scores: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    trained_on: dict[str, Any]
    strongest: dict[str, list[WeightedFeature]]
    weakest: dict[str, list[WeightedFeature]]


class DataPage(BaseModel):
    """A data set: what the corpus knows of it, and what the model says."""

    entry: DataEntry
    coverage: dict[str, Any]
    judged: Judged | None
    notes: list[str]
    at: int | None
    explanation: Explanation | None


class DataList(BaseModel):
    """Data sets that are loaded."""

    data: list[DataEntry]
    upload_bytes: int
    rows: int
