"""Which documents a condition such as `year >= 1900 and genre == "fiction"` selects.

    condition  = conjunction { "or" conjunction }
    conjunction = negation { "and" negation }
    negation   = "not" negation | "(" condition ")" | comparison
    comparison = NAME [ OPERATOR value | ["not"] "in" "(" value { "," value } ")" | "contains" value ]
    OPERATOR   = "==" | "=" | "!=" | "<" | "<=" | ">" | ">="
    value      = "text" | 'text' | word | number

A number is compared with values that are numbers, text with any value, in code-point order; <, <=, > and >= take a
number, text in quotation marks, or a date such as 1950-06-01. A document without the attribute satisfies no comparison;
a name alone asks whether it has one. `id` is the document's own id.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.attributes import AttributeColumns
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.text.numbers import number_of
from bagpack.errors import UsageError, did_you_mean

Mask = NDArray[np.bool_]

ID = "id"
DEEPEST = 50  # brackets and negations within each other
LONGEST = 4000  # characters
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
WORDS = ("and", "or", "not", "in", "contains")
_TOKEN = re.compile(
    r"\s*(?:(?P<text>\"[^\"]*\"|'[^']*')|(?P<operator>==|!=|<=|>=|[=<>(),])|(?P<word>[\w:.+-]+)|(?P<end>$))"
)


@dataclass(frozen=True)
class Token:
    """A piece of a condition, and where it begins."""

    kind: str
    text: str
    at: int

    @property
    def plain(self) -> str:
        """Without quotation marks."""
        return self.text[1:-1] if self.kind == "text" else self.text

    @property
    def number(self) -> float | None:
        """The number that is written; None for text."""
        return number_of(self.text) if self.kind == "word" else None


@dataclass(frozen=True)
class Comparison:
    """What one attribute must be."""

    name: str
    test: Callable[[str], bool]
    at: int
    value: Token | None = None  # to which it is compared, the first of several


@dataclass(frozen=True)
class Compound:
    """Conditions that are joined by `and`, `or` or `not`."""

    how: str
    parts: tuple[Condition, ...]


Condition = Comparison | Compound


class Where:
    """A condition on the attributes of documents.

    Examples
    --------
    >>> where = Where('year >= 1900 and genre == "fiction"')
    >>> sorted(where.names)
    ['genre', 'year']
    """

    def __init__(self, text: str) -> None:
        self.text = re.sub(r"[\t\r\n]", " ", text).strip()
        self.condition = _Parser(self.text).parse()

    @property
    def names(self) -> set[str]:
        """The attributes that it asks for."""
        return {comparison.name for comparison in _comparisons(self.condition)}

    def check_names(self, known: list[str]) -> None:
        """Refuse an attribute that no document has."""
        for comparison in _comparisons(self.condition):
            if comparison.name not in (*known, ID):
                has = f"{did_you_mean(comparison.name, known)}the documents have {', '.join([*known, ID])}"
                what = f"no document has the attribute {comparison.name!r}; {has}"
                raise problem(self.text, comparison.at, what)

    def suggest_value(self, known: Mapping[str, Iterable[str]]) -> str:
        """A known value that is spelt like one that no document has, as part of a message; empty if there is none.

        Raises if a number is compared with an attribute none of whose values is one.
        """
        for comparison in _comparisons(self.condition):
            values, wanted = known.get(comparison.name, ()), comparison.value
            if not values or wanted is None or any(map(comparison.test, values)):
                continue
            if wanted.number is not None and all(number_of(value) is None for value in values):
                what = f"no value of {comparison.name} is a number; {_quoted(comparison.name, wanted)}"
                raise problem(self.text, wanted.at, what)
            if suggested := did_you_mean(wanted.plain, values):
                return suggested
        return ""

    def documents(self, shard: Shard) -> Mask:
        """Which documents of a shard it selects."""
        return _mask(self.condition, shard, shard.attributes)


def problem(text: str, at: int, what: str) -> UsageError:
    """An error with the condition below it, and a caret below the place."""
    return UsageError(f"--where: {what}\n  {text}\n  {' ' * at}^")


def _quoted(name: str, value: Token) -> str:
    return f'to compare {name} with {value.text} as text, write "{value.text}"'


def _comparisons(condition: Condition) -> list[Comparison]:
    if isinstance(condition, Comparison):
        return [condition]
    return [found for part in condition.parts for found in _comparisons(part)]


def _mask(condition: Condition, shard: Shard, columns: AttributeColumns) -> Mask:
    if isinstance(condition, Comparison):
        if condition.name == ID:
            return np.array([condition.test(name.decode()) for name in shard.documents], np.bool_)
        places, texts = columns.column(condition.name)
        holds = np.array([bool(text) and condition.test(text) for text in texts], np.bool_)
        return holds[places]
    masks = [_mask(part, shard, columns) for part in condition.parts]
    if condition.how == "not":
        return ~masks[0]
    joined: Mask = (np.logical_and if condition.how == "and" else np.logical_or).reduce(masks)
    return joined


class _Parser:
    """Recursive descent over the grammar above."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise UsageError(f"--where has {len(text):,} characters; give at most {LONGEST:,}")
        self.tokens = self._tokens()
        self.place = 0
        self.depth = 0

    def _tokens(self) -> list[Token]:
        tokens: list[Token] = []
        at = 0
        while not tokens or tokens[-1].kind != "end":
            found = _TOKEN.match(self.text, at)
            if found is None:
                at += len(self.text[at:]) - len(self.text[at:].lstrip())
                quote = self.text[at] in "\"'"
                what = "the quotation mark is not closed" if quote else f"{self.text[at]!r} is unexpected"
                raise problem(self.text, at, what)
            kind = str(found.lastgroup)
            tokens.append(Token(kind, found.group(kind), found.start(kind)))
            at = found.end()
        return tokens

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def _take(self, *texts: str) -> bool:
        """Pass over the next token if it is one of these (words in any case)."""
        if self.next.kind in ("operator", "word") and self.next.text.lower() in texts:
            self.place += 1
            return True
        return False

    def _expected(self, what: str) -> UsageError:
        found = repr(self.next.text) if self.next.kind != "end" else "the end"
        return problem(self.text, self.next.at, f"expected {what}, found {found}")

    def parse(self) -> Condition:
        if self.next.kind == "end":
            raise UsageError("--where is empty; write a condition such as 'year >= 1900'")
        condition = self._joined("or", lambda: self._joined("and", self._negation))
        if self.next.kind != "end":
            raise self._expected("and, or, or the end")
        return condition

    def _joined(self, how: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self._take(how):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Compound(how, tuple(parts))

    def _negation(self) -> Condition:
        self.depth += 1
        if self.depth > DEEPEST:
            raise problem(self.text, self.next.at, f"conditions are nested more than {DEEPEST} deep")
        if self._take("not"):
            condition: Condition = Compound("not", (self._negation(),))
        elif self._take("("):
            condition = self._joined("or", lambda: self._joined("and", self._negation))
            if not self._take(")"):
                raise self._expected("and, or, or a closing bracket")
        else:
            condition = self._comparison()
        self.depth -= 1
        return condition

    def _comparison(self) -> Condition:
        name = self.next
        if name.kind != "word" or name.text.lower() in WORDS:
            raise self._expected("the name of an attribute")
        self.place += 1
        attribute = name.text.lower()
        if self.next.kind == "operator" and self.next.text in OPERATORS:
            compare = OPERATORS[self.next.text]
            self.place += 1
            value = self._value()
            is_name = value.kind == "word" and not value.text[0].isdigit() and value.number is None
            if is_name and compare not in (operator.eq, operator.ne):
                what = f"{value.text!r} is not a number; {_quoted(attribute, value)}"
                raise problem(self.text, value.at, what)
            return Comparison(attribute, _test(compare, value), name.at, value)
        if self._take("contains"):
            found = self._value()
            value, part = Token("text", f'"{found.plain}"', found.at), found.plain.casefold()
            return Comparison(attribute, lambda own: part in own.casefold(), name.at, value)
        if negated := self._take("not"):
            if not self._take("in"):
                raise self._expected("in")
        elif not self._take("in"):
            if self.next.kind == "end" or self.next.text.lower() in (")", "and", "or"):
                return Comparison(attribute, bool, name.at)
            raise self._expected("==, !=, <, <=, >, >=, in or contains")
        values = self._listed()
        tests = [_test(operator.eq, value) for value in values]
        if negated:
            return Comparison(attribute, lambda value: not any(test(value) for test in tests), name.at)
        return Comparison(attribute, lambda value: any(test(value) for test in tests), name.at, values[0])

    def _listed(self) -> list[Token]:
        if not self._take("("):
            raise self._expected("an opening bracket")
        values = [self._value()]
        while self._take(","):
            values.append(self._value())
        if not self._take(")"):
            raise self._expected("a comma or a closing bracket")
        return values

    def _value(self) -> Token:
        if self.next.kind not in ("text", "word"):
            raise self._expected("a value")
        self.place += 1
        return self.tokens[self.place - 1]


def _test(compare: Callable[[Any, Any], bool], value: Token) -> Callable[[str], bool]:
    """Compare with a value: as numbers if it is written as one, as text otherwise."""
    wanted = value.number
    if wanted is None:
        return lambda own: compare(own, value.plain)

    def test(own: str) -> bool:
        number = number_of(own)
        return number is not None and compare(number, wanted)

    return test
