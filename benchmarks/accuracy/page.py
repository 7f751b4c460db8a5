"""The generated parts of docs/accuracy.md: tables, and the plot of the ablation."""

from __future__ import annotations

from html import escape
from typing import Any

from benchmarks.measure import HERE, for_readme, human, table, write_generated

PAGE = HERE / "docs" / "accuracy.md"
PLOT = HERE / "docs" / "assets" / "ablation.svg"
SHORT = {
    "Analogies U2 and U4": "Analogies",
    "SemEval-2007 task 4": "SemEval-07",
    "BLESS, lexical split": "BLESS",
    "Padó 2007": "Padó",
    "SemEval-2012 task 2": "SemEval-12",
    "ConceptNet, lexical split": "ConceptNet",
    "DiffVec, lexical split": "DiffVec",
    "Analogies BATS": "BATS",
    "Analogies Google": "Google",
}


def _with_interval(score: dict[str, Any] | None) -> str:
    if score is None:
        return "–"
    return f"{100 * score['mean']:.1f} ({100 * score['low']:.1f}–{100 * score['high']:.1f})"


def _gain(score: dict[str, Any] | None) -> str:
    if score is None:
        return "–"
    text = f"{100 * score['mean']:+.1f} ({100 * score['low']:+.1f} to {100 * score['high']:+.1f})".replace(
        "-", "−"
    )
    return f"**{text}**" if score["low"] > 0 or score["high"] < 0 else text


def _points(difference: float, digits: int) -> str:
    return f"{100 * difference:+.{digits}f}".replace("-", "−")


def one_line(line: dict[str, Any]) -> str:
    """A set's result as it is printed."""
    shown = [
        f"{name} {100 * line[name]['mean']:.1f}"
        for name in ("paper", "modern", "words", "word2vec")
        if name in line
    ]
    return (
        f"{line['set']:28s} {' '.join(shown)}  gain {_gain(line['gain'])}  ahead {_gain(line.get('ahead'))}"
    )


def write(part: str, found: Any) -> None:
    """Write one part."""
    {"test": _scores, "ablation": _ablation, "cost": _cost}[part](found)


def _best_bold(scores: list[dict[str, Any] | None]) -> list[str]:
    """Scores as a table shows them, the highest in bold: all of them where several are shown alike."""
    shown = [None if score is None else f"{100 * score['mean']:.1f}" for score in scores]
    most = max((text for text in shown if text), key=float)
    return ["–" if text is None else f"**{text}**" if text == most else text for text in shown]


def _scores(lines: list[dict[str, Any]]) -> None:
    rows = [
        [
            line["set"],
            line["score"],
            *_best_bold([line.get(name) for name in ("words", "paper", "word2vec", "modern")]),
        ]
        for line in lines
    ]
    main = table(["set", "score", "words only", "`paper`", "word2vec", "`modern`"], rows)
    more = [
        [
            line["set"],
            _with_interval(line["paper"]),
            _with_interval(line["modern"]),
            _gain(line["gain"]),
            _gain(line.get("ahead")),
        ]
        for line in lines
    ]
    text = (
        for_readme(main)
        + "\nWith 95 % bootstrap intervals; differences are bold where the interval excludes 0.\n\n"
    )
    text += table(["set", "`paper`", "`modern`", "`modern` − `paper`", "`modern` − word2vec"], more)
    text += "\n" + "\n".join(_details(line) for line in lines if _details(line))
    write_generated("make accuracy (test)", text, PAGE)


def _details(line: dict[str, Any]) -> str:
    found = []
    if "best_worst" in line:
        shown = ", ".join(f"{name} {100 * value:.1f} %" for name, value in line["best_worst"].items())
        found.append(f"- {line['set']}, best and worst of four pairs found as people chose them: {shown}.")
    if "pooled" in line:
        shown = ", ".join(f"{name} {100 * value:.1f}" for name, value in line["pooled"].items())
        found.append(f"- {line['set']}, ρ over the predictions of all folds: {shown}.")
    return "\n".join(found)


