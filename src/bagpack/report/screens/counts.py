"""What was counted: the summary of a matrix, how well a corpus covers a data set, and likely mistakes in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bagpack.console import plain_table, print_about, print_message, screen, some_of
from bagpack.numbers import many
from bagpack.tasks.checks import similar_labels_sentence

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 5  # examples of a likely mistake
# Likely mistakes: the sentence for one pair and for several, and the remark in a table of rows.
MISTAKES = {
    "repeated_pairs": ("pair is repeated", "pairs are repeated", "repeated"),
    "swapped_pairs": (
        "pair occurs in both orders; evaluate keeps it in one fold",
        "pairs occur in both orders; evaluate keeps each in one fold",
        "in both orders",
    ),
    "pairs_with_several_labels": ("pair has several labels", "pairs have several labels", "several labels"),
    "same_word_twice": ("pair is one word twice", "pairs are one word twice", "one word twice"),
}


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
    print_capped(facts)


def print_capped(facts: dict[str, Any], out: Console | None = None) -> None:
    """Words and pairs of which only the first observations are counted."""
    for kind in ("word", "pair"):
        if capped := facts[f"capped_{kind}s"]:
            named = [f"{name} ({total:,})" for name, total in capped.items()]
            exceed = many(len(capped), f"{kind} exceeds", f"{kind}s exceed")
            limit = many(facts["limit"], "observation")
            print_message(f"{exceed} the limit of {limit}: {some_of(named)}", "yellow", out)


def rows_repeat(count: int) -> str:
    """The beginning of a sentence about repeated rows."""
    return many(count, "row repeats", "rows repeat")


def print_unknown(words: list[str]) -> None:
    """On standard error, the words that the corpus does not have, if any."""
    if words:
        zero = "a zero vector" if len(words) == 1 else "zero vectors"
        print_message(f"{many(len(words), 'unknown word')}, {zero}: {some_of(words)}", "yellow")


def show_coverage(facts: dict[str, Any]) -> None:
    """Print what `bagpack check` found."""
    from rich.text import Text

    out = screen()
    counts = f"{many(facts['rows'], 'row')}, {many(facts['words'], 'word')}"
    print_message(Text.assemble((facts["path"], "bold"), f": {counts}"), None, out)
    seen = [
        (f"{name} times", f"{count:,}", f"{100 * count / facts['rows']:.1f} %")
        for name, count in facts["rows_by_frequency"].items()
    ]
    out.print(plain_table(("seen together", "rows", "share"), seen))
    if "labels" in facts:
        by_label = []
        for label, values in facts["labels"].items():
            share = 100 * values["together"] / values["rows"]
            by_label.append((label, f"{values['rows']:,}", f"{values['together']:,} ({share:.0f} %)"))
        out.print(plain_table(("label", "rows", "seen together"), by_label))
    _show_words(out, facts)
    _show_mistakes(out, facts)


def coverage_table(
    facts: dict[str, Any],
    pairs: Sequence[tuple[str, str]],
    lines: Sequence[int] | None = None,
    targets: Sequence[str | float] | None = None,
) -> Iterator[list[str | float | int | None]]:
    """A row for each row of the data set: how often the pair was seen, its unknown words, and likely mistakes."""
    remarks: dict[tuple[str, str], list[str]] = {}
    for name, (*_, words) in MISTAKES.items():
        for odd in facts.get(name, ()):
            pair = tuple(odd["pair"])
            for one in (pair, pair[::-1]) if name == "swapped_pairs" else (pair,):
                remarks.setdefault(one, []).append(words)
    similar = {label for group in facts.get("similar_labels", ()) for label in group}
    unknown = set(facts["unknown_words"])
    yield [
        *(["line"] if lines else []), "w1", "w2", *(["target"] if targets else []), "together", "unknown words",
        "remarks",
    ]  # fmt: skip
    for at, (pair, together) in enumerate(zip(pairs, facts["together"], strict=True)):
        notes = [*remarks.get(pair, ()), *(["similar labels"] if targets and targets[at] in similar else [])]
        yield [
            *([lines[at]] if lines else []), *pair, *([targets[at]] if targets else []), together,
            ", ".join(word for word in dict.fromkeys(pair) if word in unknown), "; ".join(notes),
        ]  # fmt: skip


def _show_words(out: Console, facts: dict[str, Any]) -> None:
    if unknown := facts["unknown_words"]:
        rows = many(facts["rows_with_unknown_words"], "row")
        print_message(f"{many(len(unknown), 'unknown word')} in {rows}: {some_of(unknown)}", "yellow", out)
    if others := facts["elsewhere"]:
        named = [f"{item['word']} ({item['key']})" for item in others]
        words = many(
            len(others),
            "word is mostly a form of another lemma",
            "words are mostly forms of other lemmas",
        )
        print_message(f"{words}: {some_of(named)}", "yellow", out)
    print_capped(facts, out)


def _show_mistakes(out: Console, facts: dict[str, Any]) -> None:
    """Likely mistakes, with the first few and their lines."""
    if "repeated_pairs" not in facts and facts["duplicate_rows"]:  # questions share pairs
        print_message(f"{rows_repeat(facts['duplicate_rows'])} a pair", None, out)
    for name, (one, several, _) in MISTAKES.items():
        if found := facts.get(name):
            print_message(
                f"{many(len(found), one, several)}: {some_of(list(map(_shown, found)), SHOWN)}", "yellow", out
            )
    for group in facts.get("similar_labels", ()):
        print_message(similar_labels_sentence(group), "yellow", out)
    if reason := facts.get("not_for_evaluate"):
        print_message(f"evaluate cannot use it: {reason}", "yellow", out)


def _shown(mistake: dict[str, Any]) -> str:
    """A pair with its lines, and their labels if they differ."""
    lines = [f"{line:,}" for line in mistake["lines"]]
    if "labels" in mistake:
        given = zip(mistake["labels"], lines, strict=True)
        where = ", ".join(f"{label} in line {line}" for label, line in given)
    else:
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}"
    return f"{' – '.join(mistake['pair'])} ({where})"
