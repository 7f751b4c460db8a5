"""`bagpack agree`."""

from __future__ import annotations

from typing import Annotated

import typer

from bagpack import console
from bagpack.cli.arguments import FILE, Names
from bagpack.cli.option_groups import TableOptions
from bagpack.cli.options import Columns, Json, parse_columns

SHOWN = 20


def agree(
    a: Annotated[
        str, typer.Argument(metavar="A", help="A table with w1, w2 and label; - for stdin."), Names((FILE,))
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="Another annotator's table."), Names((FILE,))],
    table: TableOptions,
    columns: Columns = "",
    json: Json = False,
) -> None:
    """Compare two annotators: agreement, Cohen's kappa, differing labels.

    With --out, a table of all pairs with different labels.
    """
    import os

    from bagpack.errors import UsageError
    from bagpack.find.agreement import compare_files
    from bagpack.report.screens.agreement import show_agreement

    if a == b or (os.path.exists(a) and os.path.exists(b) and os.path.samefile(a, b)):
        raise UsageError(f"both files are {a}; name the files of two annotators")
    table.check("table of disagreements", a, b)
    found = compare_files(a, b, parse_columns(columns))
    table.write(found.rows())
    if json:
        console.print_json(found.to_dict())
    else:
        show_agreement(found, a, b, SHOWN if table.out is None else 0)
