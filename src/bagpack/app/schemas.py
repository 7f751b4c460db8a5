"""The content of the JSON responses. FastAPI validates every response against these, and /openapi.json lists them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from bagpack.app.teaching import Point
from bagpack.contexts.concordance import ValueCount
from bagpack.corpus.words import KnownWord
from bagpack.explain.explanation import Explanation
from bagpack.explain.pair import PairSketch
from bagpack.explain.word import WordSketch


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
    """A pair to begin with."""

    w1: str
    w2: str


class Home(Schema):
    """What is loaded."""

    store: str
    tokens: int
    sentences: int
    documents: int
    types: int
    options: dict[str, Any]
    model: ModelFacts | None
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


# Teaching ----------------------------------------------------------------------------------------------------------


class TeachLine(Schema):
    """A sentence; the texts of `spans`, joined, are the sentence, each with a mark: of a target, of a term, or none."""

    document: str
    text: str
    spans: list[tuple[str, str]]


class TeachQuestion(Schema):
    """A candidate, its score, the score as a share of the best one's, and its sentences."""

    w1: str
    w2: str
    score: float
    share: float
    together: int
    lines: list[TeachLine] = []


class TeachPage(Schema):
    """The next questions, and how far teaching has come.

    `examples` are the positives and negatives that are trained on; `held_out` is the average precision on the answers
    that are not, and `kept` whether the last model was kept because a new one was worse on them.
    """

    label: str
    labels: list[str]
    file: str
    annotator: str
    questions: list[TeachQuestion]
    answers: int
    yes: int
    skipped: int
    examples: tuple[int, int]
    precision: float | None
    held_out: float | None
    kept: bool
    training: bool
    undo: bool
    problem: str
    notes: list[str]
    curve: list[Point]
