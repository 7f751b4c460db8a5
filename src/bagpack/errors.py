"""Errors that a user sees: one sentence with the value, the place and the cure."""

from __future__ import annotations


class BagpackError(Exception):
    """Something the user can mend; the message is a sentence, the command exits with ``exit_code``."""

    exit_code = 1


class UsageError(BagpackError):
    """The request itself was wrong (a bad option value, a wrong kind of file named)."""

    exit_code = 2


class InputError(BagpackError):
    """An input file cannot be read as what it should be."""


class StoreError(BagpackError):
    """A BagPack artefact is missing, damaged, of another version, or does not fit the others."""


def missing_extra(package: str, extra: str, purpose: str) -> BagpackError:
    """The error for an optional dependency that is not installed."""
    return UsageError(f"{purpose} needs the package {package!r}: pip install 'bagpack[{extra}]'")
