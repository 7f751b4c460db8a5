"""The collocates of a word, in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.console import hang, screen
from bagpack.numbers import many
from bagpack.wording import first_words

if TYPE_CHECKING:
    from bagpack.find.relations import Relations

WIDTH = 200  # characters of a sentence


def show_relations(found: Relations, shown: int) -> None:
    """Each group with its patterns, its words, and the sentences of the first of them."""
    from rich.text import Text

    out = screen()
    out.print(
        f"{found.word}: {many(found.neighbours, 'word')} in {many(len(found.groups), 'group')}", style="bold"
    )
    for number, group in enumerate(found.groups, 1):
        out.print()
        hang(out, Text(f"{number}  "), Text("  |  ".join(group.patterns) or "no pattern of its own", "bold"))
        listed = ", ".join(f"{own.word} {own.together:,}" for own in group.words[: 4 * shown])
        more = len(group.words) - 4 * shown
        hang(out, Text("   "), Text(listed + (f" and {more:,} more" if more > 0 else "")))
        for own in group.words[:shown]:
            if own.sentence:
                hang(out, Text("     "), Text(first_words(own.sentence, WIDTH), "dim"))
