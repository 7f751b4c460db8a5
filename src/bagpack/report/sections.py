"""A report as a list of sections, each with a title, sentences, and a table or a plot; two renderers show them.

`bagpack.report.terminal` prints what ``rows`` allows of each table, `bagpack.report.html` draws all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from bagpack import numbers, wording
from bagpack.evaluate.result import Evaluation, Prediction, Score
from bagpack.evaluate.rows import mistakes
from bagpack.numbers import is_number, many, metric_label, show_count, show_score, show_share
from bagpack.report.charts import Axis, make_axis
from bagpack.tasks.questions import shown_choice

KIND_WORDS = {
    "relations": "Relations between words", "ratings": "Ratings of word pairs", "analogies": "Analogy questions",
    "synonyms": "Synonym questions",
}  # fmt: skip
FOLDS = 100  # that are drawn one by one
MISTAKES, SUSPICIOUS, GROUPS = 100, 30, 200  # that a page shows
LISTED = 8  # words or pairs of a list that a sentence names
JUDGED = 0.1  # of the labels; where a model contradicts more, it is wrong rather than they
WORTH = 0.01  # a gain of twice the rows below this is not worth the work
PICKS = ("id", "stem", "answer")  # the first columns of a table of picks


class Cell(NamedTuple):
    """A cell of a table: its text, smaller text below it, a word for its style, the shade of a confusion matrix."""

    text: str
    note: str = ""
    style: str = ""
    share: float | None = None


class Table(NamedTuple):
    """Rows of cells; columns after the first ``left`` ones are numbers. ``kind`` (scores, confusion) is for pages."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left: int = 1
    kind: str = ""


class Mark(NamedTuple):
    """A score in a plot, places in percent of the width: its mean, the ends of its interval, and its folds."""

    name: str
    text: str
    at: float
    ends: Sequence[float] = ()
    folds: Sequence[float] = ()


class Plot(NamedTuple):
    """Marks over one axis, each in a row of its own."""

    axis: Axis
    marks: Sequence[Mark]
    label: str


class Pair(NamedTuple):
    """A row of the data with its prediction, as text, and sentences."""

    name: str
    label: str
    predicted: str
    sure: str
    seen: str
    times: str
    line: int
    withheld: bool
    sentences: Sequence[Any] = ()


@dataclass(frozen=True)
class Section:
    """A part of a report. ``say`` are sentences, ``note`` explains a table or plot on a page.

    ``rows`` is the number of rows that a terminal shows: 0 for none, and then the section is on pages alone.
    ``curve`` are the bins of a reliability curve, ``more`` says what is not shown, and where it is.
    """

    title: str
    note: str = ""
    say: Sequence[str] = ()
    table: Table | None = None
    plot: Plot | None = None
    pairs: Sequence[Pair] = ()
    curve: Sequence[Mapping[str, Any]] = ()
    rows: int | None = None
    folded: bool = False
    more: str = ""
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def sections_of(found: Evaluation) -> list[Section]:
    """The sections of an evaluation, in reading order; what it does not have is omitted."""
    made = [
        _scores(found), _picks(found),
        _breakdown(found, found.buckets, "By how often the pair was seen together"),
        _breakdown(found, found.groups, "By relation"), _mistakes(found), _confusion(found), _suspicious(found),
        _probabilities(found), _curve(found), _coverage(found), _made(found),
    ]  # fmt: skip
    return [section for section in made if section is not None]


def tiles_of(found: Evaluation) -> list[Cell]:
    """The main numbers: the last condition and the baselines."""
    metric, last = found.main_metric, found.conditions[-1]
    named = [(last, f"{metric_label(metric, unit=False)}, {last.name}")]
    named += [(row, f"Baseline: {row.name}") for row in found.baselines]
    made = [(score_cell(row.metrics.get(metric), metric), name) for row, name in named]
    unit = " %" if numbers.metric_info(metric).percent else ""
    tiles = [Cell(cell.text + unit, cell.note, style=name) for cell, name in made if cell.text != "–"]
    tested, rows = found.tested_rows, found.rows
    share = Cell(show_share(tested, rows), f"{tested:,} of {rows:,}", style="Rows tested")
    return [*tiles, share] if tested < rows else tiles


def score_cell(score: Score | None, metric: str, style: str = "") -> Cell:
    if score is None:
        return Cell("–", style=style)
    between = numbers.show_interval(score.low, score.high, metric)
    return Cell(show_score(score.mean, metric), between, style)


