"""A report as a list of sections, each with a title, sentences, and a table or a plot; two renderers show them.

`bagpack.report.terminal` prints what ``rows`` allows of each table, `bagpack.report.html` draws all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bagpack import numbers, wording
from bagpack.evaluate.result import Evaluation, Prediction, Score
from bagpack.evaluate.rows import mistakes
from bagpack.numbers import is_number, many, metric_label, show_count, show_score, show_share
from bagpack.report.charts import Axis, Whisker, make_axis, make_whisker
from bagpack.tasks.questions import shown_choice

KIND_WORDS = {
    "relations": "Relations between words",
    "ratings": "Ratings of word pairs",
    "analogies": "Analogy questions",
    "synonyms": "Synonym questions",
}
MARKS = {"v1v2": "circle", "v12": "square", "v1v2v12": "diamond"}  # of conditions, the same in every plot
FOLDS = 100  # that are drawn one by one
MISTAKES, SUSPICIOUS, GROUPS = 100, 30, 200  # that a page shows
LISTED = 8  # words or pairs of a list that a sentence names
JUDGED = 0.1  # of the labels; where a model contradicts more, it is wrong rather than they
WORTH = 0.01  # a gain of twice the rows below this is not worth the work
TEST = "Test: paired t over folds, corrected for shared training rows (Nadeau and Bengio 2003)."
RIGHT, WRONG, GUESSED = "✓", "✗", "?"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, and smaller text below it.

    ``mark`` is the shape of a condition, ``style`` a word for the renderers (right, wrong, guessed, baseline,
    reference), and ``share`` the shade of a confusion matrix.
    """

    text: str
    note: str = ""
    mark: str = ""
    style: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells; columns after the first ``left`` ones are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left: int = 1
    kind: str = ""  # scores or confusion, for the style of a page


@dataclass(frozen=True)
class Mark:
    """A score in a plot: a shape at a place in percent of the width, with an interval and the folds."""

    shape: str
    at: float
    text: str
    whisker: Whisker | None = None
    folds: Sequence[float] = ()


@dataclass(frozen=True)
class Plot:
    """Rows of marks over one axis; each row has a name and a value."""

    axis: Axis
    rows: Sequence[tuple[str, str, Sequence[Mark]]]
    label: str
    legend: Sequence[tuple[str, str]] = ()  # shape and name


@dataclass(frozen=True)
class Pair:
    """A row of the data with its prediction, as text, and sentences."""

    name: str
    label: str
    predicted: str
    sure: str
    seen: str
    count: str
    line: int
    withheld: bool
    sentences: Sequence[Any] = ()


@dataclass(frozen=True)
class Section:
    """A part of a report. ``say`` are sentences, ``note`` explains a table or plot on a page.

    ``rows`` is the number of rows that a terminal shows: 0 for none, and then the section is on pages alone.
    ``curve`` are points (probability, share right, rows) of a reliability curve.
    """

    title: str
    note: str = ""
    say: Sequence[str] = ()
    table: Table | None = None
    plot: Plot | None = None
    pairs: Sequence[Pair] = ()
    curve: Sequence[tuple[float, float, int]] = ()
    rows: int | None = None
    folded: bool = False
    more: str = ""  # what is not shown, and where it is
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def sections_of(found: Evaluation) -> list[Section]:
    """The sections of an evaluation, in reading order; what it does not have is omitted."""
    made = [
        _scores(found), _comparisons(found), _picks(found),
        _breakdown(found, found.buckets, "By how often the pair was seen together"),
        _breakdown(found, found.groups, "By relation"),
        _mistakes(found), _confusion(found), _suspicious(found), _probabilities(found), _curve(found),
        _coverage(found), _made(found),
    ]  # fmt: skip
    return [section for section in made if section is not None]


def headline(found: Evaluation) -> tuple[str, str, str]:
    """Title, data and corpus, and how many rows were tested if not all."""
    named = " on ".join(name for name in (found.data.get("path", ""), found.corpus.get("path", "")) if name)
    tested = ""
    if found.rows and found.tested_rows < found.rows:
        share = show_share(found.tested_rows, found.rows)
        tested = f"{found.tested_rows:,} of {found.rows:,} rows tested ({share})"
    return found.title or found.kind.capitalize(), named, tested


