"""The fourteen queries of a pair: each word, and the two words in both orders with 0 to 5 words between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from bagpack.engines.inflect import Inflector
from bagpack.engines.words import split_form
from bagpack.errors import UsageError
from bagpack.tasks.words import Pair

Form = tuple[str, ...]  # a form's tokens: one, or several for a target of several words
MAX_GAP = 5  # tokens between the two words of a pair


@dataclass(frozen=True)
class Query:
    """A word, or two words in this order with exactly `gap` tokens between; each as the set of its forms."""

    kind: Literal["word", "pair"]
    forms1: tuple[Form, ...]
    forms2: tuple[Form, ...] = ()
    gap: int = 0

    def __str__(self) -> str:
        """The paper's notation.

        >>> print(Query("pair", (("lion",), ("lions",)), (("cat",),), 2))
        (lion OR lions) * * cat
        """
        if self.kind == "word":
            return disjunction(self.forms1)
        return " ".join([disjunction(self.forms1), *"*" * self.gap, disjunction(self.forms2)])


def disjunction(forms: Iterable[Form]) -> str:
    """(lion OR lions), or the form itself if it is the only one."""
    written = [f'"{" ".join(form)}"' if len(form) > 1 else form[0] for form in forms]
    return f"({' OR '.join(written)})" if len(written) > 1 else written[0]


@dataclass
class QueryPlan:
    """Which queries serve which words and pairs; each distinct query is in `queries` once, in order."""

    targets: dict[str, tuple[Form, ...]] = field(default_factory=dict)
    words: dict[str, int] = field(default_factory=dict)  # word → its query
    pairs: dict[Pair, tuple[int, ...]] = field(default_factory=dict)  # ordered pair → its queries, + then -
    queries: list[Query] = field(default_factory=list)
    _numbers: dict[Query, int] = field(default_factory=dict, repr=False)

    def number(self, query: Query) -> int:
        """The query's place in the list; it is appended when it is new."""
        if query not in self._numbers:
            self._numbers[query] = len(self.queries)
            self.queries.append(query)
        return self._numbers[query]


def pair_queries(forms1: tuple[Form, ...], forms2: tuple[Form, ...]) -> list[Query]:
    """The twelve queries of an ordered pair: W1 … W2 by gap, then W2 … W1 by gap."""
    orders = ((forms1, forms2), (forms2, forms1))
    return [Query("pair", first, second, gap) for first, second in orders for gap in range(MAX_GAP + 1)]


def plan_queries(pairs: Iterable[Pair], inflector: Inflector | None = None, lang: str = "en") -> QueryPlan:
    """All queries that the pairs need, each once: words are shared, and so are (a, b) and (b, a).

    Examples
    --------
    >>> len(plan_queries([("cat", "lion")]).queries)
    14
    >>> len(plan_queries([("cat", "lion"), ("lion", "cat"), ("cat", "dog")]).queries)
    27
    """
    inflector = inflector or Inflector(lang)
    plan = QueryPlan()
    alike: dict[frozenset[Form], tuple[Form, ...]] = {}  # cat and cats have the same forms: the same query
    for pair in pairs:
        for word in pair:
            if word not in plan.targets:
                forms = target_forms(word, inflector, lang)
                plan.targets[word] = alike.setdefault(frozenset(forms), forms)
                plan.words[word] = plan.number(Query("word", plan.targets[word]))
        if pair not in plan.pairs:
            asked = pair_queries(plan.targets[pair[0]], plan.targets[pair[1]])
            plan.pairs[pair] = tuple(plan.number(query) for query in asked)
    return plan


def target_forms(word: str, inflector: Inflector, lang: str = "en") -> tuple[Form, ...]:
    """A target's forms as runs of tokens."""
    forms = dict.fromkeys(split_form(form, lang) for form in inflector.forms(word))
    found = tuple(form for form in forms if form)
    if not found:
        raise UsageError(f"the target {word!r} holds nothing that could be found in a text; remove it")
    return found
