"""How commands look in `--help`: what values are called, and which commands stand together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

FIRST = "To begin with"
CORPUS = "Corpora"
COUNTING = "Words, pairs and their counts"
LEARNING = "Learning"
REASONS = "Explaining and exploring"
ENGINES = "Search engines as a source"

# By name, because typer's versions differ in how they tell an option's type.
NUMBERS = (
    "-b", "--jobs", "--top", "--lines", "--folds", "--rounds", "--seed", "--max-sentence", "--retries",
    "--connections", "--spend", "--port",
)  # fmt: skip


class Command(TyperCommand):
    """A command whose values have names, and whose flags have none; typer tells types (`<bool>`, `<list[str]>`)."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The arguments and options, `--help` among them."""
        return named(super().get_params(ctx))


class Group(TyperGroup):
    """Commands under one name, which does the same."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options before a command."""
        return named(super().get_params(ctx))


def named(params: list[Any]) -> list[Any]:
    """The same parameters, each with the name of its value."""
    for param in params:
        if param.metavar is None:
            param.metavar = value_name(param)
        if param.param_type_name == "argument":
            param.display_type_rich = lambda ctx: None
    return params


def value_name(param: Any) -> str:
    """`STORE` of an argument, `N` of a whole number, `FIELD` of `--text-field`, nothing of a flag."""
    if param.param_type_name == "argument":
        return str(param.name.upper())
    if param.is_flag:
        return ""
    option = str(max(param.opts, key=len))
    if option in ("--bad-lines", "--encoding-errors"):
        return "HOW"
    return "N" if option in NUMBERS else option.lstrip("-").rpartition("-")[2].upper()


def add(app: typer.Typer, panel: str, *commands: Callable[..., None], bare: bool = False) -> None:
    """Add commands to a group of `--help`; without arguments they show their help, unless `bare` has a meaning."""
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel, no_args_is_help=not bare)(command)
