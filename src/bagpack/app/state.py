"""What the explorer has loaded: a store, perhaps a model, data sets named at the start and uploads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from bagpack.app.limits import Limits
from bagpack.basis import Basis
from bagpack.contexts.source import ContextSource, CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import WHERE, Corpus
from bagpack.corpus.text.numbers import number_of
from bagpack.errors import InputError, StoreError
from bagpack.explain.browse import Browser
from bagpack.explain.collocates import background_of
from bagpack.explain.explanation import Explanation, explain_matrix
from bagpack.find.teaching import Teaching
from bagpack.learn.model import LinearModel
from bagpack.tasks import Dataset, PairList, read_pairs
from bagpack.tasks.anyfile import with_labels_or_scores
from bagpack.tasks.textfile import TextFile, decode_text, read_text_file
from bagpack.vectors.matrix import BlockMatrix

T = TypeVar("T")

KEPT_BROWSERS = 8
KEPT_DATASETS = 8
SLOW_COUNT = 200_000  # occurrences of the rarer word of a pair that is computed in a lane of its own
EXPLANATION = TypeAdapter(Explanation)
FEW_STEPS = 5  # a chart with fewer bars says little, so that a smaller step is offered first
STEPS = (1, 10, 100, 1_000, 10_000)
MOST_STEPS, MOST_VALUES = 100, 100  # of an attribute, so that its page can be read
LARGE = 300_000  # co-occurrences; a concordance of more is not kept open


class Cache:
    """The last few results of a worker, by question."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: dict[Hashable, Any] = {}  # the last used at the end

    def get(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool] = lambda _: True) -> T:
        """The result that is kept, or a new one."""
        made: T = self._items.pop(key) if key in self._items else make()
        if keep(made):
            self._items[key] = made
            if len(self._items) > self._size:
                del self._items[next(iter(self._items))]
        return made


def chart_steps(spread: float) -> list[int]:
    """Two steps to count numbers by, for example years: the one that gives a readable number of bars first.

    >>> chart_steps(119)
    [10, 100]
    >>> chart_steps(60)
    [10, 1]
    """
    steps = [step for step in STEPS if 2 <= spread / step + 1 <= MOST_STEPS][:2]
    return sorted(steps, key=lambda step: (spread / step + 1 < FEW_STEPS, -step))


@dataclass(frozen=True)
class DataEntry:
    """What lists show of a data set; its id follows from its content."""

    id: str
    name: str
    kind: str  # relations, ratings or pairs
    rows: int
    uploaded: bool


@dataclass(frozen=True)
class LoadedData:
    """A data set that was read."""

    entry: DataEntry
    data: Dataset | PairList
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> list[str] | None:
        """The label of each row, if it has labels."""
        return list(self.data.labels) if isinstance(self.data, Dataset) and self.data.labels else None


@dataclass(frozen=True)
class Upload:
    """An uploaded file as it came: the web server keeps these bytes and sends them to the worker that needs them."""

    name: str
    content: bytes


def read_upload(upload: Upload, limits: Limits) -> LoadedData:
    """A data set from the bytes of a file; never uses the disk, so compressed files are refused."""
    # Only for messages: a name may hold anything, and must not look like a path of this machine.
    shown = Path(upload.name.replace("\\", "/")).name[:100] or "upload.tsv"
    file = decode_text(shown, upload.content, "save the file as UTF-8 text, uncompressed")
    return load_data(replace(file, uploaded=True), shown, limits, uploaded=True)


def load_data(file: TextFile, name: str, limits: Limits, uploaded: bool = False) -> LoadedData:
    """A data set with labels or scores, or bare pairs."""
    data = with_labels_or_scores(file, read_pairs(file))
    if len(data) > limits.rows:
        raise InputError(
            f"{name} has {len(data):,} rows, and the explorer takes {limits.rows:,}; use bagpack check and predict"
        )
    labels = len(set(data.labels)) if isinstance(data, Dataset) and data.labels else 0
    if labels > limits.labels:
        raise InputError(
            f"{name} has {labels:,} different labels, and the explorer takes {limits.labels:,}; use bagpack check"
        )
    content = "\n".join(file.lines)
    key = hashlib.sha256(f"{name}\n{content}".encode()).hexdigest()[:16]
    kind = data.kind if isinstance(data, Dataset) else "pairs"
    notes = (file.sheet.not_read,) if file.sheet is not None and file.sheet.not_read else ()
    return LoadedData(DataEntry(key, name, kind, len(data), uploaded), data, notes)


