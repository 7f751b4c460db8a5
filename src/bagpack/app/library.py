"""What is loaded, and the questions pages ask of it. Nothing is computed here: it is asked of `explain` and kept."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from bagpack.app.limits import Limits
from bagpack.basis import Basis
from bagpack.contexts.source import ContextSource, CorpusSource
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.suggest import complete, nearby
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.explain.browse import SORTS, Browser, Lines
from bagpack.explain.explanation import Explanation, explain_matrix
from bagpack.explain.judge import Judged, count_in_steps, judge
from bagpack.explain.lines import FeatureLines, PairEvidence
from bagpack.explain.similar import SimilarPair, rank_similar
from bagpack.explain.sketch import PairSketch, WordSketch, background_of, sketch_pair, sketch_word
from bagpack.explain.telling import Tick, no_tick
from bagpack.learn.model import LinearModel
from bagpack.tasks import Dataset, PairList, read_pairs
from bagpack.tasks.anyfile import with_labels_or_scores
from bagpack.tasks.textfile import TextFile, decode_text, read_text_file
from bagpack.vectors.coverage import coverage
from bagpack.vectors.matrix import BlockMatrix

T = TypeVar("T")

KEPT = 256  # answers
KEPT_BROWSERS = 24
NEAR = 12  # words offered instead of an unknown one
SLOW = 200_000  # occurrences of the rarer word
LARGE = 300_000  # couples: a concordance of more is not kept open


class Shelf:
    """The last few answers, by question; safe to use from many threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool] = lambda _: True) -> T:
        """The answer that is kept, or a new one; two visitors who ask at once may both have it made."""
        with self._lock:
            if key in self._items:
                self._items.move_to_end(key)
                return cast(T, self._items[key])
        made = make()
        if keep(made):
            with self._lock:
                self._items[key] = made
                while len(self._items) > self._size:
                    self._items.popitem(last=False)
        return made


@dataclass(frozen=True)
class LoadedData:
    """A data set, named on the command line or uploaded; its id follows from its content."""

    id: str
    name: str
    data: Dataset | PairList
    uploaded: bool

    @property
    def labels(self) -> list[str] | None:
        """The rows' labels, if that is what it holds."""
        return list(self.data.labels) if isinstance(self.data, Dataset) and self.data.labels else None

    @property
    def kind(self) -> str:
        """relations, ratings or pairs."""
        return self.data.kind if isinstance(self.data, Dataset) else "pairs"


def read_upload(name: str, content: bytes, limits: Limits) -> LoadedData:
    """A data set from the bytes of a file; never touches the disk, so compressed files are not opened."""
    # Only for messages: a name may hold anything, and must not look like a path of this machine.
    shown = Path(name.replace("\\", "/")).name[:100] or "upload.tsv"
    file = decode_text(shown, content, "save the file as UTF-8 text, uncompressed")
    return load_data(replace(file, uploaded=True), shown, limits, uploaded=True)


def load_data(file: TextFile, name: str, limits: Limits, uploaded: bool = False) -> LoadedData:
    """A data set with labels or scores, or bare pairs."""
    data = with_labels_or_scores(file, read_pairs(file))
    if len(data) > limits.rows:
        raise InputError(
            f"{name} has {len(data):,} rows, and the explorer takes {limits.rows:,}; use bagpack check and predict"
        )
    content = "\n".join(file.lines)
    return LoadedData(hashlib.sha256(f"{name}\n{content}".encode()).hexdigest()[:16], name, data, uploaded)