def _ablation(found: dict[str, list[dict[str, Any]]]) -> None:
    sets = list(found)
    variants = list(dict.fromkeys(line["variant"] for lines in found.values() for line in lines))
    by = {(name, line["variant"]): line for name, lines in found.items() for line in lines}
    rows, means = [], {}
    for variant in variants:
        lines = [(SHORT.get(name, name), by[name, variant]) for name in sets if (name, variant) in by]
        gains = [(name, line["difference"]) for name, line in lines if line["difference"]]
        if not gains:  # `modern` itself
            rows.append([variant, "", ", ".join(f"{name} {100 * line['score']:.1f}" for name, line in lines)])
            continue
        means[variant] = sum(gain["mean"] for _, gain in gains) / len(gains)
        clear = [(name, gain) for name, gain in gains if gain["low"] > 0 or gain["high"] < 0]
        shown = ", ".join(f"{name} {_points(gain['mean'], 1)}" for name, gain in clear)
        rows.append([variant, _points(means[variant], 2), shown])
    heads = ["changed", "mean", "sets where the interval excludes 0"]
    PLOT.write_text(_plot(means), encoding="utf-8")
    write_generated("make accuracy (ablation)", table(heads, rows), PAGE)


def _plot(means: dict[str, float]) -> str:
    """Mean difference of each variant to `modern`, in points, as bars around zero."""
    ordered = sorted(means.items(), key=lambda item: item[1])
    shown = [(name, max(-6.0, 100 * value), 100 * value) for name, value in ordered]
    height, left, zero, scale = 22, 210, 470, 40
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height * len(shown) + 40}" role="img" '
        'aria-label="What each change does to preset modern, mean over the sets" '
        'font-family="system-ui, sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<line x1="{zero}" y1="8" x2="{zero}" y2="{height * len(shown) + 12}" stroke="#888"/>',
    ]
    for row, (name, drawn, value) in enumerate(shown):
        y = 10 + row * height
        x, width = (zero + scale * drawn, -scale * drawn) if drawn < 0 else (zero, scale * drawn)
        colour = "#b5482a" if value < 0 else "#2a6f97"
        lines.append(f'<text x="{left - 8}" y="{y + 15}" text-anchor="end" fill="#222">{escape(name)}</text>')
        lines.append(
            f'<rect x="{x:.1f}" y="{y + 3}" width="{max(width, 1):.1f}" height="{height - 7}" fill="{colour}"/>'
        )
        label = f"{value:+.1f}".replace("-", "−")
        at, anchor, ink = (x - 4, "end", "#444") if drawn < 0 else (x + width + 4, "start", "#444")
        if value < drawn:  # the bar is cut off: there is no space next to it
            at, anchor, ink, label = x + 6, "start", "#fff", f"{label} (cut off)"
        lines.append(f'<text x="{at:.1f}" y="{y + 15}" text-anchor="{anchor}" fill="{ink}">{label}</text>')
    lines.append(
        f'<text x="{zero}" y="{height * len(shown) + 30}" text-anchor="middle" fill="#444">'
        "points against preset modern, mean over the sets</text></svg>"
    )
    return "\n".join(lines) + "\n"


def _cost(lines: list[dict[str, Any]]) -> None:
    rows = [
        [
            line["task"],
            *(f"{line[p]['cpu']:.1f} s" for p in ("paper", "modern")),
            f"{line['modern']['cpu'] / line['paper']['cpu']:.1f} ×",
            *(human(line[p]["memory"]) for p in ("paper", "modern")),
            f"{line['modern']['memory'] / line['paper']['memory']:.1f} ×",
        ]
        for line in lines
    ]
    heads = [
        "`bagpack evaluate`, three conditions",
        "CPU, `paper`",
        "`modern`",
        "",
        "memory, `paper`",
        "`modern`",
        "",
    ]
    write_generated("make accuracy (cost)", table(heads, rows), PAGE)
