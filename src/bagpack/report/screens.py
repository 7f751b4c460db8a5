"""What commands print on a terminal: sentences, counts, facts and explanations. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table as RichTable
from rich.text import Text

from bagpack.console import print_message, screen, some_of
from bagpack.numbers import many, metric_label, show_count, show_probability, show_value
from bagpack.tasks.checks import similar_labels_sentence
from bagpack.wording import describe_block, first_words, last_words, say_counts, say_times

if TYPE_CHECKING:
    from rich.console import Console

    from bagpack.contexts.concordance import Concordance, Context
    from bagpack.explain.decision import Decision, Part
    from bagpack.explain.distribution import Distribution
    from bagpack.explain.explanation import Explanation
    from bagpack.explain.reasons import Reason
    from bagpack.find.ranking import Found

# Of the seven pieces of a line: around, left, w1, between, w2, right, around.
PIECES = ("dim", "cyan", "bold red", "yellow", "bold red", "cyan", "dim")
WIDTH = 110  # characters of a sentence around the two words
SHOWN = 5  # examples of a likely mistake
# Likely mistakes: the sentence for one pair and for several, and the remark in a table of rows.
MISTAKES = {
    "repeated_pairs": ("pair is repeated", "pairs are repeated", "repeated"),
    "swapped_pairs": ("pair occurs in both orders", "pairs occur in both orders", "in both orders"),
    "pairs_with_several_labels": ("pair has several labels", "pairs have several labels", "several labels"),
    "same_word_twice": ("pair is one word twice", "pairs are one word twice", "one word twice"),
}
SEEN = ("together", "unknown words", "remarks")  # the last columns of a table of rows
KEYS, ITEMS = 20, 5  # of a mapping, of a list
NAME = 18  # columns; longer names are wrapped, so that most of a terminal is for the values
Marked = tuple[str, str]  # a piece of text, and what it is: w1, w2, term or nothing
# A reason against a label is no error, so it is not red.
MARKS = {"": "", "w1": "bold", "w2": "bold", "term": "bold cyan"}
TRAINED = "The model was trained on this pair, so the prediction is not evidence."


def hang(console: Console, first: Text, rest: Text) -> None:
    """Print the rest after the first; further lines are indented to where the rest begins."""
    for line in rest.wrap(console, max(console.width - first.cell_len, 20)):
        line.rstrip()
        console.print(first + line, soft_wrap=True)
        first = first.blank_copy(" " * first.cell_len)


def plain_table(names: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> RichTable:
    """A table without lines: the first column is text, the others numbers."""
    table = RichTable(box=None, pad_edge=False)
    for at, name in enumerate(names):
        table.add_column(name, justify="right" if at else "left")
    for row in rows:
        table.add_row(*row)
    return table


def show_lines(found: Concordance, out: Console | None = None) -> None:
    """Each sentence with its segments in colours; wrapped on a terminal, elsewhere one line each."""
    out = out or screen()
    for line in found:
        text = Text()
        for piece, style in zip(line.pieces, PIECES, strict=True):
            stripped = piece.lstrip()
            text.append(piece[: len(piece) - len(stripped)] if text else "")
            text.append(stripped, style=style)
        text = Text(f"{line.order} " if line.order else "", style="bold") + text
        text.append(f"  [{line.document}]", style="dim italic")
        out.print(text, soft_wrap=not out.is_terminal)


def show_distribution(found: Distribution) -> None:
    """A row for each value: how often, how often per million tokens, and a bar of that."""
    most = max((row.per_million for row in found.rows), default=0.0) or 1.0
    rows = [
        (
            row.value or "(none)", f"{row.count:,}", f"{row.tokens:,}", f"{row.per_million:,.2f}",
            Text("█" * round(24 * row.per_million / most), style="cyan", justify="left"),
        )
        for row in found.rows
    ]  # fmt: skip
    screen().print(plain_table((found.attribute, "count", "tokens", "per million", ""), rows))


def show_found(found: Found) -> None:
    """Rank, score, pair; below it the sentence, with the two words in bold."""
    out = screen()
    if not found.rows:
        out.print("no pair was found", style="yellow")
        return
    width = len(str(found.rows[-1].rank))
    for row in found.rows:
        bar = score_bar(row.score, found.rows[0].score)
        first = Text.assemble(f"{row.rank:{width}}  ", (bar, "cyan"), "  ")
        together = f"together {say_times(row.together)}" if row.together else "never together"
        about = Text.assemble((f"{row.w1} – {row.w2}", "bold"), (f"  {together}", "dim"))
        hang(out, first, about)
        if row.line is not None:
            hang(out, Text(" " * first.cell_len), sentence_text(row.line))
        if row.reasons:
            hang(out, Text(" " * first.cell_len), Text(row.reasons, "dim"))


def score_bar(score: float, best: float) -> str:
    """Five characters: how high a score is next to the best one."""
    share = min(max(score / best, 0.0), 1.0) if best > 0 else 0.0
    return ("▪" * round(5 * share)).ljust(5, "·")


def sentence_text(line: Context) -> Text:
    """A sentence with its two words in bold, cut at both ends where it is long."""
    before, *middle, after = (piece.replace("\n", " ") for piece in line.pieces)
    spare = max(WIDTH - len("".join(middle)), 0) // 2
    words = zip(middle, ("", "bold", "", "bold", ""), strict=True)
    text = Text.assemble((last_words(before, spare), "dim"), *words, (first_words(after, spare), "dim"))
    return text[len(text.plain) - len(text.plain.lstrip()) :]


def show_matrix(facts: dict[str, Any]) -> None:
    """On standard error: sizes, duplicates, unknown words, and caps that applied."""
    print_message(
        f"{facts['path']}: {many(facts['pairs'], 'pair')} of {many(facts['words'], 'word')}, "
        f"{facts['features']:,} features; "
        f"{facts['pairs_seen_together']:,} seen together, {facts['pairs_never_together']:,} never"
    )
    if repeated := facts["duplicate_rows"]:
        print_message(f"{many(repeated, 'row repeats', 'rows repeat')} a pair; each pair was counted once")
    print_unknown(facts["unknown_words"])
    for sentence in _capped(facts):
        print_message(sentence, "yellow")


def _capped(facts: dict[str, Any]) -> Iterator[str]:
    """Words and pairs of which only the first observations are counted."""
    for kind in ("word", "pair"):
        if capped := facts[f"capped_{kind}s"]:
            named = [f"{name} ({total:,})" for name, total in capped.items()]
            exceed = many(len(capped), f"{kind} exceeds", f"{kind}s exceed")
            yield f"{exceed} the limit of {many(facts['limit'], 'observation')}: {some_of(named)}"


def print_unknown(words: list[str]) -> None:
    """On standard error, the words that the corpus does not have, if any."""
    if words:
        zero = "a zero vector" if len(words) == 1 else "zero vectors"
        print_message(f"{many(len(words), 'unknown word')}, {zero}: {some_of(words)}", "yellow")


def show_coverage(facts: dict[str, Any]) -> None:
    """Print what `bagpack check` found: coverage, then likely mistakes, the first few with their lines."""
    out = screen()
    counts = f"{many(facts['rows'], 'row')}, {many(facts['words'], 'word')}"
    print_message(Text.assemble((facts["path"], "bold"), f": {counts}"), None, out)
    seen = [
        (f"{name} times", f"{count:,}", f"{100 * count / facts['rows']:.1f} %")
        for name, count in facts["rows_by_frequency"].items()
    ]
    out.print(plain_table(("seen together", "rows", "share"), seen))
    if labels := facts.get("labels"):
        by_label = [
            (label, f"{n['rows']:,}", f"{n['together']:,} ({100 * n['together'] / n['rows']:.0f} %)")
            for label, n in labels.items()
        ]
        out.print(plain_table(("label", "rows", "seen together"), by_label))
    said = []
    if unknown := facts["unknown_words"]:
        rows = many(facts["rows_with_unknown_words"], "row")
        said.append(f"{many(len(unknown), 'unknown word')} in {rows}: {some_of(unknown)}")
    said += _capped(facts)
    for name, (one, several, _) in MISTAKES.items():
        if found := facts.get(name):
            said.append(f"{many(len(found), one, several)}: {some_of(list(map(_shown, found)), SHOWN)}")
    for sentence in [*said, *map(similar_labels_sentence, facts.get("similar_labels", ()))]:
        print_message(sentence, "yellow", out)


def _shown(mistake: dict[str, Any]) -> str:
    """A pair with its lines, and their labels if they differ."""
    lines = [f"line {line:,}" for line in mistake["lines"]]
    if "labels" in mistake:
        lines = [f"{label} in {line}" for label, line in zip(mistake["labels"], lines, strict=True)]
    return f"{' – '.join(mistake['pair'])} ({', '.join(lines)})"


def coverage_table(
    facts: dict[str, Any], pairs: Sequence[tuple[str, str]], lines: Sequence[int] | None = None,
    targets: Sequence[str | float] | None = None,
) -> Iterator[list[str | float | int | None]]:  # fmt: skip
    """A row for each row of the data set: how often the pair was seen, its unknown words, and likely mistakes."""
    remarks: dict[tuple[str, str], list[str]] = {}
    for name, (*_, words) in MISTAKES.items():
        for odd in facts.get(name, ()):
            pair = tuple(odd["pair"])
            for one in (pair, pair[::-1]) if name == "swapped_pairs" else (pair,):
                remarks.setdefault(one, []).append(words)
    unknown = set(facts["unknown_words"])
    yield [*(["line"] if lines else []), "w1", "w2", *(["target"] if targets else []), *SEEN]
    for at, (pair, together) in enumerate(zip(pairs, facts["together"], strict=True)):
        lost = ", ".join(word for word in dict.fromkeys(pair) if word in unknown)
        line, target = [lines[at]] if lines else [], [targets[at]] if targets else []
        yield [*line, *pair, *target, together, lost, "; ".join(remarks.get(pair, ()))]


def show_artefact(facts: dict[str, Any]) -> None:
    """Print the facts about a store, snippets, a matrix, a model or a basis; a model's scores below them."""
    facts = dict(facts)
    scores = facts.pop("scores", None)
    if "attributes" in facts:
        facts["attributes"] = "\n".join(_attribute(name, own) for name, own in facts["attributes"].items())
    facts |= {name: ", ".join(facts[name]) for name in ("labels", "blocks") if name in facts}
    table = RichTable(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", max_width=NAME)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value not in ([], {}, ""):
            table.add_row(name.replace("_", " "), Text(_cell(value)))
    out = screen()
    out.print(table)
    if scores:
        _show_scores(out, scores)


def _show_scores(out: Console, scores: dict[str, Any]) -> None:
    """The scores that a model was saved with."""
    from bagpack.evaluate.result import Score
    from bagpack.report.sections import Cell, Table, score_cell
    from bagpack.report.terminal import split_table

    metrics = list(dict.fromkeys(metric for row in scores.values() for metric in row))
    rows = [
        [Cell(name), *(score_cell(Score(**own[one]) if one in own else None, one) for one in metrics)]
        for name, own in scores.items()
    ]
    for part in split_table("", Table(["condition", *map(metric_label, metrics)], rows), out.width):
        out.print(part)


def _attribute(name: str, facts: dict[str, Any]) -> str:
    """An attribute of documents, in one line or two: its values, unless nearly every document has its own."""
    counted = f"{name}: {many(facts['values'], 'value')} in {many(facts['documents'], 'document')}"
    if "from" in facts:
        return f"{counted}, {facts['from']} to {facts['to']}"
    if 2 * facts["values"] > facts["documents"] > ITEMS:
        return counted
    shown = [f"{value} {count:,}" for value, count in facts["most_frequent"].items()]
    return f"{counted}: {', '.join(shown)}{', …' if facts['values'] > len(shown) else ''}"


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        nested = {
            name: f"({_cell(own)})" if isinstance(own, dict) else _cell(own) for name, own in value.items()
        }
        more = f", and {len(value) - KEYS:,} more" if len(value) > KEYS else ""
        return ", ".join(f"{name} {text or 'none'}" for name, text in list(nested.items())[:KEYS]) + more
    if isinstance(value, list):
        more = f"\n… and {len(value) - ITEMS:,} more" if len(value) > ITEMS else ""
        return "\n".join(map(_cell, value[:ITEMS])) + more
    return show_value(value) if value is None or isinstance(value, bool) else show_count(value)


def show_explanation(found: Explanation, features: bool = False) -> None:
    """The answer, then each label's parts (and its features); labels that are not explained get one line each."""
    out = screen()
    if found.trained:
        out.print(TRAINED, style="bold yellow")
    answer = "no prediction" if found.answer is None else found.answer
    sure = "" if found.probability is None else f", probability {show_probability(found.probability)}"
    out.print(
        Text.assemble((f"{found.w1} – {found.w2}: {answer}", "bold"), "" if found.answer is None else sure)
    )
    for note in found.notes:
        out.print(note, style="yellow" if note.startswith("no prediction") else "dim")
    out.print(say_counts(found.w1, found.w2, found.counts), style="dim")
    listed = [d for d in found.decisions if d.reasons] or [*found.decisions[:1]]  # a pair without any counts
    for decision in listed:
        _show_decision(out, decision, found.w1, found.w2, features)
    others = [decision for decision in found.decisions if decision not in listed]
    if others:
        out.print("\nthe other labels (in full with --label LABEL, or --label all)", style="dim")
    for decision in others:
        likely = "" if decision.probability is None else f"{show_probability(decision.probability):>6}  "
        line = ("  ", (likely, "bold"), f"{decision.label}  ", (f"{decision.value:+.3f}", "dim"))
        out.print(Text.assemble(*line))


def _show_decision(out: Console, decision: Decision, w1: str, w2: str, features: bool) -> None:
    out.print()
    head = decision.label
    if decision.probability is not None:
        head += f" {show_probability(decision.probability)}"
    out.print(Text.assemble((head, "bold"), f"  {decision.summary}" if decision.summary else ""))
    if decision.parts:
        blocks = {"together": "v12", "first": "v1", "second": "v2"}
        names = {name: describe_block(block, w1, w2) for name, block in blocks.items()}
        parts = [f"{decision.base:+.3f} the mean training pair"]
        parts += [f"{part.value:+.3f} {names[part.name]}" for part in decision.parts]
        hang(out, Text(f"  {decision.value:+.3f} = "), Text(" ".join(parts)))
        for part in decision.parts:
            name = f"{w1} and {w2} together" if part.name == "together" else names[part.name]
            out.print(Text.assemble(f"  {part.value:+.3f}  ", (name, "bold")))
            for reason in decision.contexts if part.name == "together" else ():
                _show_reason(out, reason, indent=4)
            hang(out, Text(" " * 10), Text(_say_part(part)))
    if not features and decision.parts:
        return
    parts = [f"{decision.bias:+.3f} bias"]
    parts += [f"{value:+.3f} {describe_block(block, w1, w2)}" for block, value in decision.blocks.items()]
    hang(out, Text(f"  {decision.value:+.3f} = "), Text(" ".join(parts)))
    for reason in decision.reasons:
        _show_reason(out, reason)
    if decision.others:
        text = f"{many(decision.others, 'weaker reason')} together (--top shows more)"
        hang(out, Text(f"  {decision.rest:+.3f}  ", style="dim"), Text(text, style="dim"))


def _say_part(part: Part) -> str:
    """The training words or pairs that add most to a part, those against it, and what all others add."""
    said = [
        f"{words} {', '.join(f'{like.name} {like.value:+.2f}' for like in likes)}"
        for words, likes in (("like", part.alike), ("against:", part.against))
        if likes
    ]
    said += [f"{words} {value:+.2f}" for words, value in part.extra.items()]
    what = "pairs" if part.name == "together" else "words"
    return "; ".join([*said, f"{part.others:,} other training {what} {part.rest:+.2f}"])


def _show_reason(out: Console, reason: Reason, indent: int = 2) -> None:
    """What a reason adds, in words, and lines that were counted."""
    words = marked_text(reason.spans)
    notes = [reason.note] if reason.note else []
    notes += [f"as with {', '.join(like.name for like in reason.pairs)}"] if reason.pairs else []
    if notes:
        words.append(f"  ({'; '.join(notes)})", style="dim")
    hang(out, Text(f"{' ' * indent}{reason.value:+.3f}  "), words)
    for line in reason.lines:
        text = marked_text(shorten(line["spans"]))
        text.append(f"  [{line['document']}]", style="dim")
        hang(out, Text(" " * (indent + 8)), text)


def shorten(spans: Sequence[Marked], around: int = 70) -> list[Marked]:
    """The spans from the first mark to the last, with at most `around` characters on either side."""
    marked = [number for number, (_, mark) in enumerate(spans) if mark]
    if not marked:
        return list(spans)
    head = "".join(text for text, _ in spans[: marked[0]])
    tail = "".join(text for text, _ in spans[marked[-1] + 1 :])
    inside = spans[marked[0] : marked[-1] + 1]
    return [(last_words(head, around).lstrip(), ""), *inside, (first_words(tail, around), "")]


def marked_text(spans: Iterable[Marked]) -> Text:
    return Text.assemble(*((text, MARKS[mark]) for text, mark in spans))
