"""A page from top to bottom: every example run, every difference reported."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from tests.docs.kit import Kit
from tests.docs.markdown import COMMANDS, DATA, PYTHON, Block, blocks, commands, given, matches
from tests.docs.session import Session


class DifferenceError(Exception):
    """An example that does not do what the page says."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")


def run_page(page: Path, kit: Kit, directory: Path) -> None:
    """Run a page's examples in order; stops at the first that differs."""
    kit.lay_out(directory, given(page))
    listed = blocks(page)
    with Session(directory) as session:
        for block, after in zip_longest(listed, listed[1:]):
            if block.reason is None and not block.indented:
                _run(block, after, session)


def _run(block: Block, after: Block | None, session: Session) -> None:
    if block.title is not None:
        target = session.directory / block.title
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")
    elif block.language in COMMANDS:
        for command in commands(block):
            code, got = session.command(command.text)
            place, said = f"{block.place.rpartition(':')[0]}:{command.line}", "\n".join(got)
            if (code == 0) == any(line.startswith("bagpack: ") for line in command.output):
                raise DifferenceError(place, f"`{command.text}` ended with {code}\n{said}")
            if command.output and not matches(command.output, got):
                raise DifferenceError(place, f"`{command.text}` printed\n{said}")
    elif block.language == "python":
        printed = session.python(block.text, block.place)
        shown = after.text.splitlines() if after is not None and after.language == "output" else None
        if shown is not None and not matches(shown, printed):
            raise DifferenceError(block.place, "it printed\n" + "\n".join(printed))
    elif block.language == "pycon" and (said := session.interactive(block.text, block.place)):
        raise DifferenceError(block.place, said)


def problems(block: Block) -> str | None:
    """What keeps a block from being either run or plainly data."""
    if block.reason is not None:
        return None if len(block.reason) > 5 else "says that it is not run, and not why"
    if block.indented:
        first = block.text.split(maxsplit=1)[:1]
        runs = first in (["bagpack"], ["$"], ["pip"], ["make"], ["curl"], ["import"], ["from"], ["python"])
        return "is indented, so it is not run; fence it as sh, console or python" if runs else None
    if block.language not in (*COMMANDS, *PYTHON, *DATA):
        return f"has the language {block.language!r}; use one of {', '.join((*COMMANDS, *PYTHON, *DATA))}"
    return None
