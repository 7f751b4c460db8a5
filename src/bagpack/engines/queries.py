"""The fourteen queries of a pair: each word, and the two words in both orders with 0 to 5 words between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from bagpack.corpus.text.casefold import fold_case
from bagpack.engines.inflect import Inflector, fold_target
from bagpack.engines.sentences import KEY_MARK
from bagpack.errors import UsageError
from bagpack.tasks.pairs import Pair, distinct_words, unordered_pairs

Form = tuple[str, ...]  # a form's tokens: one, or several for a target of several words
MAX_GAP = 5  # tokens between the two words of a pair
GAPS = MAX_GAP + 1


@dataclass(frozen=True)
class Query:
    """A word, or two words in this order with exactly `gap` tokens between; each as the set of its forms."""

    kind: Literal["word", "pair"]
    forms1: tuple[Form, ...]
    forms2: tuple[Form, ...] = ()
    gap: int = 0

    @property
    def is_repeated(self) -> bool:
        """Whether another query of the pair asks the same, for engines that know neither order nor gap."""
        return self.kind == "pair" and (self.gap > 0 or self.forms1 > self.forms2)

    def __str__(self) -> str:
        """The paper's notation.

        >>> print(Query("pair", (("lion",), ("lions",)), (("cat",),), 2))
        (lion OR lions) * * cat
        """
        words = []
        for forms in filter(None, (self.forms1, self.forms2)):
            written = [f'"{" ".join(form)}"' if len(form) > 1 else form[0] for form in forms]
            words.append(f"({' OR '.join(written)})" if len(written) > 1 else written[0])
        return (" " + "* " * self.gap).join(words)


@dataclass
class QueryPlan:
    """Which queries serve which words and pairs. Words with the same forms (vein, veins) are one target: one key."""

    listed: list[Pair]
    forms: dict[str, tuple[Form, ...]] = field(default_factory=dict)  # of each word
    keys: dict[str, str] = field(default_factory=dict)  # of each word's target
    words: dict[str, Query] = field(default_factory=dict)  # by key
    # By two keys: W1 … W2 by gap, W2 … W1 by gap.
    pairs: dict[Pair, tuple[Query, ...]] = field(default_factory=dict)

    @property
    def queries(self) -> list[Query]:
        together = (query for queries in self.pairs.values() for query in queries)
        return list(dict.fromkeys([*self.words.values(), *together]))


def plan_queries(pairs: Iterable[Pair], inflector: Inflector | None = None, lang: str = "en") -> QueryPlan:
    """All queries that the pairs need, each once: words are shared, and so are (a, b) and (b, a).

    >>> len(plan_queries([("cat", "lion"), ("lion", "cat"), ("cat", "dog")]).queries)
    27
    """
    inflector = inflector or Inflector(lang)
    plan = QueryPlan(unordered_pairs((fold_target(w1), fold_target(w2)) for w1, w2 in pairs))
    if not plan.listed:
        raise UsageError("there are no pairs to fetch; give at least one")
    known: dict[frozenset[Form], str] = {}
    for word in distinct_words(plan.listed):
        forms = plan.forms[word] = target_forms(word, inflector, lang)
        key = plan.keys[word] = known.setdefault(frozenset(forms), KEY_MARK + " ".join(forms[0]))
        plan.words.setdefault(key, Query("word", forms))
    for w1, w2 in plan.listed:
        key1, key2 = plan.keys[w1], plan.keys[w2]
        one, two = plan.words[key1].forms1, plan.words[key2].forms1
        if (key2, key1) not in plan.pairs:
            orders = ((one, two), (two, one))
            plan.pairs[key1, key2] = tuple(
                Query("pair", *both, gap) for both in orders for gap in range(GAPS)
            )
    return plan


def target_forms(word: str, inflector: Inflector, lang: str = "en") -> tuple[Form, ...]:
    """A target's forms as runs of tokens, as `bagpack index` would make them."""
    from bagpack.corpus.text.tokenizer import split_word

    forms = dict.fromkeys(tuple(map(fold_case, split_word(form, lang))) for form in inflector.forms(word))
    found = tuple(form for form in forms if form)
    if not found:
        raise UsageError(f"the target {word!r} holds nothing that could be found in a text; remove it")
    return found