def _cells(*texts: object) -> list[Cell]:
    return [text if isinstance(text, Cell) else Cell(show_count(text)) for text in texts]


def _scores(found: Evaluation) -> Section:
    metrics, metric = found.metric_names, found.main_metric

    def row(first: Cell, scores: Mapping[str, Score]) -> list[Cell]:
        return [first, *(score_cell(scores.get(name), name, first.style) for name in metrics)]

    rows = [
        row(Cell(one.name, wording.CONDITIONS.get(one.name, ""), style), one.metrics)
        for style, results in (("", found.conditions), ("baseline", found.baselines))
        for one in results
    ]
    for reference in found.references:
        for condition, values in reference["scores"].items():
            first = Cell(f"{condition} ({reference['name']})", style="reference")
            rows.append(row(first, {name: Score(value) for name, value in values.items()}))
    meanings = [(metric_label(name, unit=False), numbers.metric_info(name).meaning) for name in metrics]
    note = "; ".join(f"{label}: {meaning}" for label, meaning in meanings if meaning)
    results = [one for one in (*found.conditions, *found.baselines) if metric in one.metrics]
    label = f"{metric_label(metric)}: mean, 95 % interval, and each fold (faint)"
    return Section(
        "Scores", f"{note}. Small figures are 95 % intervals.",
        table=Table(["condition", *(metric_label(name) for name in metrics)], rows, kind="scores"),
        plot=_plot([(one.name, one.metrics[metric]) for one in results], metric, label),
    )  # fmt: skip


def _plot(scores: Sequence[tuple[str, Score]], metric: str, label: str) -> Plot | None:
    """A row for each score: its mean, its interval, and its folds unless they are too many."""
    scores = [(name, score) for name, score in scores if is_number(score.mean)]
    values: list[float | None] = []
    for _, score in scores:
        values += [score.mean, *(numbers.inside(score.low, score.high, metric) or ()), *score.folds]
    axis, marks = make_axis(values, metric), []
    for name, score in scores:
        folds = [axis.at(fold) for fold in score.folds if is_number(fold)]
        ends = [axis.at(end) for end in numbers.inside(score.low, score.high, metric) or ()]
        text = show_score(score.mean, metric)
        marks.append(Mark(name, text, axis.at(score.mean), ends, folds if len(folds) <= FOLDS else ()))
    return Plot(axis, marks, label) if marks else None


def _breakdown(found: Evaluation, parts: Mapping[str, Any], title: str) -> Section | None:
    if not parts:
        return None
    metric, listed, names = parts["metric"], parts["rows"], [one.name for one in found.conditions]
    rows = [
        _cells(row["name"], row["n"], *(show_score(row["scores"].get(name), metric) for name in names))
        for row in listed[:GROUPS]
    ]
    hidden = len(listed) - GROUPS
    return Section(
        title, table=Table([metric_label(metric), "n", *names], rows), rows=40, folded=len(listed) > 12,
        more=f"{hidden:,} more: bagpack evaluate … --json lists them" if hidden > 0 else "",
    )  # fmt: skip


def show_pair(row: Prediction) -> Pair:
    """A row of the data with its prediction, as text."""
    times = seen = "unknown word"
    if row.together is not None:
        times = show_count(row.together)
        seen = f"seen together {wording.say_times(row.together)}" if row.together else "never seen together"
    if isinstance(row.label, str):
        label, predicted = row.label or "no label", str(row.predicted or "no label")
        sure = numbers.show_probability(row.probability)
    else:
        label, rated = f"{row.label:g}", float(row.predicted or 0.0)
        predicted, sure = f"{rated:.2f}", f"{rated - row.label:+.2f}".replace("-", "−")
    name = f"{row.w1} – {row.w2}"
    return Pair(name, label, predicted, sure, seen, times, row.line, bool(row.abstained), row.sentences)


def _mistakes(found: Evaluation) -> Section | None:
    rows = found.predictions
    wrong = mistakes(rows)
    if not wrong:
        return None
    title, note = "Largest errors", "Predicted rating → rating in the data, and the difference."
    if found.kind != "ratings":
        tested = sum(row.predicted is not None for row in rows)
        title = f"Surest mistakes (of {len(wrong):,})"
        note = (
            f"{len(wrong):,} of {tested:,} tested rows ({show_share(len(wrong), tested)}). Predicted label → label in "
            f"the data, with the probability of the predicted label; the surest first."
        )
    hidden = len(wrong) - MISTAKES
    return Section(
        title, f"{note} A row with an arrow opens sentences of the corpus.",
        pairs=[show_pair(rows[i]) for i in wrong[:MISTAKES]], rows=5,
        more=f"{hidden:,} more: bagpack evaluate … --predictions FILE writes every pair" if hidden > 0 else "",
    )  # fmt: skip


