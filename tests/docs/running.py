"""Run the examples of a page: a test compares the outputs with those that are shown, a script rewrites these."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path

from tests.docs.kit import Kit
from tests.docs.markdown import COMMANDS, Block, blocks, commands, given, matches
from tests.docs.session import Session


class DifferenceError(Exception):
    """An example that does not do what the page says."""

    def __init__(self, place: str, message: str):
        super().__init__(f"{place}: {message}")


def run_page(page: Path, kit: Kit, directory: Path, printed: dict[int, list[str]] | None = None) -> None:
    """Run a page's examples in order; stops at the first that differs.

    With ``printed``, other outputs than those shown are no difference: all go there, by the line of the command or of
    the block that shows them.
    """
    kit.lay_out(directory, given(page))
    listed = blocks(page)
    with Session(directory) as session:
        for block, after in zip_longest(listed, listed[1:]):
            if block.reason is None and not block.indented:
                _run(block, after, session, printed)


def _run(block: Block, after: Block | None, session: Session, printed: dict[int, list[str]] | None) -> None:
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
            if printed is not None:
                printed[command.line] = got
            elif command.output and not matches(command.output, got):
                raise DifferenceError(place, f"`{command.text}` printed\n{said}")
    elif block.language == "python":
        got = session.python(block.text, block.place)
        shown = after if after is not None and after.language == "output" else None
        if shown is not None and printed is not None:
            printed[shown.line] = got
        elif shown is not None and not matches(shown.text.splitlines(), got):
            raise DifferenceError(block.place, "it printed\n" + "\n".join(got))
    elif block.language == "pycon" and (said := session.interactive(block.text, block.place)):
        raise DifferenceError(block.place, said)
