"""Errors that a user sees: one sentence with the value, the place and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any


class BagpackError(Exception):
    """Something the user can correct; the message is a sentence, the command exits with ``exit_code``."""

    exit_code = 1


class UsageError(BagpackError, ValueError):
    """The request itself was wrong (a bad option value, a wrong kind of file named); a ValueError too."""

    exit_code = 2


class InputError(BagpackError, ValueError):
    """Input (a file, or an argument of a function) is not what it should be; a ValueError too, as in scikit-learn."""


class StoreError(BagpackError):
    """A BagPack artefact is missing, damaged, of another version, or does not fit the others."""


def import_extra(module: str, package: str, extra: str, purpose: str) -> Any:
    """A module of an optional dependency, or an error that says what to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(f"{purpose} needs {package!r}: pip install 'bagpack[{extra}]'") from error


def did_you_mean(value: str, known: Iterable[str]) -> str:
    """The known value that is spelt most like this one, as part of a message; nothing if none is similar.

    >>> did_you_mean("modren", ["paper", "modern"]), did_you_mean("x", ["paper"])
    ('did you mean modern? ', '')
    """
    from difflib import get_close_matches

    spelt = {name.lower(): name for name in known}
    found = get_close_matches(value.lower(), spelt, 1)
    return f"did you mean {spelt[found[0]]}? " if found else ""