def tiles_of(found: Evaluation) -> list[Cell]:
    """The main numbers: the last condition, the baselines, and the share of pairs that were seen."""
    metric, last = found.main_metric, found.conditions[-1]
    unit = numbers.show_unit(metric)
    rows = [(last, f"{metric_label(metric, unit=False)}, {last.name}")]
    rows += [(row, f"Baseline: {row.name}") for row in found.baselines]
    made = [(score_cell(row.metrics.get(metric), metric), name) for row, name in rows]
    tiles = [
        Cell(cell.text + unit, cell.note and f"95 %: {cell.note}", style=name)
        for cell, name in made
        if cell.text != "–"
    ]
    pairs, unseen = found.data.get("pairs"), found.data.get("unseen_pairs")
    shares = []
    if found.tested_rows < found.rows:
        shares.append(("Rows tested", found.tested_rows, found.rows))
    if pairs and unseen is not None:
        shares.append(("Pairs seen together", pairs - unseen, pairs))
    return tiles + [
        Cell(show_share(part, whole), f"{show_count(part)} of {show_count(whole)}", style=name)
        for name, part, whole in shares
    ]


def score_cell(score: Score | None, metric: str, **more: Any) -> Cell:
    """A score with its interval."""
    if score is None:
        return Cell("–", **more)
    between = numbers.show_interval(score.low, score.high, metric, numbers.between_of(metric))
    return Cell(show_score(score.mean, metric), between, **more)


def _cells(*texts: object) -> list[Cell]:
    return [text if isinstance(text, Cell) else Cell(show_count(text)) for text in texts]


def _mark(name: str) -> str:
    return MARKS.get(name, "bar")


# Scores ------------------------------------------------------------------------------------------------------------


def _scores(found: Evaluation) -> Section:
    metrics = found.metric_names

    def row(first: Cell, scores: Mapping[str, Score]) -> list[Cell]:
        return [first, *(score_cell(scores.get(metric), metric, style=first.style) for metric in metrics)]

    rows = [
        row(Cell(one.name, wording.CONDITIONS.get(one.name, ""), _mark(one.name), style), one.metrics)
        for style, results in (("", found.conditions), ("baseline", found.baselines))
        for one in results
    ]
    for reference in found.references:
        for condition, values in reference["scores"].items():
            first = Cell(f"{condition} ({reference['name']})", style="reference")
            rows.append(row(first, {metric: Score(value) for metric, value in values.items()}))
    meanings = [(metric_label(name, unit=False), numbers.metric_info(name).meaning) for name in metrics]
    note = "; ".join(f"{label}: {meaning}" for label, meaning in meanings if meaning)
    table = Table(["condition", *(metric_label(name) for name in metrics)], rows, kind="scores")
    return Section(
        "Scores", f"{note}. Small figures are 95 % intervals.", table=table, plot=_score_plot(found)
    )


def _score_plot(found: Evaluation) -> Plot | None:
    metric = found.main_metric
    results = (*found.conditions, *found.baselines)
    shown = [(row.name, row.metrics[metric]) for row in results if metric in row.metrics]
    shown = [(name, score) for name, score in shown if is_number(score.mean)]
    if not shown:
        return None
    label = f"{metric_label(metric)}: mean, 95 % interval, and each fold (faint)"
    return _interval_plot(shown, metric, label, {name: _mark(name) for name, _ in shown})


def _interval_plot(
    scores: Sequence[tuple[str, Score]], metric: str, label: str, shapes: Mapping[str, str]
) -> Plot:
    """A row for each score: its mean, its interval, and its folds unless they are too many."""
    values: list[float | None] = []
    for _, score in scores:
        values += [score.mean, *(numbers.inside(score.low, score.high, metric) or ()), *score.folds]
    axis = make_axis(values, metric)
    rows = []
    for name, score in scores:
        folds = [axis.at(fold) for fold in score.folds if is_number(fold)]
        text, whisker = show_score(score.mean, metric), make_whisker(axis, score, metric)
        mark = Mark(shapes[name], axis.at(score.mean), text, whisker, folds if len(folds) <= FOLDS else ())
        rows.append((name, text, [mark]))
    return Plot(axis, rows, label)


