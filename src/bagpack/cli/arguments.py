"""What the arguments of a command name: a store where a data set belongs is reported before any work."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

from bagpack.errors import StoreError, UsageError

STORE, SNIPPETS, MATRIX, MODEL, FILE, FOLDER = (
    "a store", "snippets", "a matrix", "a model", "a file", "a directory",
)  # fmt: skip
_KINDS = {"corpus": STORE, "snippets": SNIPPETS, "pair-matrix": MATRIX, "model": MODEL}
_NEEDED = {STORE: "a store (bagpack index makes one)", MODEL: "a model (bagpack train makes one)",
           FILE: "a file with a data set"}  # fmt: skip


@dataclass(frozen=True)
class Names:
    """In an annotation: what a path may lead to. Without kinds, a word, which leads to none of ours."""

    kinds: tuple[str, ...] = ()

    def accept(self, kind: str | None) -> bool:
        """Whether something of this kind can be meant; None is a path with nothing there."""
        if not self.kinds:
            return kind not in (STORE, SNIPPETS, MATRIX, MODEL)
        return kind in self.kinds


def kind_at(path: str | Path) -> str | None:
    """What is at a path, as far as its manifest says; None if nothing is, and for standard input."""
    if not os.path.isdir(path):
        return FILE if os.path.exists(path) else None
    from bagpack.info import kind_of

    try:
        return _KINDS.get(kind_of(Path(path)), FOLDER)
    except StoreError:
        return FOLDER


def check_arguments(parameters: Iterable[inspect.Parameter], given: dict[str, Any]) -> None:
    """Report paths that lead to the wrong kind of thing, and arguments in the wrong order."""
    arguments: list[tuple[str, Names, str]] = []
    for parameter in parameters:
        value = given.get(parameter.name)
        marks = getattr(parameter.annotation, "__metadata__", ())
        names = next((mark for mark in marks if isinstance(mark, Names)), None)
        if names is not None and isinstance(value, str | Path):
            arguments.append((_shown(parameter), names, str(value)))
    positional = [argument for argument in arguments if not argument[0].startswith("-")]
    _check_order(positional)
    for name, names, value in arguments:
        kind = kind_at(value)
        if kind not in (None, FOLDER) and not names.accept(kind) and names.kinds:
            raise UsageError(
                f"{value} is {kind}, but {name} must be {_needed(names.kinds)}; name another path"
            )


def _check_order(arguments: Sequence[tuple[str, Names, str]]) -> None:
    """If the arguments do not fit but would in another order, that order is suggested."""
    values = [value for _, _, value in arguments]
    kinds = {value: kind_at(value) for value in values}
    if all(names.accept(kinds[value]) for _, names, value in arguments):
        return
    for order in permutations(values):
        if all(names.accept(kinds[value]) for (_, names, _), value in zip(arguments, order, strict=True)):
            shown = " ".join(name for name, _, _ in arguments)
            raise UsageError(f"the order is {shown}; did you mean: {_command(values, order)}")


def _command(values: Sequence[str], order: Sequence[str]) -> str:
    """The command as it was typed, with the arguments in another order."""
    places = iter(order)
    typed = [next(places) if word in values else word for word in sys.argv[1:]]
    return shlex.join(["bagpack", *typed])


def _shown(parameter: inspect.Parameter) -> str:
    for info in parameter.annotation.__metadata__:
        if declared := getattr(info, "param_decls", None) or ():
            return str(declared[0])
        if isinstance(getattr(info, "default", None), str):  # typer keeps the first name of an option there
            return str(info.default)
        if metavar := getattr(info, "metavar", None):
            return str(metavar)
    return parameter.name.upper()


def _needed(kinds: Sequence[str]) -> str:
    first, *others = (_NEEDED.get(kind, kind) for kind in kinds)
    return " or ".join([", ".join([first, *others[:-1]]), *others[-1:]])
