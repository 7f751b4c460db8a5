"""How far two annotators agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bagpack.console import plain_table, screen
from bagpack.numbers import many
from bagpack.report.screens.matrix import rows_repeat

if TYPE_CHECKING:
    from bagpack.find.agreement import Agreement


def show_agreement(found: Agreement, a: str, b: str, most: int) -> None:
    """Agreement and kappa, the table of labels, and the first disagreements."""
    from rich.text import Text

    out = screen()
    same = found.pairs - len(found.disagreements)
    kappa = "undefined: there is one label only" if found.kappa is None else f"{found.kappa:.3f}"
    out.print(
        f"{many(found.pairs, 'pair')} in both files, {same:,} with the same label ({100 * found.observed:.1f} %)"
    )
    out.print(f"Cohen's kappa {kappa}")
    for number, path in (found.only_a, a), (found.only_b, b):
        if number:
            out.print(Text(f"{many(number, 'pair')} only in {path}", "yellow"))
    if found.repeated:
        out.print(Text(f"{rows_repeat(found.repeated)} a pair; the last label counts", "yellow"))
    head, *labelled = found.label_rows()
    out.print()
    out.print(plain_table(head, labelled))
    out.print(Text(f"rows: {a}; columns: {b}", "dim"))
    if not found.disagreements or not most:
        return
    out.print()
    listed = [(one.w1, one.w2, one.label_a, one.label_b) for one in found.disagreements[:most]]
    out.print(plain_table(("w1", "w2", a, b), listed, left=4))
    if (more := len(found.disagreements) - most) > 0:
        out.print(f"and {more:,} more; --out FILE lists all of them")
