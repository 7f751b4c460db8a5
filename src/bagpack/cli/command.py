"""How a function becomes a command: groups of options are expanded, and `--help` fits a screen.

A parameter annotated with a dataclass stands for all of its fields, each an option; the function receives the
dataclass. So an option that several commands share is declared once, in :mod:`bagpack.cli.options`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo, ParameterInfo

from bagpack.cli.arguments import check_arguments

if TYPE_CHECKING:
    from rich.console import Console

FIRST = "Start here"
CORPUS = "Corpora"
COUNTING = "Words, pairs and their counts"
FINDING = "Finding new pairs"
LEARNING = "Learning"
REASONS = "Explaining and exploring"
ENGINES = "Search engines as a source"

ADVANCED = "Advanced"
HELP = {"--help", "--help-all"}
NAMES = 27  # columns of a help page for the names of options, at most


class Command(TyperCommand):
    """A command whose help is one screen: common options are described, the others listed."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The help; `--help-all` describes every option."""
        formatter.write(help_page(self, ctx, bool(ctx.params.get("help_all"))))


class Group(TyperGroup):
    """Commands under one name; all of their help is one page, so `--help-all` is `--help`."""

    def get_help_option_names(self, ctx: Any) -> list[str]:
        """The options that show it."""
        return [*super().get_help_option_names(ctx), "--help-all"]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """The commands, grouped."""
        formatter.write(help_page(self, ctx, True))


def add(app: typer.Typer, panel: str, function: Callable[..., None], bare: bool = False) -> None:
    """Add a command to a group of `--help`; without arguments it shows its help, unless `bare` has a meaning."""
    app.command(cls=Command, rich_help_panel=panel, no_args_is_help=not bare)(expanded(function))


