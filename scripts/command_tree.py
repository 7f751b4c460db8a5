"""The commands of `bagpack` as data, for the reference page and the man page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer

from bagpack.cli import app


@dataclass(frozen=True)
class Parameter:
    """An argument or an option."""

    names: str  # `--out, -o PATH`, or `STORE`
    help: str
    default: str  # "" if there is none worth showing
    required: bool


@dataclass(frozen=True)
class CommandPage:
    """What one command takes."""

    name: str  # `bagpack engine build`
    summary: str
    more: str
    usage: str
    arguments: list[Parameter]
    options: list[Parameter]


def program_help() -> str:
    """The program's own sentence."""
    return plain(typer.main.get_command(app).help or "")


def program_options() -> list[Parameter]:
    """The options before a command; typer's own are described here, because its versions word them differently."""
    own = [p for p in typer.main.get_command(app).params if "completion" not in p.name]
    return [
        *map(_option, own),
        Parameter(
            "--install-completion", "Install completion for the shell that this is called from.", "", False
        ),
        Parameter("--show-completion", "Print that completion instead.", "", False),
        Parameter("-h, --help", "Show the options of a command and exit.", "", False),
    ]


def command_pages() -> Iterator[CommandPage]:
    """All commands, in the order of `bagpack --help`."""
    root = typer.main.get_command(app)
    yield from _pages(root, "bagpack")


def _pages(group: Any, path: str) -> Iterator[CommandPage]:
    for name, command in group.commands.items():
        if getattr(command, "commands", None):
            yield from _pages(command, f"{path} {name}")
        else:
            yield _page(command, f"{path} {name}")


def _page(command: Any, name: str) -> CommandPage:
    summary, _, more = plain(command.help or "").partition("\n\n")
    params = [p for p in command.params if not getattr(p, "hidden", False) and p.name != "help_all"]
    arguments = [_argument(p) for p in params if p.param_type_name == "argument"]
    options = [_option(p) for p in params if p.param_type_name == "option"]
    needed = [
        f"{max(p.opts, key=len)} {p.metavar}" for p in params if p.param_type_name == "option" and p.required
    ]
    usage = " ".join([name, *(p.names for p in arguments), *needed, "[OPTIONS]"])
    return CommandPage(name, summary, more, usage, arguments, options)


def _argument(parameter: Any) -> Parameter:
    name = f"{parameter.metavar}..." if parameter.nargs == -1 else parameter.metavar
    shown = name if parameter.required else f"[{name}]"
    return Parameter(shown, plain(parameter.help or ""), "", parameter.required)


def _option(parameter: Any) -> Parameter:
    names = sorted(parameter.opts, key=len, reverse=True)
    default = parameter.default
    nothing = parameter.is_flag or default in (None, "", [], ()) or callable(default)
    help_text = plain(parameter.help or "")
    if parameter.envvar:
        help_text += f" Environment: {parameter.envvar}."
    shown = f"{', '.join(names)} {'' if parameter.is_flag else parameter.metavar or ''}".rstrip()
    return Parameter(shown, help_text, "" if nothing else str(default), parameter.required)


def plain(text: str) -> str:
    """Without rich's markup, and with paragraphs on one line each."""
    text = re.sub(r"\[/?(?:bold|dim|italic)\]", "", text).replace("\f", "")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