def _confusion(found: Evaluation) -> Section | None:
    if not found.confusion:
        return None
    rows, labels = [], found.confusion["labels"]
    for label, counts in zip(labels, found.confusion["counts"], strict=True):
        total = sum(counts)
        cells = [
            Cell(
                show_count(count) if count else "·", f"{label} predicted as {other}",
                style="right" if other == label else "", share=round(count / max(total, 1), 3),
            )
            for other, count in zip(labels, counts, strict=True)
        ]  # fmt: skip
        rows.append(_cells(label, *cells, total, show_share(counts[labels.index(label)], total)))
    note = (
        f"Rows of the data by their true label (down) and the predicted one (across), condition "
        f"{found.confusion['condition']}. Shading: the share of the true label's rows."
    )
    columns = ["true ↓ predicted →", *labels, "rows", "right"]
    return Section("Confusion matrix", note, table=Table(columns, rows, kind="confusion"), rows=0)


def _suspicious(found: Evaluation) -> Section | None:
    number, all_rows = len(found.suspicious), len(found.predictions)
    if not number:
        return None
    if number > JUDGED * all_rows:
        share = f"{number:,} of {all_rows:,} labels ({show_share(number, all_rows)})"
        say = f"The model contradicts {share}: its scores are too low to judge labels."
        return Section("Suspicious labels", say=[say], rows=0)
    rows = []
    for row in (found.predictions[i] for i in found.suspicious[:SUSPICIOUS]):
        pair = show_pair(row)
        label = Cell(pair.label, numbers.show_probability(row.label_probability))
        rows.append(_cells(pair.name, label, Cell(pair.predicted, pair.sure), pair.times, row.line))
    labels = many(number, "label is", "labels are")
    say = f"{labels} suspicious: a model trained without the row is sure of another label."
    table = Table(["Pair", "Label in the data", "Predicted", "Seen together", "Line"], rows, left=3)
    return Section(
        "Suspicious labels", "Check them: some are errors of the data set.", [say], table, rows=0,
        more=f"{number - SUSPICIOUS:,} more: bagpack evaluate … --json lists them" if number > SUSPICIOUS else "",
    )  # fmt: skip


def _probabilities(found: Evaluation) -> Section | None:
    if not found.reliability:
        return None
    bins, error = found.reliability["bins"], 100 * found.reliability["error"]
    shares = [
        (f"{100 * one['probability']:.0f} %", f"{100 * one['accuracy']:.0f} %", one["n"]) for one in bins
    ]
    note = (
        f"Expected calibration error: {error:.1f} points, the mean difference between the probability and the share of "
        f"correct answers. Above the diagonal, probabilities are too low; below it, too high."
    )
    table = Table(["Probability", "Right", "Rows"], [_cells(*share) for share in shares], left=0)
    say = [abstention_sentence(found)] if found.abstention else []
    return Section("Probabilities", note, say, table, rows=0, curve=bins)


def abstention_sentence(found: Evaluation) -> str:
    """Coverage and precision at the threshold, in a sentence."""
    part = found.abstention
    wanted, right = f"{100 * part['precision']:g} %", part["precision_found"]
    if right is None:
        return f"No threshold on the probability reaches a precision of {wanted}, so every pair would be withheld."
    at = f" (probability at least {part['threshold']:.2f})" if part["threshold"] is not None else ""
    missed = "" if right >= part["precision"] else ", less than asked for"
    return (
        f"With a threshold chosen for a precision of {wanted}{at}, the model answers {100 * part['coverage']:.0f} % of "
        f"the pairs; {100 * right:.1f} % of those answers are right{missed}."
    )


def _curve(found: Evaluation) -> Section | None:
    curve = found.learning_curve
    if not curve:
        return None
    scores = [(f"{point['rows']:,} rows", replace(point["score"], folds=())) for point in curve["points"]]
    metric = metric_label(curve["metric"])
    label = f"{metric} of {curve['condition']} by number of training rows, with 95 % intervals"
    plot = _plot(scores, curve["metric"], label)
    return Section("Do I need more pairs?", say=[curve_sentence(found)], plot=plot, rows=0)