class Library:
    """A source, perhaps a model, and data sets: opened before the workers are forked, and the same in all of them."""

    def __init__(
        self, source: ContextSource, model: LinearModel | None = None, data: Iterable[str] = (),
        limits: Limits | None = None, model_name: str = "",
    ) -> None:  # fmt: skip
        self.source = source
        self.model = model
        self.model_name = model_name
        self.limits = limits or Limits()
        self.basis: Basis | None = model.basis if model else None
        self.settings = (model and model.counting) or CountSettings()
        self.browsers = Cache(KEPT_BROWSERS)
        self.datasets = Cache(KEPT_DATASETS)
        self.teaching: Teaching | None = None  # of `bagpack teach`
        self.examples: list[dict[str, Any]] | None = None  # of the home page; chosen once
        self.data: dict[str, LoadedData] = {}
        for path in data:
            named_limits = replace(self.limits, rows=10 * self.limits.rows)
            loaded = load_data(read_text_file(path), Path(path).name, named_limits)
            self.data[loaded.entry.id] = loaded

    @property
    def store_name(self) -> str:
        """The name of the store without its directory; of a subcorpus, with the condition."""
        path, where, condition = self.source.name.partition(WHERE)
        return f"{Path(path).name}{where}{condition}"

    @cached_property
    def background(self) -> Corpus:
        """The corpus whose numbers are shown as the corpus's."""
        return background_of(self.source)

    @cached_property
    def by(self) -> list[str]:
        """Attributes of documents that counts can be shown by: years, other numbers (both in steps), then texts."""
        if not isinstance(self.source, CorpusSource):
            return []
        numbers, texts = [], []
        for name, values in self.background.attributes.items():
            found = [number_of(value) for value in values]
            known = [number for number in found if number is not None]
            if len(values) > 1 and len(known) == len(found):
                spread = max(known) - min(known)
                numbers += [f"{name}:{step}" if step > 1 else name for step in chart_steps(spread)]
            elif 1 < len(values) <= MOST_VALUES:
                texts.append(name)
        return [*sorted(numbers, key=lambda name: "year" not in name), *texts]

    def is_slow(self, *words: str) -> bool:
        """Whether a pair's words are both so frequent that finding their co-occurrences takes long."""
        return len(words) > 1 and min(map(self.background.count, words)) > SLOW_COUNT

    def matrix(self, pairs: Sequence[tuple[str, str]]) -> BlockMatrix:
        """The pairs counted as the model's were."""
        assert self.basis is not None
        return BlockMatrix.count(self.source, list(pairs), self.basis, self.settings)

    def explanation(self, w1: str, w2: str, against: str | None = None) -> dict[str, Any] | None:
        """Why the model decides as it does (and not for the label `against`), without lines; None without a model."""
        if self.model is None:
            return None
        found = explain_matrix(
            self.model, self.source, self.matrix([(w1, w2)]), against=against, top=8, lines=0, in_full=False
        )
        plain: dict[str, Any] = EXPLANATION.dump_python(found)  # the same as to_dict(), several times faster
        return plain

    def browser(self, words: Sequence[str]) -> Browser:
        """A concordance to page through."""
        return self.browsers.get(
            tuple(words),
            lambda: Browser(self.source, words, self.settings.windows),
            lambda made: len(made.words) == 1 or made.total < LARGE,
        )


class Uploads:
    """Uploaded files, in the web server's memory; the oldest is dropped when there are too many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._items: dict[str, tuple[DataEntry, Upload]] = {}

    def add(self, entry: DataEntry, upload: Upload) -> None:
        """Keep an upload."""
        self._items[entry.id] = entry, upload
        if len(self._items) > self._most:
            del self._items[next(iter(self._items))]

    def get(self, key: str) -> Upload:
        """An upload by its id."""
        if key not in self._items:
            raise StoreError("there is no such data set here; uploads are forgotten when the explorer ends")
        return self._items[key][1]

    def entries(self) -> list[DataEntry]:
        """All uploads, the oldest first."""
        return [entry for entry, _ in self._items.values()]


def open_library(
    store: str, model: str | None = None, data: Sequence[str] = (), limits: Limits | None = None,
    any_store: bool = False,
) -> Library:  # fmt: skip
    """Open everything; whatever does not fit is an error now, not for the first visitor."""
    from bagpack.learn import load_model
    from bagpack.sources import open_source

    opened = load_model(model) if model else None
    source = opened.open_source(store, any_store) if opened else open_source(store)
    return Library(source, opened, data, limits, Path(model).name if model else "")
