"""How well a corpus covers a data set, and what looks like a mistake in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bagpack.console import plain_table, print_message, screen, some_of
from bagpack.numbers import many
from bagpack.report.screens.matrix import rows_repeat
from bagpack.tasks.oddities import similar_labels_sentence

if TYPE_CHECKING:
    from rich.console import Console

SHOWN = 5  # examples of a likely mistake


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
    _show_oddities(out, facts)


def coverage_table(
    facts: dict[str, Any],
    pairs: Sequence[tuple[str, str]],
    lines: Sequence[int] | None = None,
    targets: Sequence[str | float] | None = None,
) -> Iterator[list[str | float | int | None]]:
    """A row for each row of the data set: how often the pair was seen, its unknown words, and likely mistakes."""
    remarks: dict[tuple[str, str], list[str]] = {}
    for name, words in (
        ("repeated_pairs", "repeated"),
        ("swapped_pairs", "in both orders"),
        ("pairs_with_several_labels", "several labels"),
        ("same_word_twice", "one word twice"),
    ):
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
    for kind in ("word", "pair"):
        if capped := facts[f"capped_{kind}s"]:
            named = [f"{name} ({total:,})" for name, total in capped.items()]
            past = many(len(capped), f"{kind} exceeds", f"{kind}s exceed")
            print_message(f"{past} the cap of {facts['limit']:,}: {some_of(named)}", None, out)


def _show_oddities(out: Console, facts: dict[str, Any]) -> None:
    """Likely mistakes, with the first few and their lines."""
    if "repeated_pairs" not in facts and facts["duplicate_rows"]:  # questions share pairs
        print_message(f"{rows_repeat(facts['duplicate_rows'])} a pair", None, out)
    if repeated := facts.get("repeated_pairs"):
        named = [f"{_shown(odd)} ({_lines(odd)})" for odd in repeated]
        rows = sum(len(odd["lines"]) - 1 for odd in repeated)
        print_message(f"{rows_repeat(rows)} a pair: {some_of(named, SHOWN)}", None, out)
    if swapped := facts.get("swapped_pairs"):
        named = [f"{_shown(odd)} ({_lines(odd)})" for odd in swapped]
        occur = many(len(swapped), "pair occurs", "pairs occur")
        print_message(
            f"{occur} in both orders; evaluate keeps each in one fold: {some_of(named, SHOWN)}", None, out
        )
    if several := facts.get("pairs_with_several_labels"):
        have = many(len(several), "pair has", "pairs have")
        named = []
        for odd in several:
            given = (
                f"{label} in line {line:,}" for label, line in zip(odd["labels"], odd["lines"], strict=True)
            )
            named.append(f"{_shown(odd)} ({', '.join(given)})")
        print_message(f"{have} several labels: {some_of(named, SHOWN)}", "yellow", out)
    for group in facts.get("similar_labels", ()):
        print_message(similar_labels_sentence(group), "yellow", out)
    if same := facts.get("same_word_twice"):
        named = [f"{_shown(odd)} ({_lines(odd)})" for odd in same]
        pairs = many(len(same), "pair is", "pairs are")
        print_message(f"{pairs} one word twice: {some_of(named, SHOWN)}", "yellow", out)
    if reason := facts.get("not_for_evaluate"):
        print_message(f"evaluate cannot use it: {reason}", "yellow", out)


def _shown(odd: dict[str, Any]) -> str:
    return " – ".join(odd["pair"])


def _lines(odd: dict[str, Any]) -> str:
    lines = [f"{line:,}" for line in odd["lines"]]
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}"
