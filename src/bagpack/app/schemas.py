"""The content of the JSON responses. FastAPI validates every response against these, and /openapi.json lists them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.dataclasses import dataclass

from bagpack.app.state import DataEntry
from bagpack.app.teaching import Point
from bagpack.contexts.by_attribute import ValueCount
from bagpack.corpus.store.suggest import KnownWord
from bagpack.explain.explanation import Explanation
from bagpack.explain.judge import JudgedRow
from bagpack.explain.similar import SimilarPair
from bagpack.explain.sketch import PairSketch
from bagpack.explain.words import WordSketch


class Schema(BaseModel):
    """Exactly these keys: a key that is not declared here is an error, not silently dropped."""

    model_config = ConfigDict(extra="forbid")


class Problem(Schema):
    """What went wrong, in a sentence."""

    error: str


class FileLine(Schema):
    """A line of a downloaded concordance: its segments and the rest of the sentence."""

    document: str
    order: str
    left: str
    key: str
    between: str
    key2: str
    right: str
    before: str
    after: str


class Line(FileLine):
    """A line on a page. `pieces`, joined, are the text as written, and so are the texts of `spans`, each with a mark:
    of a target, of a term, or none.
    """

    pieces: list[str]
    spans: list[tuple[str, str]] = []


class Completions(Schema):
    """The most frequent words that begin with the given letters."""

    words: list[KnownWord]


class ModelFacts(Schema):
    """What a model predicts, and from what; `probabilities` says whether it is calibrated."""

    name: str
    predicts: str
    labels: list[str]
    condition: str
    preset: str
    features: int
    probabilities: bool


class ExamplePair(Schema):
    """A pair to begin with, and its label in the first data set, if it has one."""

    w1: str
    w2: str
    label: str


class Home(Schema):
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
    version: str


class WordPage(Schema):
    """A word's sketch; for an unknown word, `near` has words with a similar spelling. `by`: see /distribution.json."""

    sketch: WordSketch
    near: dict[str, list[KnownWord]]
    by: list[str]


class PairPage(Schema):
    """A pair's sketch, and the model's decisions if one is loaded. `by`: see /distribution.json."""

    sketch: PairSketch
    near: dict[str, list[KnownWord]]
    explanation: Explanation | None
    by: list[str]


class DistributionPage(Schema):
    """How often a word or a pair occurs by an attribute of the documents; `offered` are values of `by` to choose."""

    words: list[str]
    unknown: list[str]
    attribute: str
    by: str
    offered: list[str]
    total: int
    rows: list[ValueCount]


class ConcordancePage(Schema):
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


class ConcordanceFile(Schema):
    """The lines of a concordance for a file: `shown` of `total`."""

    words: list[str]
    total: int
    shown: int
    note: str
    lines: list[FileLine]


class LinesPage(Schema):
    """The lines of a feature: `shown` of `total`. `evidence` says what `count` counts, if not these lines."""

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


class ComparePage(Schema):
    """Two pairs, the keywords they share, and how similar their relations are (over the model's basis)."""

    first: PairPage
    second: PairPage
    shared: dict[str, list[str]]
    similarity: SimilarPair | None


class WeightedFeature(Schema):
    """A feature and its weight."""

    name: str
    words: str
    pattern: str
    place: str
    weight: float


class ModelPage(Schema):
    """The loaded model: labels, scores of its cross-validation, strongest features for and against."""

    facts: ModelFacts
    scores: dict[str, dict[str, Any]]
    settings: dict[str, Any]
    trained_on: dict[str, Any]
    strongest: dict[str, list[WeightedFeature]]
    weakest: dict[str, list[WeightedFeature]]


@dataclass(config=ConfigDict(extra="forbid"), frozen=True)
class PredictedRow(JudgedRow):
    """A row of a data set with the model's answer.

    `gap`: by how much a wrong label beats the right one (a decision value), or the difference from the rating.
    `trained`: the pair is training data of the model.
    """

    probability: float | None
    trained: bool


class LabelScores(Schema):
    """How well one label is predicted."""

    rows: int
    predicted: int
    precision: float
    recall: float


class Confusion(Schema):
    """How many rows of one label got another."""

    given: str
    predicted: str
    rows: int


class Predictions(Schema):
    """The model's answers: its scores, and a page of the rows that match the filter (`matching` of `total`)."""

    kind: str
    scores: dict[str, float]
    per_label: dict[str, LabelScores]
    confused: list[Confusion]
    errors: int
    total: int
    matching: int
    page: int
    pages: int
    size: int
    sort: str
    descending: bool
    show: str
    label: str
    q: str
    rows: list[PredictedRow]


class DatasetPage(Schema):
    """A data set: its coverage in the corpus and, with a model, predictions."""

    entry: DataEntry
    coverage: dict[str, Any]
    notes: list[str]
    predictions: Predictions | None


class ErrorPage(Schema):
    """One of the rows that the model gets wrong; `at` counts from the worst, which is 0."""

    entry: DataEntry
    kind: str
    at: int
    errors: int
    row: PredictedRow
    explanation: Explanation | None


class DatasetList(Schema):
    """Data sets that are loaded, and the limits of an upload."""

    data: list[DataEntry]
    upload_bytes: int
    rows: int


@dataclass(config=ConfigDict(extra="forbid"), frozen=True)
class LabelRow(PredictedRow):
    """A row on the page of a label: `probability` is that of this label, `rival` the most likely other label."""

    rival: str


class LabelPage(Schema):
    """A label: features for and against it; of `data`, pairs typical of it and pairs near the decision boundary."""

    label: str
    model: ModelFacts
    strongest: list[WeightedFeature]
    weakest: list[WeightedFeature]
    data: DataEntry | None
    typical: list[LabelRow]
    uncertain: list[LabelRow]


# Teaching ----------------------------------------------------------------------------------------------------------


class TeachLine(Schema):
    """A sentence; the texts of `spans`, joined, are the sentence, each with a mark: of a target, of a term, or none."""

    document: str
    text: str
    spans: list[tuple[str, str]]


class TeachQuestion(Schema):
    """A candidate, its probability (null if there are too few examples), its decision value, and its sentences."""

    w1: str
    w2: str
    probability: float | None
    score: float
    together: int
    lines: list[TeachLine] = []


class TeachPage(Schema):
    """The next questions, and how far teaching has come. `examples` are the positives and negatives of the file."""

    label: str
    labels: list[str]
    file: str
    annotator: str
    strategy: str
    strategies: list[str]
    questions: list[TeachQuestion]
    answers: int
    yes: int
    skipped: int
    examples: tuple[int, int]
    precision: float | None
    f1: float | None
    training: bool
    undo: bool
    problem: str
    notes: list[str]
    curve: list[Point]
