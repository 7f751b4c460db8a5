"""Wrong usage that typer noticed, in the words of the other errors."""

from __future__ import annotations

import re
import sys
from typing import Any

from bagpack.cli.command import usage
from bagpack.errors import did_you_mean


def wrong_usage(error: Any) -> str:
    """A sentence and the usage of the command; a command without its arguments prints its help instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message(), file=sys.stderr)
        return ""
    context = getattr(error, "ctx", None)
    sentence = _sentence(error, context)
    if context is None:
        return sentence
    shown = usage(context.command, context)
    return f"{sentence}\n  usage: {shown}\n  {context.command_path} --help describes it"


def _sentence(error: Any, context: Any) -> str:
    text = str(error.format_message()).strip().rstrip(".")
    if found := re.match("No such command '(.*?)'", text):
        meant = did_you_mean(found[1], getattr(context.command, "commands", ()))
        return f"there is no command {found[1]}; {meant}".rstrip("; ")
    if option := getattr(error, "option_name", ""):
        possible = getattr(error, "possibilities", None)
        if possible:
            return f"there is no option {option}; did you mean {possible[0]}?"
        if text.startswith("No such option"):
            return f"there is no option {option}"
    if found := re.match("Invalid value for '(.*?)'.*(integer|number|float)", text, re.DOTALL):
        names = found[1].split("' / '")
        kind = "an integer" if found[2] == "integer" else "a number"
        return f"{names[0]}{_typed(names)} is not {kind}"
    if found := re.match("Missing (argument|option) '(.*?)'", text):
        return f"the {found[1]} {found[2]} is missing"
    if found := re.match(r"Got unexpected extra arguments?(?:\(s\))? \((.*)\)", text):
        return f"there are too many arguments: {found[1]}; quote what contains blanks"
    return text[:1].lower() + text[1:]


def _typed(names: list[str]) -> str:
    """The value that was given for an option, if it can be seen."""
    for at, word in enumerate(sys.argv):
        for name in names:
            if word == name and at + 1 < len(sys.argv):
                return f" {sys.argv[at + 1]}"
            if word.startswith(f"{name}="):
                return f" {word.partition('=')[2]}"
    return ""
