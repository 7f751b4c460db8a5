"""`bagpack export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from bagpack import console
from bagpack.cli.declaration import common
from bagpack.cli.options import Columns, Overwrite, Pairs, parse_columns


def export(
    pairs: Pairs,
    out: Annotated[
        Path,
        common("--out", "-o", metavar="FILE", help="The file to write: .ttl, .graphml, .tsv, .csv or .xlsx."),
    ],
    label: Annotated[
        str | None, common("--label", metavar="LABEL", help="The relation of pairs that have no label.")
    ] = None,
    skos: Annotated[
        str | None,
        common(
            "--skos",
            metavar="PROPERTY",
            help="broader, narrower or related for all pairs (default: by label).",
            values=("broader", "narrower", "related"),
        ),
    ] = None,
    base: Annotated[str, common("--base", metavar="URI", help="Base URI of the concepts.")] = "urn:bagpack:",
    lang: Annotated[str, common("--lang", help="Language of the words.")] = "en",
    columns: Columns = "",
    overwrite: Overwrite = False,
) -> None:
    """Write checked pairs as a thesaurus: SKOS Turtle, GraphML or a table.

    Pairs labelled no, none or random are dropped.
    """
    from bagpack.errors import InputError
    from bagpack.files import check_not_read
    from bagpack.find.examples import NO_LABELS, UNNAMED
    from bagpack.find.export import check_thesaurus, write_thesaurus
    from bagpack.report.screens.matrix import rows_repeat
    from bagpack.tasks import read_pairs

    check_not_read(out, pairs)
    check_thesaurus(out, "thesaurus", overwrite)
    listed = read_pairs(pairs, parse_columns(columns))
    labels = listed.extra.get("label") or [label or "related"] * len(listed)
    rows = [
        {
            "w1": w1,
            "w2": w2,
            "label": label or "related" if own in ("", UNNAMED) else own,
            **{name: values[at] for name, values in listed.extra.items() if name in ("sentence", "together")},
        }
        for at, ((w1, w2), own) in enumerate(zip(listed.pairs, labels, strict=True))
    ]
    negative = [row["label"].lower() in NO_LABELS for row in rows]
    if all(negative):
        raise InputError(f"{pairs} has no pair to write: all of them are labelled {rows[0]['label']}")
    written = write_thesaurus(out, rows, base=base, lang=lang, skos=skos)
    distinct, excluded = (
        len({pair for pair, own in zip(listed.pairs, negative, strict=True) if own is no})
        for no in (False, True)
    )
    console.print_about(out, console.many(distinct, "pair"))
    if repeated := written - distinct:
        kept = "equal relations are written once" if out.suffix.lower() == ".ttl" else "all rows are written"
        console.print_message(f"{rows_repeat(repeated)} a pair; {kept}")
    if excluded:
        named = sorted({row["label"] for row, no in zip(rows, negative, strict=True) if no})
        console.print_message(f"{console.many(excluded, 'pair')} excluded, labelled {', '.join(named)}")
