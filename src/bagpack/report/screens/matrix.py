"""The summary of a matrix that was counted."""

from __future__ import annotations

from typing import Any

from bagpack.console import print_about, print_message, some_of
from bagpack.numbers import many
from bagpack.wording import say_times


def show_matrix(facts: dict[str, Any]) -> None:
    """On standard error: sizes, duplicates, unknown words, and caps that applied."""
    print_about(
        facts["path"],
        f"{many(facts['pairs'], 'pair')} of {many(facts['words'], 'word')}, {facts['features']:,} features; "
        f"{facts['pairs_seen_together']:,} seen together, {facts['pairs_never_together']:,} never",
    )
    if facts["duplicate_rows"]:
        print_message(f"{rows_repeat(facts['duplicate_rows'])} a pair; each pair was counted once")
    print_unknown(facts["unknown_words"])
    for kind in ("word", "pair"):
        if capped := facts[f"capped_{kind}s"]:
            named = [f"{name} ({total:,})" for name, total in capped.items()]
            occur = many(len(capped), f"{kind} occurs", f"{kind}s occur")
            each = "" if len(capped) == 1 else " of each"
            were = "was" if facts["limit"] == 1 else "were"
            print_message(
                f"{occur} more than {say_times(facts['limit'])}; only {facts['limit']:,}{each} {were} counted: "
                f"{some_of(named)}",
                "yellow",
            )


def rows_repeat(count: int) -> str:
    """The beginning of a sentence about repeated rows."""
    return many(count, "row repeats", "rows repeat")


def print_unknown(words: list[str]) -> None:
    """On standard error, the words that the corpus does not have, if any."""
    if words:
        zero = "a zero vector" if len(words) == 1 else "zero vectors"
        print_message(f"{many(len(words), 'unknown word')}, {zero}: {some_of(words)}", "yellow")
