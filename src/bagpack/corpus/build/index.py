"""Building a store: plan, parts in parallel, one lexicon, one rename.

Everything is made in `STORE.partial` (for an append, in `STORE/append.partial`) and gets its final name when it is
whole. A finished part leaves a report in `shards/parts`; `resume` skips those and ends with the same bytes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bagpack.artefacts import discard
from bagpack.corpus.build.append import append_to
from bagpack.corpus.build.describe import make_manifest, shard_entry
from bagpack.corpus.build.parts import (
    FinishedPlan,
    Progress,
    Reporting,
    build_parts,
    limited_by_memory,
    workers_within,
)
from bagpack.corpus.build.plan import Plan
from bagpack.corpus.build.workdir import (
    check_finished,
    check_free,
    install,
    is_complete,
    is_finished,
    owned,
)
from bagpack.corpus.options import TextOptions
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.manifest import MANIFEST, LeftOut, is_store
from bagpack.corpus.text.tagsets import UNKNOWN
from bagpack.errors import UsageError
from bagpack.files import PARTIAL, read_json, write_json
from bagpack.parallel import on_one_machine

DEFAULT_MEMORY = 2 << 30
SHAPING = ("level", "case", "punctuation", "annotator", "lang")  # options that all of a store must share


@dataclass(frozen=True)
class IndexSummary:
    """What a finished build reports."""

    corpus: Corpus
    seconds: float
    new_tokens: int  # that the store has more than before
    read_tokens: int  # those of them that this run read: the rest was read by the run that it resumed
    problems: dict[str, int]  # lines that were skipped, markup that was ignored, bytes that were repaired
    left_out: list[LeftOut]  # files of directories that hold no text, of this build or append
    # Of this build or append, as the manifest has them.
    sources: list[dict[str, Any]] = field(default_factory=list)

    @property
    def repaired(self) -> dict[str, int]:
        """Files with bytes that were not in their encoding, and how many places were repaired."""
        return {entry["path"]: entry["repaired"] for entry in self.sources if "repaired" in entry}

    @property
    def languages(self) -> dict[str, str]:
        """Files whose language was detected."""
        return {entry["path"]: entry["lang"] for entry in self.sources if "lang" in entry}

    @property
    def other_languages(self) -> dict[str, str]:
        """Files that are clearly not in the language that was named, and the one that they look like."""
        return {entry["path"]: entry["looks_like"] for entry in self.sources if "looks_like" in entry}

    @property
    def unknown_tagsets(self) -> dict[str, str]:
        """Files whose parts of speech are of no known tagset, so that all of them are X."""
        return {entry["path"]: UNKNOWN for entry in self.sources if entry.get("tagset") == UNKNOWN}

    @property
    def encodings(self) -> dict[str, str]:
        """Files that were read as something else than UTF-8."""
        return {entry["path"]: entry["encoding"] for entry in self.sources if "encoding" in entry}


def index_corpus(
    sources: Iterable[str | Path],
    out: str | Path,
    options: TextOptions | Mapping[str, Any] | None = None,
    *,
    jobs: int | None = None,
    memory: int = DEFAULT_MEMORY,
    append: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    part_bytes: int | None = None,
    progress: Progress | None = None,
    planned: Callable[[Plan], None] | None = None,
    notice: Callable[[str], None] | None = None,
) -> IndexSummary:
    """Index text into a store.

    Parameters
    ----------
    sources
        Files, directories, globs, or ``-`` for standard input.
    out
        The store to make; with `append`, the store to add to.
    options
        How input becomes tokens. As a mapping, it holds what differs from the defaults or, with `append`, from
        the store's own options.
    jobs
        Worker processes, -1 for one per core; None takes joblib's own context.
    memory
        Bound on the memory of all workers of this machine together, in bytes.
    append
        Append the sources to an existing store.
    resume
        Continue an interrupted build of the same input; a complete store is not changed.
    overwrite
        Replace an existing store, or discard an unfinished build.
    part_bytes
        Size of the parts that workers take, in uncompressed bytes; None chooses it by the size of the input.
    progress
        Called with the tokens and the estimated bytes so far, a few times a second.
    planned
        Called with the plan, before the first part is read.
    notice
        Called with messages for the user, such as that kernels are being compiled.
    """
    begun = time.monotonic()
    if jobs == 0:
        raise UsageError("--jobs must be at least 1, or -1 for one worker per core")
    out = Path(out)
    names = [os.fspath(name) for name in sources]
    # A cluster has as many workers as were started; the bound is on the memory of this machine.
    here = on_one_machine()
    allowed = workers_within(memory, jobs) if here else jobs
    notice = notice or (lambda text: None)

    def begin(plan: Plan) -> None:
        if here and jobs is not None and (text := limited_by_memory(memory, jobs, len(plan.parts))):
            notice(text)
        if planned:
            planned(plan)

    report = Reporting(progress, begin, notice)
    before = 0
    if append:
        made, before = append_to(
            out, names, lambda base: _settle_options(options, base, out), allowed, part_bytes, report,
            resume=resume, overwrite=overwrite,
        )  # fmt: skip
    else:
        chosen = _settle_options(options, None, out)
        made = _build(names, out, chosen, allowed, part_bytes, report, resume=resume, overwrite=overwrite)
    return _summary(out, made, before, time.monotonic() - begun)


def _build(
    names: list[str], out: Path, options: TextOptions, jobs: int | None, part_bytes: int | None, report: Reporting,
    *, resume: bool, overwrite: bool,
) -> FinishedPlan | None:  # fmt: skip
    """Make a new store in `OUT.partial`, and rename it; None if nothing was left to build."""
    work = out.with_name(out.name + PARTIAL)
    if resume and not work.exists() and is_store(out) and not overwrite:
        check_finished(out, names, options)
        _nothing_left(out, report)
        return None
    check_free(out, overwrite=overwrite)
    with owned(work, resume=resume, overwrite=overwrite) as fresh:
        if resume and is_store(work) and is_finished(out, names, options):
            discard(work)  # the store that was replaced: the process was killed before it was removed
            _nothing_left(out, report)
            return None
        if is_complete(work, names, options):
            install(work, out, read_json(work / MANIFEST))
            return None
        made = build_parts(work, names, options, jobs, part_bytes, report, fresh)
        manifest = make_manifest(
            work,
            "lexicon-0",
            [shard_entry(work / "shards", name) for name in made.shards],
            options,
            sources=made.sources(),
            problems=made.problems,
            left_out=made.left_out(),
            workers=made.workers,
        )
        write_json(work / MANIFEST, manifest)
        install(work, out, manifest)
    return made


def _nothing_left(out: Path, report: Reporting) -> None:
    report.notice(
        f"{out} is finished: nothing is left to resume (bagpack verify {out} checks that it is intact)"
    )


def _summary(out: Path, made: FinishedPlan | None, before: int, seconds: float) -> IndexSummary:
    corpus = Corpus.open(out)
    if made is None:
        return IndexSummary(corpus, seconds, 0, 0, corpus.manifest["problems"], corpus.left_out)
    new, left_out = corpus.tokens - before, list(made.plan.left_out)
    return IndexSummary(corpus, seconds, new, made.read_tokens, made.problems, left_out, made.sources())


def _settle_options(
    options: TextOptions | Mapping[str, Any] | None, base: dict[str, Any] | None, out: Path
) -> TextOptions:
    if base is None and not isinstance(options, TextOptions):
        return TextOptions(**(options or {}))
    recorded = TextOptions.from_dict(base["options"]) if base else TextOptions()
    if options is None:
        return recorded
    wanted = options if isinstance(options, TextOptions) else replace(recorded, **options)
    for name in SHAPING if base else ():
        if getattr(recorded, name) != getattr(wanted, name):
            raise UsageError(
                f"{out} was indexed with --{name} {getattr(recorded, name)}, so --append cannot use "
                f"{getattr(wanted, name)}; remove --{name}, or make a new store"
            )
    return wanted
