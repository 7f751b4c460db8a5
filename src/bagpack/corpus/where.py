"""Which documents a condition such as `year >= 1900 and genre == "fiction"` selects.

A condition has comparisons (`==` or `=`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)`, `not in (…)`, `contains`) of attributes
with values, joined by `and`, `or`, `not` and brackets. A number is compared with values that are numbers, text with any
value, in code-point order; <, <=, > and >= take a number, text in quotation marks, or a date such as 1950-06-01. A
document without the attribute satisfies no comparison; a name alone asks whether it has one. `id` is the document's own
id.

Python parses it: every name and value is replaced by a name of the same length, and is found again by its place.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.segment import AttributeColumns, Shard
from bagpack.errors import UsageError, did_you_mean

Mask = NDArray[np.bool_]
Test = Callable[[str], bool]

ID = "id"
DEEPEST = 50  # brackets and negations within each other
LONGEST = 4000  # characters
_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|[+-]?\w[\w:.#+/-]*|(?<![=!<>])=(?!=)")
_KEYWORDS = ("and", "or", "not", "in")
# What Python has no operator for, or another one: equality by one sign, and `contains`.
_OTHER = {"=": "%", "contains": "@"}
_ORDERED = {
    ast.Eq: operator.eq, ast.Mod: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What one attribute must be."""

    name: str
    test: Test
    at: int
    value: tuple[str, int] = ("", -1)  # to which it is compared, the first of several, and its place


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
        if not self.text:
            raise UsageError("--where is empty; write a condition such as 'year >= 1900'")
        if len(self.text) > LONGEST:
            raise UsageError(f"--where has {len(self.text):,} characters; give at most {LONGEST:,}")
        self._words: dict[int, str] = {}
        plain = _WORD.sub(self._replace, self.text)
        odd = re.search(r"[^\s()<>=!,]", _WORD.sub(lambda found: " " * len(found[0]), self.text))
        if odd:
            open_quote = odd[0] in "\"'"
            what = "the quotation mark is not closed" if open_quote else f"{odd[0]!r} is unexpected"
            raise self._problem(odd.start(), what)
        try:
            tree = ast.parse(plain, mode="eval").body
        except SyntaxError as error:
            raise self._problem((error.offset or 1) - 1, f"not a condition ({error.msg})") from None
        except (RecursionError, MemoryError):
            raise self._problem(0, f"conditions are nested more than {DEEPEST} deep") from None
        self.condition = self._read(tree, 0)

    def _replace(self, found: re.Match[str]) -> str:
        word = found[0]
        if word.lower() in _KEYWORDS:
            return word.lower()
        if word.lower() in _OTHER:
            return _OTHER[word.lower()].ljust(len(word))
        self._words[found.start()] = word
        return "_" * len(word)

    def _problem(self, at: int, what: str) -> UsageError:
        """An error with the condition below it, and a caret below the place."""
        return UsageError(f"--where: {what}\n  {self.text}\n  {' ' * at}^")

    def _read(self, node: Any, depth: int) -> Condition:
        if depth > DEEPEST:
            raise self._problem(node.col_offset, f"conditions are nested more than {DEEPEST} deep")
        if isinstance(node, ast.BoolOp):
            parts = tuple(self._read(part, depth + 1) for part in node.values)
            return Compound("and" if isinstance(node.op, ast.And) else "or", parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Compound("not", (self._read(node.operand, depth + 1),))
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = tuple(map(self._compare, sides, node.ops, sides[1:]))
            return parts[0] if len(parts) == 1 else Compound("and", parts)
        if isinstance(node, ast.BinOp):
            return self._compare(node.left, node.op, node.right)
        return Comparison(self._name(node), bool, node.col_offset)

    def _name(self, node: Any) -> str:
        word = self._words.get(node.col_offset, "") if isinstance(node, ast.Name) else ""
        if not word or word[0] in "\"'":
            raise self._problem(node.col_offset, "expected the name of an attribute")
        return word.lower()

    def _compare(self, left: Any, how: Any, right: Any) -> Comparison:
        name, at = self._name(left), left.col_offset
        if isinstance(how, ast.In | ast.NotIn):
            listed = right.elts if isinstance(right, ast.Tuple | ast.List | ast.Set) else [right]
            values = [self._value(item) for item in listed]
            tests = [_test(operator.eq, value) for value, _ in values]
            if isinstance(how, ast.NotIn):
                return Comparison(name, lambda own: not any(test(own) for test in tests), at)
            return Comparison(name, lambda own: any(test(own) for test in tests), at, values[0])
        value, place = self._value(right)
        if isinstance(how, ast.MatMult):
            part = _plain(value).casefold()
            return Comparison(name, lambda own: part in own.casefold(), at, (f'"{_plain(value)}"', place))
        if type(how) not in _ORDERED:
            raise self._problem(place, "expected ==, !=, <, <=, >, >=, in or contains")
        compare = _ORDERED[type(how)]
        if compare not in (operator.eq, operator.ne) and value[0] not in "\"'+-0123456789":
            raise self._problem(place, f"{value!r} is not a number; {_quoted(name, value)}")
        return Comparison(name, _test(compare, value), at, (value, place))

    def _value(self, node: Any) -> tuple[str, int]:
        """A value as it was written, and its place."""
        if not isinstance(node, ast.Name):
            raise self._problem(node.col_offset, "expected a value")
        return self._words[node.col_offset], node.col_offset

    @property
    def names(self) -> set[str]:
        """The attributes that it asks for."""
        return {comparison.name for comparison in _comparisons(self.condition)}

    def check_names(self, known: list[str]) -> None:
        """Refuse an attribute that no document has."""
        for comparison in _comparisons(self.condition):
            if comparison.name not in (*known, ID):
                has = f"{did_you_mean(comparison.name, known)}the documents have {', '.join([*known, ID])}"
                raise self._problem(
                    comparison.at, f"no document has the attribute {comparison.name!r}; {has}"
                )

    def suggest_value(self, known: Mapping[str, Iterable[str]]) -> str:
        """A known value that is spelt like one that no document has, as part of a message; empty if there is none.

        Raises if a number is compared with an attribute none of whose values is one.
        """
        for comparison in _comparisons(self.condition):
            values, (wanted, place) = known.get(comparison.name, ()), comparison.value
            if not values or not wanted or any(map(comparison.test, values)):
                continue
            if number_of(wanted) is not None and all(number_of(value) is None for value in values):
                what = f"no value of {comparison.name} is a number; {_quoted(comparison.name, wanted)}"
                raise self._problem(place, what)
            if suggested := did_you_mean(_plain(wanted), values):
                return suggested
        return ""

    def documents(self, shard: Shard) -> Mask:
        """Which documents of a segment it selects."""
        return _mask(self.condition, shard, shard.attributes)


def _plain(value: str) -> str:
    return value[1:-1] if value[0] in "\"'" else value


def _quoted(name: str, value: str) -> str:
    return f'to compare {name} with {value} as text, write "{value}"'


def _test(compare: Callable[[Any, Any], bool], value: str) -> Test:
    """Compare with a value: as numbers if it is written as one, as text otherwise."""
    wanted = number_of(value)
    if wanted is None:
        return lambda own: compare(own, _plain(value))

    def test(own: str) -> bool:
        number = number_of(own)
        return number is not None and compare(number, wanted)

    return test


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


def number_of(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