def _comparisons(found: Evaluation) -> Section | None:
    if not found.comparisons:
        return None
    metric = found.comparisons[0]["metric"]
    rows = [
        _cells(
            f"{row['a']} − {row['b']}", show_score(row["difference"], metric, signed=True),
            numbers.show_difference_interval(row["low"], row["high"], metric), numbers.show_p(row.get("p")),
        )
        for row in found.comparisons
    ]  # fmt: skip
    table = Table(["", "difference", "95 % interval", "p"], rows)
    return Section(f"Paired comparison, {metric_label(metric)}", TEST, table=table)


def _breakdown(found: Evaluation, parts: Mapping[str, Any], title: str) -> Section | None:
    if not parts or not parts["rows"]:
        return None
    names = [one.name for one in found.conditions if any(one.name in row["scores"] for row in parts["rows"])]
    shown = parts["rows"][:GROUPS]
    axis = make_axis([score for row in shown for score in row["scores"].values()], parts["metric"])
    rows, drawn = [], []
    for row in shown:
        texts = {name: show_score(row["scores"].get(name), parts["metric"]) for name in names}
        rows.append(_cells(row["name"], row["n"], *texts.values()))
        marks = [
            Mark(_mark(name), axis.at(row["scores"][name]), f"{name}: {text}")
            for name, text in texts.items()
            if is_number(row["scores"].get(name))
        ]
        drawn.append((row["name"], f"n = {show_count(row['n'])}", marks))
    label, hidden = metric_label(parts["metric"]), len(parts["rows"]) - len(shown)
    legend = [(_mark(name), name) for name in names]
    return Section(
        title, table=Table([label, "n", *names], rows),
        plot=Plot(axis, drawn, f"{label} {title[0].lower()}{title[1:]}", legend),
        rows=40 if len(parts["rows"]) <= 40 else 0, folded=len(parts["rows"]) > 12,
        more=f"{hidden:,} more are in the JSON of this page and of bagpack evaluate --json" if hidden else "",
    )  # fmt: skip


# Single pairs ------------------------------------------------------------------------------------------------------


def show_pair(row: Prediction) -> Pair:
    """A row of the data with its prediction, as text."""
    if row.together is None:
        seen = "unknown word"
    else:
        seen = f"seen together {wording.say_times(row.together)}" if row.together else "never seen together"
    if isinstance(row.label, str):
        label, predicted = row.label or "no label", str(row.predicted or "no label")
        sure = numbers.show_probability(row.probability)
    else:
        label = f"{row.label:g}"
        predicted = "–" if row.predicted is None else f"{row.predicted:.2f}"
        error = 0.0 if row.predicted is None else float(row.predicted) - row.label
        sure = f"{error:+.2f}".replace("-", "−")
    name = f"{row.w1} – {row.w2}"
    count = "unknown word" if row.together is None else show_count(row.together)
    return Pair(name, label, predicted, sure, seen, count, row.line, bool(row.abstained), row.sentences)


def _mistakes(found: Evaluation) -> Section | None:
    rows = found.predictions
    wrong = mistakes(rows)
    if not wrong:
        return None
    tested = sum(row.predicted is not None for row in rows)
    ratings = found.kind == "ratings"
    if ratings:
        note = "Predicted rating → rating in the data, and the difference."
    else:
        note = (
            f"{len(wrong):,} of {tested:,} tested rows ({show_share(len(wrong), tested)}). Predicted label → label in "
            f"the data, with the probability of the predicted label; the surest first."
        )
    hidden = len(wrong) - MISTAKES
    return Section(
        "Largest errors" if ratings else f"Surest mistakes (of {len(wrong):,})",
        f"{note} A row with an arrow opens sentences of the corpus.",
        pairs=[show_pair(rows[i]) for i in wrong[:MISTAKES]], rows=5,
        more=f"{hidden:,} more: bagpack evaluate … --predictions FILE writes every pair" if hidden > 0 else "",
    )  # fmt: skip