class Library:
    """A source, perhaps a model, and data sets."""

    def __init__(
        self, source: ContextSource, model: LinearModel | None = None, data: Iterable[str] = (),
        limits: Limits | None = None, model_name: str = "",
    ) -> None:  # fmt: skip
        self.source = source
        self.model = model
        self.model_name = model_name
        self.limits = limits or Limits()
        self.settings = CountSettings()
        self.basis: Basis | None = None
        if model is not None:
            self.basis = model.basis
            self.settings = model.counting or CountSettings()
        self._answers = Shelf(KEPT)
        self._browsers = Shelf(KEPT_BROWSERS)
        self._lock = threading.Lock()
        self.data: OrderedDict[str, LoadedData] = OrderedDict()
        for path in data:
            loaded = load_data(
                read_text_file(path), Path(path).name, replace(self.limits, rows=10 * self.limits.rows)
            )
            self.data[loaded.id] = loaded

    @cached_property
    def background(self) -> Corpus:
        """The corpus whose numbers are shown as the corpus's."""
        return background_of(self.source)

    def warm_up(self) -> None:
        """Load what the first visitor would wait for: the kernels, by asking for a pair of fairly frequent words."""
        lexicon = self.background.lexicon
        if not len(lexicon.keys) or not isinstance(self.source, CorpusSource):
            return
        order = np.argsort(-lexicon.counts, kind="stable")
        w1, w2 = (lexicon.keys[int(order[min(rank, len(order) - 1)])] for rank in (1000, 1200))
        self.pair(w1, w2, no_tick)
        self.word(w1, no_tick)
        for sort in SORTS:
            self.browser([w1, w2], no_tick).lines(0, 1, sort)
        self.explanation(w1, w2, no_tick)
        self.feature_lines(w1, w2, "v12:+betw:of", 1)
        self.feature_lines(w1, w2, "v1:pre:the", 1)

    def frequent(self, most: int = 12) -> list[dict[str, Any]]:
        """A few words to begin with: frequent, but none of the very commonest, and words of content if there are."""
        return self._answers.get(("frequent", most), lambda: self._frequent(most))

    def _frequent(self, most: int) -> list[dict[str, Any]]:
        lexicon = self.background.lexicon
        order = np.argsort(-lexicon.counts, kind="stable")[:2000]
        step = max(1, min(25, len(order) // (4 * most)))
        words = [lexicon.keys[int(i)] for i in order[min(len(order) // 4, 300) :: step]]
        words = [word for word in words if word.isalpha() and len(word) > 2]
        chosen = [word for word in words if self._is_inflected(word)] or words
        return [{"word": word, "count": self.background.count(word)} for word in chosen[:most]]

    def _is_inflected(self, word: str) -> bool:
        """Whether the first shard has it in several forms, as words of content come and `throughout` does not."""
        shard = self.background.shards[0]
        key = int(shard.keys.find([word])[0])
        if key < 0:
            return False
        return len({shard.forms[i].casefold() for i in np.flatnonzero(shard.key_of_type == key).tolist()}) > 1

    def example_pairs(self, most: int = 8) -> list[dict[str, str]]:
        """A few pairs to begin with, from all over the first data set; none without one."""
        named = [item for item in self.data.values() if not item.uploaded]
        if not named:
            return []
        pairs = list(dict.fromkeys(named[0].data.pairs))
        step = max(1, len(pairs) // most)
        chosen = [
            next((pair for pair in pairs[start : start + step] if self._knows(pair)), None)
            for start in range(0, len(pairs), step)
        ]
        return [{"w1": pair[0], "w2": pair[1]} for pair in chosen if pair is not None][:most]

    def _knows(self, pair: tuple[str, str]) -> bool:
        return all(self.background.count(word) > 0 for word in pair)

    # Words and pairs --------------------------------------------------------------------------------------------

    def complete(self, start: str, most: int = 12) -> list[dict[str, Any]]:
        """The most frequent words that begin so."""
        return [asdict(item) for item in complete(self.background, start, most)]

    def nearby(self, word: str) -> list[dict[str, Any]]:
        """Words that are written like one that is unknown."""
        return [asdict(item) for item in nearby(self.background, word, NEAR)]

    def word(self, word: str, tick: Tick) -> WordSketch:
        """A word's sketch."""
        windows = self.settings.windows
        return self._answers.get(
            ("word", word), lambda: sketch_word(self.source, word, windows=windows, tick=tick)
        )

    def pair(self, w1: str, w2: str, tick: Tick) -> PairSketch:
        """A pair's sketch."""
        windows = self.settings.windows
        return self._answers.get(
            ("pair", w1, w2), lambda: sketch_pair(self.source, w1, w2, windows=windows, tick=tick)
        )

    def lane(self, *words: str) -> str:
        """Where to work: pairs of very frequent words, whose couples take long to find, must not hold up the others."""
        return "slow" if len(words) > 1 and min(map(self.background.count, words)) > SLOW else "pages"

    def matrix(self, pairs: Sequence[tuple[str, str]], tick: Tick) -> BlockMatrix:
        """The pairs counted as the model's were."""
        if self.basis is None:
            raise UsageError("no model is loaded; start the explorer with --model")
        return count_in_steps(self.source, list(pairs), self.basis, self.settings, tick)

    def explanation(self, w1: str, w2: str, tick: Tick, top: int = 8) -> Explanation | None:
        """Why the model decides as it does, without lines; None without a model."""
        model = self.model
        if model is None:
            return None

        def make() -> Explanation:
            return explain_matrix(model, self.source, self.matrix([(w1, w2)], tick), top=top, lines=0)

        return self._answers.get(("explanation", w1, w2, top), make)

    def feature_lines(self, w1: str, w2: str, feature: str, most: int) -> FeatureLines:
        """The lines that make a feature's count."""
        block = feature.partition(":")[0]
        first, second = self.source.resolve([w1, w2])
        # What one word's contexts hold can be shown even if the other word is unknown.
        if block == "v1":
            second = second or first
        elif block == "v2":
            first = first or second
        if first is None or second is None:
            raise UsageError(f"the corpus does not know {w1 if first is None else w2}")
        if len(feature) > 2 * self.limits.word:
            raise UsageError("the feature's name is too long")
        return PairEvidence(self.source, first, second, self.settings).lines(feature, most)

    def browser(self, words: Sequence[str], tick: Tick) -> Browser:
        """A concordance to page through."""
        return self._browsers.get(
            tuple(words),
            lambda: Browser(self.source, words, self.settings.windows, tick),
            lambda made: len(made.words) == 1 or made.total < LARGE,
        )

    def lines(self, words: Sequence[str], start: int, size: int, sort: str, tick: Tick) -> Lines:
        """A page of a concordance."""
        return self.browser(words, tick).lines(start, size, sort, tick)

    def likeness(self, first: tuple[str, str], second: tuple[str, str], tick: Tick) -> SimilarPair | None:
        """How similar two pairs are, over the model's basis; None without a model or without anything shared."""
        if self.basis is None or first == second:
            return None
        found = rank_similar(self.matrix([first, second], tick), self.background.tokens, 1, 10)
        return found.ranked["all"][0] if found.ranked["all"] else None

    # Data sets --------------------------------------------------------------------------------------------------

    def add_upload(self, loaded: LoadedData) -> None:
        """Keep an upload in memory; the oldest one goes when there are too many."""
        with self._lock:
            self.data.setdefault(loaded.id, loaded)  # one that was named at the start is not an upload now
            uploaded = [key for key, item in self.data.items() if item.uploaded]
            for key in uploaded[: max(0, len(uploaded) - self.limits.uploads)]:
                del self.data[key]

    def dataset(self, key: str) -> LoadedData:
        """A data set by its id."""
        found = self.data.get(key)
        if found is None:
            raise StoreError("there is no such data set here; uploads are forgotten when the explorer ends")
        return found

    def coverage(self, loaded: LoadedData) -> dict[str, Any]:
        """What the corpus knows of a data set."""
        return self._answers.get(
            ("coverage", loaded.id),
            lambda: coverage(
                self.source, loaded.data.pairs, loaded.labels, self.settings.limit, self.settings.windows
            ),
        )

    def judged(self, loaded: LoadedData, tick: Tick) -> Judged | None:
        """What the model says of a data set; None without a model."""
        model = self.model
        if model is None:
            return None
        return self._answers.get(
            ("judged", loaded.id), lambda: judge(model, self.matrix(loaded.data.pairs, tick), loaded.data)
        )

    def was_trained_on(self, loaded: LoadedData) -> bool:
        """Whether the model was trained on a file of this name and size: then its scores here are flattering."""
        if self.model is None:
            return False
        trained = dict(self.model.manifest.get("data", {}))
        return Path(str(trained.get("path", ""))).name == loaded.name and trained.get("rows") == len(
            loaded.data
        )


def open_library(
    store: str, model: str | None = None, data: Sequence[str] = (), limits: Limits | None = None,
    any_store: bool = False,
) -> Library:  # fmt: skip
    """Open everything; whatever does not fit is an error now, not for the first visitor."""
    from bagpack.learn import load_model
    from bagpack.sources import open_source

    source = open_source(store)
    opened = None
    if model is not None:
        from bagpack.experiments.training import model_source

        opened = load_model(model)
        source = model_source(opened, store, any_store)
    return Library(source, opened, data, limits, Path(model).name if model else "")
