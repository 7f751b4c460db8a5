"""How options are declared: described by `--help` or `--help-all`, with values that complete and are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import typer

from bagpack.cli.command import ADVANCED
from bagpack.errors import UsageError, did_you_mean

Values = Sequence[str] | Callable[[], Iterable[str]]


def common(
    *names: str, help: str, values: Values = (), only: bool = True, least: int | None = None,
    most: int | None = None, **more: Any,
) -> Any:  # fmt: skip
    """An option that `--help` describes.

    ``values`` complete in the shell; with ``only``, any other value is an error that suggests the nearest one. A value
    that ends in a colon (``group:``) allows all that begin with it. ``least`` and ``most`` are bounds of a number.
    """
    if values:
        more["autocompletion"] = _completer(values)
        if only:
            more["callback"] = _checker(names[0], values)
    if least is not None:
        more["callback"] = _bounded(names[0], least, most)
    return typer.Option(*names, help=help, **more)


def advanced(*names: str, help: str, **more: Any) -> Any:
    """An option that `--help` only lists, and `--help-all` describes."""
    return common(*names, help=help, rich_help_panel=ADVANCED, **more)


def _listed(values: Values) -> list[str]:
    return list(values() if callable(values) else values)


def _completer(values: Values) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [value for value in _listed(values) if value.startswith(incomplete)]

    return complete


def _checker(name: str, values: Values) -> Callable[[str | None], str | None]:
    def check(value: str | None) -> str | None:
        known = _listed(values)
        if value is not None and not any(
            value != one and value.startswith(one) if one.endswith(":") else value == one for one in known
        ):
            shown = [f"{one}COLUMN" if one == "group:" else one for one in known]
            raise UsageError(
                f"{name} {value} is unknown; {did_you_mean(value, shown)}choose one of {', '.join(shown)}"
            )
        return value

    return check


def _bounded(name: str, least: int, most: int | None) -> Callable[[int], int]:
    def check(value: int) -> int:
        if value < least or (most is not None and value > most):
            allowed = f"at least {least}" if most is None else f"{least} to {most}"
            raise UsageError(f"{name} must be {allowed}, not {value}")
        return value

    return check
