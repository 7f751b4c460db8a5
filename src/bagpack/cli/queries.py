"""`bagpack queries`."""

from __future__ import annotations

from pathlib import Path

from bagpack import console
from bagpack.cli.forms import inflector_of
from bagpack.cli.options import Engine, FirstWord, Forms, Json, SecondWord, WordLanguage
from bagpack.cli.words import check_words
from bagpack.errors import UsageError


def queries(
    w1: FirstWord,
    w2: SecondWord,
    engine: Engine = "tantivy:",
    forms: Forms = None,
    lang: WordLanguage = "en",
    json: Json = False,
) -> None:
    """Show the queries of a pair, without sending them.

    Each in the paper's notation and in the engine's own.
    """
    from bagpack.engines.base import native_query
    from bagpack.engines.queries import plan_queries

    check_words(w1, w2)
    if ":" not in engine and not Path(engine).is_dir():
        raise UsageError(
            f"--engine {engine} is neither a URL nor a directory; write tantivy: for queries of tantivy, or the URL of "
            f"another engine, such as opensearch+https://HOST/INDEX or api:brave"
        )
    plan = plan_queries([(w1, w2)], inflector_of(forms, lang), lang)
    both = [{"query": str(query), "native": native_query(query, engine)} for query in plan.queries]
    if json:
        console.print_json(both)
        return
    for entry in both:
        console.write(f"{entry['query']}\n    {entry['native']}\n")
