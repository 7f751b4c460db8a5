"""What a form counts as: the keys under which it occurs in a corpus, and how often under each.

The lexicon has this for forms that are not keys. A form can be a key as well: where *saws* are a saw, *saw* is one, and
the form *saw* is mostly *see* all the same. The shards have it for all forms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bagpack.corpus.build.normalise import fold_all
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.shard import Shard, sum_keys
from bagpack.corpus.store.strings import Strings
from bagpack.corpus.text.casefold import folding

FEW_TYPES = 1000  # that are compared without a kernel, which would take longer to load
MANY_TIMES = 5  # as often under another key as under its own: then that is what a reader expects to see
LEAST = 5  # times under another key (or more often than the lemma looked up), else it is not worth reporting


def other_keys(corpus: Corpus, forms: Sequence[str]) -> list[Counter[str]]:
    """How often each folded form occurs under keys that are not the form itself."""
    found = sum_keys(shard.other_keys(forms) for shard in corpus.shards)
    return [found.get(form, Counter()) for form in forms]


def own_counts(corpus: Corpus, forms: Sequence[str]) -> list[int]:
    """How often each folded form (all different) occurs under the key that is the form itself."""
    wanted = Strings.of(forms)
    sums = np.zeros(len(wanted), np.int64)
    for shard in corpus.shards:
        sums += _own_counts(shard, wanted, corpus)
    return [int(count) for count in sums]


def _own_counts(shard: Shard, wanted: Strings, corpus: Corpus) -> np.ndarray:
    found = shard.keys.find(wanted)
    form_of_key = np.full(len(shard.keys), -1)
    form_of_key[found[found >= 0]] = np.flatnonzero(found >= 0)
    form_of_type = form_of_key[shard.key_of_type]
    types = np.flatnonzero(form_of_type >= 0)
    numbers = form_of_type[types]
    if types.size <= FEW_TYPES:
        fold = folding(corpus.options)
        spelled = (
            fold(shard.forms[k]) == wanted[n] for k, n in zip(types.tolist(), numbers.tolist(), strict=True)
        )
        same = np.fromiter(spelled, np.bool_, types.size)
    else:
        same = fold_all(shard.forms.take(types), corpus.options).equals(wanted.take(numbers))
    return np.bincount(numbers[same], shard.type_counts[types[same]], len(wanted)).astype(np.int64)


def usual_keys(corpus: Corpus, forms: Sequence[str]) -> dict[str, str]:
    """The most frequent key of each folded form that the corpus holds; of equal ones the first in code-point order."""
    distinct = list(dict.fromkeys(forms))
    usual = {}
    for form, keys, own in zip(
        distinct, other_keys(corpus, distinct), own_counts(corpus, distinct), strict=True
    ):
        if own:
            keys[form] = own
        if keys:
            usual[form] = min(keys, key=lambda key: (-keys[key], key))
    return usual


@dataclass(frozen=True)
class Elsewhere:
    """A word that is looked up as a lemma, and the lemma under which its form mostly occurs."""

    word: str
    count: int  # of the lemma that it is looked up as
    key: str
    form_count: int  # of the form, under that other key


def find_elsewhere(corpus: Corpus, words: Sequence[str]) -> list[Elsewhere]:
    """Those of the words whose form as written mostly occurs under another key than the one that is looked up."""
    fold = folding(corpus.options)
    written = {fold(word): word for word in reversed(words)}
    forms = [form for form, key in zip(written, corpus.resolve(written), strict=True) if form == key]
    counts = dict(zip(forms, map(corpus.count, forms), strict=True))
    others = {
        form: keys
        for form, keys in zip(forms, other_keys(corpus, forms), strict=True)
        if keys and max(keys.values()) >= min(LEAST, counts[form] + 1)
    }
    found = {}
    for form, own in zip(others, own_counts(corpus, list(others)), strict=True):
        key, count = min(others[form].items(), key=lambda item: (-item[1], item[0]))
        if count >= MANY_TIMES * own:
            found[form] = Elsewhere(written[form], counts[form], key, count)
    return [found[form] for form in dict.fromkeys(map(fold, words)) if form in found]
