"""`bagpack queries`."""

from __future__ import annotations

from bagpack import console
from bagpack.cli.forms import inflector_of
from bagpack.cli.options import Engine, FirstWord, Forms, Json, SecondWord, WordLanguage
from bagpack.cli.words import check_words


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
    plan = plan_queries([(w1, w2)], inflector_of(forms, lang), lang)
    both = [{"query": str(query), "native": native_query(query, engine)} for query in plan.queries]
    if json:
        console.print_json(both)
        return
    for entry in both:
        console.write(f"{entry['query']}\n    {entry['native']}\n")