def _confusion(found: Evaluation) -> Section | None:
    part = found.confusion
    if not part:
        return None
    rows, labels = [], part["labels"]
    for at, counts in enumerate(part["counts"]):
        total = sum(counts)
        cells = [
            Cell(
                show_count(count) if count else "·", f"{labels[at]} predicted as {labels[across]}",
                style="right" if at == across else "", share=round(count / total, 3) if total else 0.0,
            )
            for across, count in enumerate(counts)
        ]  # fmt: skip
        rows.append(_cells(part["labels"][at], *cells, total, show_share(counts[at], total)))
    note = (
        f"Rows of the data by their true label (down) and the predicted one (across), condition {part['condition']}. "
        f"Shading: the share of the true label's rows."
    )
    columns = ["true ↓ predicted →", *part["labels"], "rows", "right"]
    return Section("Confusion matrix", note, table=Table(columns, rows, kind="confusion"), rows=0)


def _suspicious(found: Evaluation) -> Section | None:
    number, all_rows = len(found.suspicious), len(found.predictions)
    if not number:
        return None
    if number > JUDGED * all_rows:
        share = show_share(number, all_rows)
        say = f"The model contradicts {number:,} of {all_rows:,} labels ({share}): "
        say += "its scores are too low to judge labels."
        return Section("Suspicious labels", say=[say], rows=0)
    rows = []
    for i in found.suspicious[:SUSPICIOUS]:
        row = found.predictions[i]
        pair = show_pair(row)
        label = Cell(pair.label, numbers.show_probability(row.label_probability))
        rows.append(_cells(pair.name, label, Cell(pair.predicted, pair.sure), pair.count, row.line))
    labels = many(number, "label is", "labels are")
    say = f"{labels} suspicious: a model trained without the row contradicts them with confidence."
    table = Table(["Pair", "Label in the data", "Predicted", "Seen together", "Line"], rows, left=3)
    return Section(
        "Suspicious labels", "Check them: some are errors of the data set.", [say], table, rows=0,
        more=f"{number - SUSPICIOUS:,} more: bagpack evaluate … --json lists them" if number > SUSPICIOUS else "",
    )  # fmt: skip


def _probabilities(found: Evaluation) -> Section | None:
    if not found.reliability:
        return None
    bins = found.reliability["bins"]
    rows = [
        _cells(f"{100 * one['probability']:.0f} %", f"{100 * one['accuracy']:.0f} %", one["n"])
        for one in bins
    ]
    note = (
        f"Expected calibration error: {100 * found.reliability['error']:.1f} points, the mean difference between the "
        f"probability and the share of correct answers. Above the diagonal, probabilities are too low; below it, too "
        f"high."
    )
    say = abstention_sentence(found)
    return Section(
        "Probabilities", note, [say] if say else [], Table(["Probability", "Right", "Rows"], rows, left=0), rows=0,
        curve=[(one["probability"], one["accuracy"], one["n"]) for one in bins],
    )  # fmt: skip


def abstention_sentence(found: Evaluation) -> str:
    """Coverage and precision at the threshold, in a sentence; empty where there is none."""
    part = found.abstention
    if not part:
        return ""
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
    scores = [(name, score) for name, score in scores if is_number(score.mean)]
    metric = metric_label(curve["metric"])
    label = f"{metric} of {curve['condition']} by number of training rows, with 95 % intervals"
    plot = _interval_plot(scores, curve["metric"], label, {name: "diamond" for name, _ in scores})
    return Section("Do I need more pairs?", say=[curve_sentence(found)], plot=plot, rows=0)


def curve_sentence(found: Evaluation) -> str:
    """Whether more pairs would help, with numbers."""
    curve = found.learning_curve
    metric, gain, (before, after) = curve["metric"], curve["gain"], curve["points"][-2:]
    unit = " points" if numbers.metric_info(metric).percent else ""
    answer = "More pairs may help, but the gain is within chance"
    if gain["low"] > 0 and gain["difference"] >= WORTH:
        answer = "More pairs would help"
    elif not gain["difference"] >= WORTH:
        answer = "More pairs would probably not help"
    between = numbers.show_difference_interval(gain["low"], gain["high"], metric)
    return (
        f"{answer}: doubling the training rows from {before['rows']:,} to {after['rows']:,} changed "
        f"{metric_label(metric, unit=False)} by {show_score(gain['difference'], metric, signed=True)}{unit}"
        + (f" (95 % interval {between})." if between else ".")
    )