def curve_sentence(found: Evaluation) -> str:
    """Whether more pairs would help, with numbers."""
    curve = found.learning_curve
    metric, gain, (before, after) = curve["metric"], curve["gain"], curve["points"][-2:]
    unit = " points" if numbers.metric_info(metric).percent else ""
    answer = "More pairs may help, but the gain is within chance"
    if not gain.mean >= WORTH:
        answer = "More pairs would probably not help"
    elif gain.low > 0:
        answer = "More pairs would help"
    between = numbers.show_interval(gain.low, gain.high, metric, signed=True)
    return (
        f"{answer}: doubling the training rows from {before['rows']:,} to {after['rows']:,} changed "
        f"{metric_label(metric, unit=False)} by {show_score(gain.mean, metric, signed=True)}{unit}"
        + (f" (95 % interval {between})." if between else ".")
    )


def _picks(found: Evaluation) -> Section | None:
    if not found.answers:
        return None
    names = [one.name for one in found.conditions]
    marks = {"yes": ("✓", "right"), "no": ("✗", "wrong"), "guess": ("?", "guessed")}
    rows = []
    for _, stem, answer, *picks in picks_table(found)[1:]:
        cells = [
            Cell(f"{pick} {marks[right][0]}", style=marks[right][1])
            for pick, right in zip(picks[::2], picks[1::2], strict=True)
        ]
        rows.append(_cells(stem, answer, *cells))
    note = "✓ right, ✗ wrong; ? a pair of the question has no vector: the pick counts as a guess."
    rest = f"bagpack evaluate --predictions FILE.tsv writes the picks of all {len(rows):,} questions"
    return Section(
        "Picks", note, table=Table(["question", "right answer", *names], rows, left=2 + len(names)), rows=10,
        folded=len(rows) > 12, more=rest if len(rows) > 10 else "",
    )  # fmt: skip


def picks_table(found: Evaluation) -> list[list[str]]:
    """Rows of a table: the question, its answer, and per condition the pick and whether it is right."""
    names = [one.name for one in found.conditions]
    rows = [[*PICKS, *(column for name in names for column in (name, f"{name} right"))]]
    for question in found.answers:
        choices, answer = [shown_choice(choice) for choice in question["choices"]], question["answer"]
        row = [question["id"], shown_choice(question["stem"]), choices[answer]]
        for name in names:
            pick = question["picked"][name]
            right = "yes" if pick == answer else "no"
            row += [choices[pick], right if question["complete"][name] else "guess"]
        rows.append(row)
    return rows


def _coverage(found: Evaluation) -> Section | None:
    data = found.data
    limit = found.settings.get("limit")
    cap = f"cut at the cap of {limit:,}" if isinstance(limit, int) else "cut at the cap"
    say = []
    for name, key, whole, listed in (
        ("words unknown to the corpus", "unknown_words", "words", "unknown_word_list"),
        ("pairs never seen together", "unseen_pairs", "pairs", ""),
        (f"words {cap}", "capped_words", "words", "capped_word_list"),
        (f"pairs {cap}", "capped_pairs", "pairs", "capped_pair_list"),
        ("rows that repeat a pair", "duplicates", "rows", ""),
    ):
        if count := data.get(key):
            of = (
                f" of {show_count(data[whole])} ({show_share(count, data[whole])})" if data.get(whole) else ""
            )
            named = ", ".join(map(str, data.get(listed, [])[:LISTED])) + (", …" if count > LISTED else "")
            say.append(f"{show_count(count)}{of} {name}" + (f": {named}" if data.get(listed) else ""))
    labels = data.get("labels") or {}
    total = sum(labels.values())
    rows = [_cells(name, n, show_share(n, total)) for name, n in labels.items()]
    table = Table(["Label", "Rows", "Share"], rows) if labels else None
    return Section("Coverage", say=say, table=table, rows=0) if say or labels else None


def _made(found: Evaluation) -> Section:
    shown = {"path": "file", "content_hash": "content hash"}
    data = {
        key: found.data[key] for key in ("path", "rows", "questions", "pairs", "words") if key in found.data
    }
    facts = {
        "Corpus": {shown.get(key, key): show_count(value) for key, value in found.corpus.items()},
        "Data set": {shown.get(key, key): show_count(value) for key, value in data.items()},
        "Settings": {key: numbers.show_value(value) for key, value in found.settings.items()},
        "Versions": dict(found.versions),
        "Command": {"typed": found.command} if found.command else {},
    }
    return Section("How this was made", say=[f"Note: {note}" for note in found.notes], facts=facts, rows=0)
