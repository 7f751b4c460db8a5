"""Which documents a condition such as `year >= 1900 and genre == "fiction"` selects.

A condition has comparisons (`==` or `=`, `!=`, `<`, `<=`, `>`, `>=`, `in (…)`, `not in (…)`, `contains`) of attributes
with values, joined by `and`, `or`, `not` and brackets. A number is compared with values that are numbers, text with any
value, in code-point order; <, <=, > and >= take a number, text in quotation marks, or a date such as 1950-06-01. A
document without the attribute satisfies no comparison; a name alone asks whether it has one. `id` is its own id.

Python parses it: every name and value is replaced by a name of the same length, and is found again by its place.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from bagpack.arrays import Bools
from bagpack.corpus.segment import Segment
from bagpack.errors import UsageError, did_you_mean

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


class Where:
    """A condition on the attributes of documents.

    >>> where = Where('year >= 1900 and genre == "fiction"')
    >>> sorted(where.names)
    ['genre', 'year']
    """

    def __init__(self, text: str) -> None:
        self.text = re.sub(r"[\t\r\n]", " ", text).strip()
        if not 0 < len(self.text) <= LONGEST:
            raise UsageError(f"--where has {len(self.text):,} characters, which must be 1 to {LONGEST:,}")
        self.names: dict[str, int] = {}  # the attributes that it asks for, and where
        self._words: dict[int, str] = {}
        plain = _WORD.sub(self._replace, self.text)
        odd = re.search(r"[^\s()<>=!,]", _WORD.sub(lambda found: " " * len(found[0]), self.text))
        if odd:
            raise self._problem(odd.start(), f"{odd[0]!r} is unexpected")
        try:
            tree = ast.parse(plain, mode="eval").body
        except SyntaxError as error:
            raise self._problem((error.offset or 1) - 1, f"not a condition ({error.msg})") from None
        except (RecursionError, MemoryError):
            raise self._problem(0, f"conditions are nested more than {DEEPEST} deep") from None
        self.documents: Callable[[Segment], Bools] = self._read(tree, 0)  # which of a segment it selects

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

    def _read(self, node: Any, depth: int) -> Callable[[Segment], Bools]:
        if depth > DEEPEST:
            raise self._problem(node.col_offset, f"conditions are nested more than {DEEPEST} deep")
        if isinstance(node, ast.BoolOp):
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            parts = [self._read(part, depth + 1) for part in node.values]
            return lambda segment: join.reduce([part(segment) for part in parts])
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            part = self._read(node.operand, depth + 1)
            return lambda segment: ~part(segment)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            parts = list(map(self._compare, sides, node.ops, sides[1:]))
            return lambda segment: np.logical_and.reduce([part(segment) for part in parts])
        if isinstance(node, ast.BinOp):
            return self._compare(node.left, node.op, node.right)
        return self._column(node, bool)

    def _compare(self, left: Any, how: Any, right: Any) -> Callable[[Segment], Bools]:
        if isinstance(how, ast.In | ast.NotIn):
            listed = right.elts if isinstance(right, ast.Tuple | ast.List | ast.Set) else [right]
            tests = [_test(operator.eq, self._value(item)) for item in listed]
            wanted = isinstance(how, ast.In)
            return self._column(left, lambda own: any(test(own) for test in tests) == wanted)
        value = self._value(right)
        if isinstance(how, ast.MatMult):
            part = _plain(value).casefold()
            return self._column(left, lambda own: part in own.casefold())
        if type(how) not in _ORDERED:
            raise self._problem(right.col_offset, "expected ==, !=, <, <=, >, >=, in or contains")
        compare = _ORDERED[type(how)]
        if compare not in (operator.eq, operator.ne) and value[0] not in "\"'+-0123456789":
            raise self._problem(right.col_offset, f'{value!r} is not a number; as text, write "{value}"')
        return self._column(left, _test(compare, value))

    def _value(self, node: Any) -> str:
        if not isinstance(node, ast.Name):
            raise self._problem(node.col_offset, "expected a value")
        return self._words[node.col_offset]

    def _column(self, node: Any, test: Callable[[str], bool]) -> Callable[[Segment], Bools]:
        """Whether each document of a segment has a value of the attribute that a node names that passes a test."""
        word = self._words.get(node.col_offset, "") if isinstance(node, ast.Name) else ""
        if not word or word[0] in "\"'":
            raise self._problem(node.col_offset, "expected the name of an attribute")
        name = word.lower()
        self.names.setdefault(name, node.col_offset)

        def mask(segment: Segment) -> Bools:
            if name == ID:
                return np.array([test(own.decode()) for own in segment.documents], np.bool_)
            places, texts = segment.attributes.column(name)
            return np.array([bool(text) and test(text) for text in texts], np.bool_)[places]

        return mask

    def check_names(self, known: list[str]) -> None:
        """Refuse an attribute that no document has."""
        for name, at in self.names.items():
            if name not in (*known, ID):
                has = f"{did_you_mean(name, known)}the documents have {', '.join([*known, ID])}"
                raise self._problem(at, f"no document has the attribute {name!r}; {has}")


def _plain(value: str) -> str:
    return value[1:-1] if value[0] in "\"'" else value


def _test(compare: Callable[[Any, Any], bool], value: str) -> Callable[[str], bool]:
    """Compare with a value: as numbers if it is written as one, as text otherwise."""
    wanted = number_of(value)
    if wanted is None:
        return lambda own: compare(own, _plain(value))

    def test(own: str) -> bool:
        number = number_of(own)
        return number is not None and compare(number, wanted)

    return test


def number_of(text: str) -> float | None:
    """The number that a text is; None if it is none."""
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None
