"""`bagpack demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLES = (("war", "peace"), ("gold", "silver"))


def demo(
    directory: Annotated[Path, typer.Option("--dir", help="Where everything is put.")] = Path("demo"),
) -> None:
    """Go the whole way on a real small corpus."""
    from rich.console import Console

    from bagpack.contexts.concordance import find_contexts
    from bagpack.corpus.index import index_corpus
    from bagpack.corpus.store import Corpus, read_manifest
    from bagpack.demo import STATE_OF_THE_UNION as CORPUS
    from bagpack.demo import fetch, unpack
    from bagpack.errors import StoreError

    screen = Console(highlight=False)

    def say(text: str) -> None:
        screen.print(text, soft_wrap=True)

    text, store = directory / "sotu", directory / "sotu.bp"
    say(f"[bold]The corpus[/bold]: {CORPUS.what}.\nIts licence: {CORPUS.licence}.")
    unpack(CORPUS, fetch(CORPUS, say), text)
    try:
        read_manifest(store)
    except StoreError:
        say(f"\n[bold]bagpack index {text} --out {store}[/bold]")
        index_corpus([str(text)], store, jobs=-1, overwrite=True, notice=say)
    corpus = Corpus.open(store)
    say(
        f"{corpus.tokens:,} tokens, {corpus.sentences:,} sentences, {corpus.documents:,} documents, in {store}"
    )
    for w1, w2 in EXAMPLES:
        say(f"\n[bold]bagpack contexts {store} {w1} {w2} --limit 4[/bold]")
        found = find_contexts(corpus, w1, w2, limit=4)
        for line in found:
            screen.print(f"  {line.text}  ({Path(line.document).stem})", markup=False, soft_wrap=True)
        say(f"[dim]{found.note}[/dim]")
    say(
        f"\nEverything is in {directory}/ (delete it when you like). Try next:\n"
        f"  bagpack info {store}\n"
        f"  bagpack contexts {store} freedom\n"
        f"  bagpack index YOUR-TEXTS --out my.bp"
    )


def register(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command()(demo)
