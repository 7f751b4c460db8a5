"""Compiling the kernels once, before workers start, and saying so: the first run would look hung otherwise."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bagpack.corpus.options import TextOptions

_TEXT = "The lions, it's said, don't sleep. Do they?\n"
_SAMPLES = {
    "vertical": '<text id="a">\n<s>\nLions\tNNS\tlion\n<g/>\n!\tSENT\t!\n</s>\n</text>\n',
    "conllu": "# newdoc id = a\n" + "".join(f"{n}\tx\tx" + "\t_" * 7 + "\n" for n in (1, 2)) + "\n",
    "text": _TEXT,
}


def is_compiled(formats: Iterable[str]) -> bool:
    """Whether numba has compiled the kernels of these formats here before; if that cannot be told, it has not."""
    from bagpack.corpus.readers import columns
    from bagpack.corpus.store import shard
    from bagpack.corpus.text import tokenizer as tokenize

    parsers = {"vertical": columns.read_vertical, "conllu": columns.read_conllu, "text": tokenize._tokenize}
    kernels: list[Any] = [parsers[name] for name in formats]
    try:
        return all(
            Path(kernel._cache._cache_file._index_path).exists() for kernel in [*kernels, shard.fill_postings]
        )
    except AttributeError:
        return False


def warm_up(
    formats: Iterable[str], options: TextOptions, notice: Callable[[str], None] | None = None
) -> None:
    """Run the kernels that these formats need on a few words, unless they are compiled already."""
    needed = {name if name in _SAMPLES else "text" for name in formats}
    if is_compiled(needed):
        return
    if notice:
        notice("compiling the reading kernels for the first run here, half a minute or so ...")
    from bagpack.corpus.build.plan import make_plan
    from bagpack.corpus.build.worker import Worker
    from bagpack.corpus.store.lexicon import write_lexicon

    with tempfile.TemporaryDirectory() as place:
        for format in sorted(needed):
            sample = Path(place) / format
            sample.write_text(_SAMPLES[format])
            plain = TextOptions(format=format, lang=options.lang, annotator="none", level="form")
            (part,) = make_plan([str(sample)], plain).parts
            worker = Worker(Path(place), 0, plain, 1 << 20)
            worker.run(part.slices)
            write_lexicon([Path(place) / name for name in worker.shards], Path(place) / "lexicon")