class LazyCommands(Mapping[str, Any]):
    """Commands by name; the module `PACKAGE.NAME`, whose function `NAME` is the command, is imported at first use."""

    def __init__(self, package: str, panels: Mapping[str, Sequence[str]]) -> None:
        self._package = package
        self._panels = {name: panel for panel, names in panels.items() for name in names}
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._make(name, self._panels[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._panels)

    def __len__(self) -> int:
        return len(self._panels)

    def _make(self, name: str, panel: str) -> Any:
        own = getattr(import_module(f"{self._package}.{name}"), name)
        if isinstance(own, typer.Typer):
            made = typer.main.get_command(own)
            made.rich_help_panel = panel  # type: ignore[attr-defined]
            return made
        app = typer.Typer(add_completion=False)
        add(app, panel, own, bare=panel == FIRST)
        return typer.main.get_command(app)


def expanded(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the fields of its dataclasses as parameters, for typer to read."""
    groups: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []  # the command's own first, then those it shares
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            groups[parameter.name] = parameter.annotation
        else:
            parameters.append(_keyword(parameter.name, parameter.annotation, parameter.default))
    for group in groups.values():
        parameters += _fields_of(group)
    advanced = any(_is_advanced(parameter.annotation) for parameter in parameters)
    parameters.append(_keyword("help_all", _help_all(hidden=not advanced), False))

    def run(**given: Any) -> None:
        given.pop("help_all", None)
        check_arguments(parameters, given)
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        function(**given)

    run.__name__, run.__doc__, run.__module__ = function.__name__, function.__doc__, function.__module__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _fields_of(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield _keyword(field.name, hints[field.name], default)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """The parameter; its value gets a name for help (`N`, `FILE`), since typer would show a type."""
    base, *more = get_args(annotation) if hasattr(annotation, "__metadata__") else (annotation,)
    for at, info in enumerate(more):
        if isinstance(info, ParameterInfo) and info.metavar is None and base is not bool:
            info = copy(info)
            info.metavar = _value_name(name, base, isinstance(info, OptionInfo))
            more[at] = info
    shown = Annotated[(base, *more)] if more else annotation
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=shown)


def _value_name(name: str, base: Any, is_option: bool) -> str:
    if is_option and {int, float} & {base, *get_args(base)}:
        return "N"
    return name.rpartition("_")[2].upper()


def _is_advanced(annotation: Any) -> bool:
    return any(
        getattr(info, "rich_help_panel", None) == ADVANCED for info in getattr(annotation, "__metadata__", ())
    )


def _describe_all(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.params["help_all"] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def _help_all(hidden: bool) -> Any:
    words = "Describe every option."
    option = typer.Option("--help-all", is_eager=True, callback=_describe_all, help=words, hidden=hidden)
    return Annotated[bool, option]


def help_page(command: Any, ctx: Any, everything: bool) -> str:
    """Usage, summary, arguments, options; the commands of a group."""
    from bagpack import console

    screen = console.screen()
    with screen.capture() as page:
        _print_help(screen, command, ctx, everything)
    return page.get()


def _print_help(screen: Console, command: Any, ctx: Any, everything: bool) -> None:
    from rich.text import Text

    from bagpack import console

    params = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    arguments = [param for param in params if param.param_type_name == "argument"]
    options = [param for param in params if param.param_type_name == "option"]
    screen.print(Text.assemble(("Usage: ", "bold"), usage(command, ctx)))
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        screen.print(Text("\n" + " ".join(paragraph.split())))
    screen.print()
    common = [param for param in options if getattr(param, "rich_help_panel", None) != ADVANCED]
    advanced = [param for param in options if param not in common]
    rows = partial(_rows, screen)
    if arguments:
        rows("Arguments", [(_argument(param), param.help or "") for param in arguments])
    if hasattr(command, "commands"):
        for panel, listed in _panels(command, ctx).items():
            rows(panel, listed)
    if advanced and not everything:
        common = [param for param in common if not HELP & set(param.opts)]
    rows("Options", [(_names(param), _words(param)) for param in common])
    if advanced and everything:
        rows(ADVANCED, [(_names(param), _words(param)) for param in advanced])
    elif advanced:
        screen.print(
            Text.assemble(ADVANCED, (f" (described by {ctx.command_path} --help-all)", "dim")), style="bold"
        )
        names = " ".join(max(param.opts, key=len) for param in advanced)
        console.hang(screen, Text("  "), Text(names))


def usage(command: Any, ctx: Any) -> str:
    """A line such as `bagpack train STORE DATA --out MODEL [OPTIONS]`."""
    if hasattr(command, "commands"):
        return f"{ctx.command_path} COMMAND [OPTIONS]"
    params = command.get_params(ctx)
    arguments = [_argument(param) for param in params if param.param_type_name == "argument"]
    needed = [
        f"{max(param.opts, key=len)} {param.metavar}"
        for param in params
        if param.param_type_name == "option" and param.required
    ]
    return " ".join([ctx.command_path, *arguments, *needed, "[OPTIONS]"])


def _argument(param: Any) -> str:
    name = f"{param.metavar}..." if param.nargs == -1 else str(param.metavar)
    return name if param.required else f"[{name}]"


def _names(param: Any) -> str:
    names = ", ".join(sorted(param.opts, key=len))
    return names if param.is_flag else f"{names} {param.metavar or ''}".rstrip()


def _words(param: Any) -> str:
    words = (param.help or "").rstrip(".")
    if param.required:
        return f"{words} (required)"
    default = param.default
    if param.is_flag or default in (None, "", [], ()) or callable(default):
        return words
    return f"{words} [{default}]"


def _panels(group: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    panels: dict[str, list[tuple[str, str]]] = {}
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        summary = inspect.cleandoc(command.help or "").partition("\n\n")[0]
        row = (name, " ".join(summary.split()).rstrip("."))
        panels.setdefault(getattr(command, "rich_help_panel", None) or "Commands", []).append(row)
    return panels


def _rows(screen: Console, title: str, rows: list[tuple[str, str]]) -> None:
    """Two columns below a title; names that are too long for theirs have a line of their own."""
    from rich.text import Text

    from bagpack import console

    screen.print(title, style="bold")
    width = min(max(len(name) for name, _ in rows), NAMES) + 4
    for name, words in rows:
        first = Text(f"  {name}".ljust(width), style="cyan")
        if len(first) > width:
            screen.print(first)
            first = Text(" " * width)
        console.hang(screen, first, Text(words or " "))
