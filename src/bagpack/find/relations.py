"""The collocates of a word, grouped by the patterns between the two words."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bagpack.basis import Basis, BasisSize
from bagpack.contexts.candidates import find_candidates
from bagpack.contexts.source import ContextSource
from bagpack.contexts.targets import Target
from bagpack.contexts.windows import CountSettings
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.function_words import is_content_word
from bagpack.errors import InputError, UsageError
from bagpack.explain.keyness import CHANCE, log_likelihood
from bagpack.find.vocabulary import corpus_of, corpus_vocabulary
from bagpack.learn.association import Ppmi, unit_length
from bagpack.names import feature_at
from bagpack.parallel import Progress
from bagpack.sources import as_source
from bagpack.vectors.blocks import Block
from bagpack.vectors.matrix import BlockMatrix
from bagpack.wording import say_feature

NEIGHBOURS = 200
GROUPS = 8
LEAST = 3  # co-occurrences of a pair that is grouped
NAMES = 3  # patterns that name a group


@dataclass(frozen=True)
class GroupedWord:
    """A word of a group: how often it co-occurs with the word asked for, and one sentence."""

    word: str
    together: int
    sentence: str
    document: str


@dataclass(frozen=True)
class RelationGroup:
    """Words that are connected with a word by similar patterns, and the three strongest of these."""

    patterns: tuple[str, ...]
    words: tuple[GroupedWord, ...]


@dataclass(frozen=True)
class Relations:
    """The collocates of a word in groups, the largest first."""

    word: str
    neighbours: int
    groups: tuple[RelationGroup, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def table(self) -> list[list[Any]]:
        """A header and a row for each word."""
        header = ["w1", "w2", "group", "patterns", "together", "sentence", "document"]
        rows = [
            [self.word, word, number, " | ".join(group.patterns), *counted]
            for number, group in enumerate(self.groups, 1)
            for word, *counted in map(astuple, group.words)
        ]
        return [header, *rows]


def group_relations(
    corpus: Corpus | ContextSource, word: str, *, neighbours: int = NEIGHBOURS, groups: int = GROUPS,
    b: BasisSize = 1500, basis: Basis | None = None, settings: CountSettings | None = None,
    n_jobs: int | None = None, progress: Progress | None = None,
) -> Relations:  # fmt: skip
    """Group the words that co-occur with a word more often than chance by the patterns between them.

    The v12 vectors of the pairs (PPMI, unit length) are grouped by Ward's method.
    The patterns of a group are the features in which its mean is furthest above the mean of all pairs.

    Parameters
    ----------
    neighbours
        How many words to group, the most strongly associated first.
    groups
        How many groups to make at most.
    """
    for option, value, least in (("--words", neighbours, 2), ("--groups", groups, 1)):
        if value < least:
            raise UsageError(f"{option} must be at least {least}, not {value}")
    source = as_source(corpus)
    corpus_of(source)
    settings = settings or CountSettings()
    target = source.resolve([word])[0]
    if target is None:
        raise InputError(f"the corpus does not contain {word!r}; give another word")
    near = _neighbours(source, target, neighbours, settings)
    basis = basis or source.pick_basis(b, n_jobs)
    matrix = BlockMatrix.count(source, [(word, other) for other in near], basis, settings, n_jobs, progress)
    matrix = matrix[np.flatnonzero(matrix.seen >= LEAST)]
    if not len(matrix):
        raise InputError(
            f"{word!r} co-occurs with no word {LEAST} times and more often than chance, so there is nothing to group; "
            f"{_better_word(corpus_of(source), target)}"
        )
    rows = _weighted(matrix)
    labels = _clusters(rows, groups)
    mean = np.asarray(rows.mean(axis=0)).ravel()
    found = [_group(source, matrix, rows, np.flatnonzero(labels == k), mean) for k in np.unique(labels)]
    found.sort(key=lambda group: (-len(group.words), -group.words[0].together, group.words[0].word))
    return Relations(word, len(matrix), tuple(found))


def _better_word(corpus: Corpus, target: Target) -> str:
    """Which word to ask for instead of one that has no collocates."""
    if is_content_word(corpus, corpus.lexicon.keys.find(target.words)).any():
        return "give a more frequent word"
    return "give a content word, such as a noun"


def _neighbours(source: ContextSource, target: Target, most: int, settings: CountSettings) -> list[str]:
    """The words that co-occur with a target more often than chance, by G²; none of the commonest words."""
    corpus, vocabulary = corpus_of(source), corpus_vocabulary(source)
    found = find_candidates(
        corpus, vocabulary.targets, w1=target, windows=settings.windows, min_together=LEAST, n_jobs=1
    )
    if not len(found):
        return []
    places = 2 * (settings.windows.between + 1) * int(found.n_words[found.first[0]])
    strength = log_likelihood(found.together, places, found.n_words[found.second], corpus.tokens)
    order = np.lexsort((found.second, -strength))[:most]
    return [str(found.words[found.second[k]]) for k in order.tolist() if strength[k] > CHANCE]


def _weighted(matrix: BlockMatrix) -> sparse.csr_array[Any]:
    block: Block = matrix.blocks["v12"]
    step = Ppmi()
    step.fit_block(block)
    return unit_length(step.on(block).expanded())


def _clusters(rows: sparse.csr_array[Any], groups: int) -> NDArray[np.int64]:
    """Groups by Ward's method; rows have unit length, so distances follow the cosine."""
    from scipy.cluster.hierarchy import cut_tree, linkage

    n = rows.shape[0]
    groups = min(groups, max(1, n // 3))
    if groups == 1:
        return np.zeros(n, np.int64)
    return np.asarray(cut_tree(linkage(rows.toarray(), "ward"), [groups]), np.int64).ravel()


def _group(
    source: ContextSource, matrix: BlockMatrix, rows: sparse.csr_array[Any], members: NDArray[np.int64],
    mean: NDArray[np.float64],
) -> RelationGroup:  # fmt: skip
    """A group with its patterns, and its words, the most frequent pair first, each with a sentence that shows one."""
    from bagpack.explain.lines import PairEvidence

    surplus = np.asarray(rows[members].mean(axis=0)).ravel() - mean if len(members) < len(matrix) else mean
    features = [index for index in np.argsort(-surplus, kind="stable").tolist() if surplus[index] > 0]
    w1 = matrix.pairs[0][0]
    names = [feature_at("v12", column, matrix.terms) for column in features[: 10 * NAMES]]
    patterns = dict.fromkeys(say_feature(name, w1, "X").pattern for name in names)
    seen = matrix.seen
    order = members[np.argsort(-seen[members], kind="stable")]
    words = []
    for member in order.tolist():
        own = np.asarray(rows[[member]].todense()).ravel() * np.maximum(surplus, 0)
        best = int(np.argmax(own))
        _, w2 = matrix.pairs[member]
        one, two = matrix.resolved[w1], matrix.resolved[w2]
        assert one is not None and two is not None
        evidence = PairEvidence(source, one, two, matrix.settings, matrix.basis.tagged)
        name = feature_at("v12", best, matrix.terms) if own[best] > 0 else "pair:together"
        lines = evidence.lines(name, 1).lines or evidence.lines("pair:together", 1).lines
        text, document = (lines[0].text, lines[0].document) if lines else ("", "")
        words.append(GroupedWord(w2, int(seen[member]), text, document))
    return RelationGroup(tuple(patterns)[:NAMES], tuple(words))