# Questions ---------------------------------------------------------------------------------------------------------


def _pick(question: Mapping[str, Any], name: str) -> tuple[str, str]:
    """The choice of a condition, and a mark: right, wrong, as good as a guess, or none where the answer is unknown."""
    at = question["picked"][name]
    mark = "" if question["answer"] is None else RIGHT if at == question["answer"] else WRONG
    return shown_choice(question["choices"][at]), mark if question["complete"][name] else GUESSED


def _picks(found: Evaluation) -> Section | None:
    if not found.answers:
        return None
    names = [one.name for one in found.conditions]
    styles = {RIGHT: "right", WRONG: "wrong", GUESSED: "guessed"}
    rows = []
    for question in found.answers:
        answer = "–" if question["answer"] is None else shown_choice(question["choices"][question["answer"]])
        picks = [_pick(question, name) for name in names]
        cells = [Cell(f"{choice} {mark}".rstrip(), style=styles.get(mark, "")) for choice, mark in picks]
        rows.append(_cells(shown_choice(question["stem"]), answer, *cells))
    note = f"{RIGHT} right, {WRONG} wrong; {GUESSED} a pair of the question has no vector: the pick counts as a guess."
    return Section(
        "Picks", note, table=Table(["question", "right answer", *names], rows, left=2 + len(names)), rows=10,
        folded=len(rows) > 12,
        more=f"10 of {len(rows):,} questions; bagpack evaluate --predictions FILE.tsv writes them all"
        if len(rows) > 10 else "",
    )  # fmt: skip


PICKS = ("id", "stem", "answer")  # the first columns of a table of picks


def picks_table(found: Evaluation) -> list[list[str]]:
    """Rows of a table: the question, its answer, and per condition the pick and whether it is right."""
    words = {RIGHT: "yes", WRONG: "no", GUESSED: "guess", "": ""}
    names = [one.name for one in found.conditions]
    rows = [[*PICKS, *(column for name in names for column in (name, f"{name} right"))]]
    for question in found.answers:
        answer = "" if question["answer"] is None else shown_choice(question["choices"][question["answer"]])
        picks = [_pick(question, name) for name in names]
        cells = [cell for choice, mark in picks for cell in (choice, words[mark])]
        rows.append([question["id"], shown_choice(question["stem"]), answer, *cells])
    return rows


# What is behind the numbers ----------------------------------------------------------------------------------------


def _coverage(found: Evaluation) -> Section | None:
    data = found.data
    words, pairs, rows = data.get("words"), data.get("pairs"), data.get("rows")
    limit = found.settings.get("limit")
    cap = f"the cap of {limit:,}" if isinstance(limit, int) else "the cap"
    known = [
        ("words unknown to the corpus", "unknown_words", words, "unknown_word_list"),
        ("pairs never seen together", "unseen_pairs", pairs, ""),
        (f"words cut at {cap}", "capped_words", words, "capped_word_list"),
        (f"pairs cut at {cap}", "capped_pairs", pairs, "capped_pair_list"),
        ("rows that repeat a pair", "duplicates", rows, ""),
    ]
    say = []
    for name, key, whole, listed in known:
        if key not in data or (name.startswith("rows") and not data[key]):
            continue
        count = data[key]
        of = f" of {show_count(whole)} ({show_share(count, whole)})" if whole else ""
        named = ", ".join(map(str, data.get(listed, [])[:LISTED])) + (", …" if count > LISTED else "")
        say.append(f"{show_count(count)}{of} {name}" + (f": {named}" if listed and data.get(listed) else ""))
    labels = data.get("labels") or {}
    total = sum(labels.values())
    table = Table(
        ["Label", "Rows", "Share"],
        [_cells(name, n, show_share(n, total)) for name, n in labels.items()],
    )
    return Section("Coverage", say=say, table=table if labels else None, rows=0) if say or labels else None


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
