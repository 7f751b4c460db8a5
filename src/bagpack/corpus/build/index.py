"""Building a store: plan, parts in parallel, one lexicon, one rename.

Everything is made in `STORE.partial` (for an append, in `STORE/append.partial`) and gets its final name when it is
whole. A finished part leaves a report in `shards/parts`; `resume` skips those and ends with the same bytes.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bagpack.artefacts import LOCK, seal_of
from bagpack.corpus.build.plan import Part, Plan, is_left_out, make_plan
from bagpack.corpus.build.warmup import warm_up
from bagpack.corpus.build.workdir import (
    APPENDED,
    APPENDING,
    FINISHED,
    FIRST,
    SPOOLED,
    WORKERS,
    FinishedParts,
    begun_otherwise,
    check_finished,
    check_free,
    discard,
    install,
    is_complete,
    is_finished,
    key_of_file,
    owned,
    source_key,
    spool,
    sweep,
    take_back,
)
from bagpack.corpus.build.worker import SHARD_TOKENS, Tally, build_part
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Source
from bagpack.corpus.readers.sniff import LeftOut
from bagpack.corpus.readers.sources import expand
from bagpack.corpus.store.corpus import Corpus
from bagpack.corpus.store.format import FORMAT_VERSION
from bagpack.corpus.store.lexicon import write_lexicon
from bagpack.corpus.store.manifest import MANIFEST, is_store, read_manifest
from bagpack.corpus.store.shard import Shard
from bagpack.corpus.text.tagsets import UNKNOWN
from bagpack.errors import InputError, StoreError, UsageError
from bagpack.files import (
    PARTIAL,
    DiskError,
    digest,
    disk_errors,
    read_json,
    remove_tree,
    sync_directory,
    write_json,
)
from bagpack.parallel import core_count, delayed, on_one_machine, run

DEFAULT_MEMORY = 2 << 30
WORKER_BASE = 420 << 20  # interpreter, numba, numpy, lemma tables and a large vocabulary, measured
WORKER_TOKEN = 12  # bytes a token of the shard in the making: raw ids while they grow, postings
SHAPING = ("level", "case", "punctuation", "annotator", "lang")  # options that all of a store must share

Progress = Callable[[int, int], None]  # (tokens so far, estimated bytes so far)


@dataclass(frozen=True)
class IndexSummary:
    """What a finished build tells."""

    corpus: Corpus
    seconds: float
    new_tokens: int  # that the store has more than before
    read_tokens: int  # those of them that this run read: an interrupted one, gone on with, had read others
    told: dict[str, int]
    left_out: list[LeftOut]  # files of directories that hold no text, of this build or append
    sources: list[dict[str, Any]] = field(
        default_factory=list
    )  # of this build or append, as the manifest has them

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


def _for_workers(part: Part) -> Part:
    """The part with paths that hold in any working directory; the sources keep their names."""

    def placed(source: Source) -> Source:
        return replace(source, path=os.path.abspath(source.path), label=source.name)

    return replace(part, slices=tuple(replace(piece, source=placed(piece.source)) for piece in part.slices))


def workers_within(memory: int, jobs: int | None) -> int | None:
    """How many workers the memory bound allows, at most `jobs`; None leaves it to joblib's context."""
    if jobs is None:
        return None
    wanted = core_count() if jobs < 0 else jobs
    allowed = max(1, memory // (WORKER_BASE + WORKER_TOKEN * SHARD_TOKENS))
    return min(wanted, allowed)


def index_corpus(
    sources: Iterable[str],
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
        Add the sources to an existing store, behind what it holds.
    resume
        Go on with an interrupted build of the same input; one that is finished is left as it is.
    overwrite
        Replace an existing store, or discard an unfinished build.
    part_bytes
        Size of the parts that workers take, in uncompressed bytes; None reckons it from the input.
    progress
        Told the tokens and the estimated bytes so far, some times a second.
    planned
        Told the plan, before the first part is read.
    notice
        Told sentences for the user, such as that kernels are being compiled.
    """
    begun = time.monotonic()
    if jobs == 0:
        raise UsageError("--jobs must be at least 1, or -1 for one worker per core")
    out = Path(out)
    names = list(sources)
    # A cluster has as many workers as were started; the bound is on the memory of this machine.
    allowed = workers_within(memory, jobs) if on_one_machine() else jobs
    report = _Reporting(progress, planned, notice or (lambda text: None))
    if append:
        done = _append(names, out, options, allowed, part_bytes, report, resume=resume, overwrite=overwrite)
    else:
        chosen = _settle_options(options, None, out)
        done = _build(names, out, chosen, allowed, part_bytes, report, resume=resume, overwrite=overwrite)
    return replace(done, seconds=time.monotonic() - begun)


def _build(
    names: list[str], out: Path, options: TextOptions, jobs: int | None, part_bytes: int | None, report: _Reporting,
    *, resume: bool, overwrite: bool,
) -> IndexSummary:  # fmt: skip
    """Make a new store in `OUT.partial`, and rename it."""
    work = out.with_name(out.name + PARTIAL)
    if resume and not work.exists() and is_store(out) and not overwrite:
        check_finished(out, names, options)
        return _nothing_left(out, report)
    check_free(out, append=False, overwrite=overwrite)
    with owned(work, resume=resume, overwrite=overwrite) as fresh:
        if resume and is_store(work) and is_finished(out, names, options):
            discard(work)  # the store that was replaced: the process was killed before it was removed
            return _nothing_left(out, report)
        if is_complete(work, names, options):
            install(work, out, read_json(work / MANIFEST))
            return _summary(out)
        made = _make_parts(work, names, options, jobs, part_bytes, report, fresh)
        entries = [_shard_entry(work / "shards", name) for name in made.shards]
        manifest = _manifest(
            work, "lexicon-0", entries, _sources(made), options, made.told, _left_out(made.plan)
        )
        write_json(work / MANIFEST, manifest)
        install(work, out, manifest)
    return _summary(out, made)


def _append(
    names: list[str], out: Path, options: TextOptions | Mapping[str, Any] | None, jobs: int | None,
    part_bytes: int | None, report: _Reporting, *, resume: bool, overwrite: bool,
) -> IndexSummary:  # fmt: skip
    """Add shards to a store. Everything that depends on what it holds is read while its lock is held."""
    read_manifest(out)  # nothing is made in a directory that is no store
    work = out / APPENDING
    unfinished = work.exists() or (out / APPENDED).exists()
    if resume and not unfinished:
        raise StoreError(
            f"no unfinished append is in {out}; leave --resume out to append (bagpack info {out} lists the sources "
            f"that it holds)"
        )
    if (work / FINISHED).exists() or (resume and not work.exists()):
        resume = overwrite = True  # of an append that was finished but for its cleaning up
    with owned(work, resume=resume, overwrite=overwrite) as fresh:
        base = read_manifest(out)
        if (work / FINISHED).exists() and read_json(work / FINISHED) == base["content_hash"]:
            for path in sorted(work.iterdir(), key=lambda path: path.name == FINISHED):
                if path.name not in (LOCK, WORKERS):
                    remove_tree(path)
            fresh = True
        if fresh:
            sweep(out, base)
        else:
            take_back(work, out, base)
        chosen = _settle_options(options, base, out)
        if _is_in(names, base, chosen, out):
            discard(work)
            report.notice(f"{out} holds these sources already, from the append before; nothing was added")
            return _summary(out)
        made = _make_parts(work, names, chosen, jobs, part_bytes, report, fresh)
        manifest = _add_shards(work, out, base, made, chosen)
        write_json(work / FINISHED, manifest["content_hash"])
        write_json(out / MANIFEST, manifest)
        sweep(out, manifest)
        discard(work)
        sync_directory(out)
    return _summary(out, made, base)


def _is_in(names: list[str], base: dict[str, Any], options: TextOptions, out: Path) -> bool:
    """Whether the last append added just these sources; a source that the store has from elsewhere is an error.

    A command that was killed when all but its cleaning up was done, and is repeated, must not add the text twice.
    """
    held = {
        source_key(entry) for entry in base["sources"] if "modified" in entry and entry["path"] != SPOOLED
    }
    wanted = [key_of_file(file.path) for file in expand(names) if not is_left_out(file, options)]
    twice = [name for name, size, modified in wanted if (name, size, modified) in held]
    if not twice:
        return False
    last = base.get("appended", [])[-1:]
    if last and [source_key(entry) for entry in base["sources"][-last[0]["sources"] :]] == wanted:
        return True
    raise UsageError(
        f"{out} holds {twice[0]} already, so its text would count twice; leave it out, or change its name to add it "
        f"again on purpose"
    )


def _add_shards(
    work: Path, out: Path, base: dict[str, Any], made: _Made, options: TextOptions
) -> dict[str, Any]:
    """Move the shards into the store and write a lexicon next to the old one; returns the new manifest."""
    generation = int(base["lexicon"]["directory"].rpartition("-")[2]) + 1
    first = 1 + max(int(entry["name"].partition("-")[0]) for entry in base["shards"])
    entries = list(base["shards"])
    write_json(work / FIRST, first)
    for name in made.shards:
        number, _, piece = name.partition("-")
        final = f"{first + int(number):06d}-{piece}"
        with disk_errors(out):
            os.replace(work / "shards" / name, out / "shards" / final)
        entries.append(_shard_entry(out / "shards", final))
    directory = f"lexicon-{generation}"
    remove_tree(out / directory)
    told = {name: base["told"].get(name, 0) + value for name, value in made.told.items()}
    sources = [*base["sources"], *_sources(made)]
    appended = {"sources": len(made.plan.sources), "options": options.to_dict(), "told": made.told}
    return _manifest(
        out, directory, entries, sources, TextOptions.from_dict(base["options"]), told,
        [*base.get("left_out", ()), *_left_out(made.plan)], [*base.get("appended", ()), appended],
    )  # fmt: skip


def _nothing_left(out: Path, report: _Reporting) -> IndexSummary:
    report.notice(
        f"{out} is finished: nothing is left to resume (bagpack verify {out} checks that it is whole)"
    )
    return _summary(out)


def _summary(out: Path, made: _Made | None = None, base: dict[str, Any] | None = None) -> IndexSummary:
    corpus = Corpus.open(out)
    if made is None:
        return IndexSummary(corpus, 0.0, 0, 0, corpus.manifest["told"], corpus.left_out)
    new = corpus.tokens - (base["tokens"] if base else 0)
    return IndexSummary(
        corpus, 0.0, new, made.read_tokens, made.told, list(made.plan.left_out), _sources(made)
    )  # fmt: skip


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
                f"{getattr(wanted, name)}; leave --{name} out, or make a new store"
            )
    return wanted


@dataclass(frozen=True)
class _Reporting:
    """Whoever wants to know how the work goes."""

    progress: Progress | None
    planned: Callable[[Plan], None] | None
    notice: Callable[[str], None]


@dataclass(frozen=True)
class _Made:
    """All parts of a plan, finished."""

    plan: Plan
    shards: list[str]  # in the order of the corpus
    told: dict[str, int]
    repaired: Mapping[str, int]  # places with bytes that are not the encoding, by file
    read_tokens: int  # of the parts that this run made


def _make_parts(
    work: Path, names: list[str], options: TextOptions, jobs: int | None, part_bytes: int | None,
    report: _Reporting, fresh: bool,
) -> _Made:  # fmt: skip
    """Plan, and build the parts that are not finished yet."""
    planned = False
    try:
        files, labels = spool(names, work)
        plan = make_plan(files, options, part_bytes, labels)
        finished = FinishedParts(work, options)
        kept = {part.number: finished.find(part) for part in plan.parts}
        reports = finished.number_of_reports()
        if reports and not any(kept.values()):
            raise begun_otherwise(work, ["sources"])
        planned = True
        if report.planned:
            report.planned(plan)
        warm_up({source.format for source in plan.sources}, options, report.notice)
        done, read = _run_parts(work, plan, finished, kept, jobs, report.progress)
    except BaseException as error:
        reports = len(list((work / "shards" / "parts").glob("*.json")))
        wrong = isinstance(error, InputError | UsageError)
        if (planned or fresh) and not reports and (wrong or not (work / SPOOLED).exists()):
            discard(work)  # nothing is finished, so nothing is left behind
        if wrong and planned and reports:
            there = "1 finished part is" if reports == 1 else f"{reports:,} finished parts are"
            raise type(error)(
                f"{error} ({there} kept: correct it, or choose to skip it, and add --resume)"
            ) from error
        if isinstance(error, DiskError):
            raise StoreError(f"{error}, adding --resume") from error
        raise
    tally = Tally()
    for entry in done:
        tally.add(entry["told"], entry["repaired"])
    shards = [name for entry in done for name in entry["shards"]]
    if not shards:
        discard(work)
        listed = ", ".join(source.name for source in plan.sources[:3])
        raise InputError(f"no sentence was found in {listed}; check the --format and the files")
    return _Made(plan, shards, tally.counts(), tally.repaired, read)


def _run_parts(
    work: Path, plan: Plan, finished: FinishedParts, kept: dict[int, dict[str, Any] | None], jobs: int | None,
    progress: Progress | None,
) -> tuple[list[dict[str, Any]], int]:  # fmt: skip
    """Build the parts that were not kept; returns the reports of all parts in order, and the tokens read now."""
    shards = work / "shards"
    # A part of an earlier run keeps the number of its shards; the manifest, not the number, gives the order.
    taken = {int(name.partition("-")[0]) for report in kept.values() if report for name in report["shards"]}
    free = itertools.count(max([*taken, len(plan.parts) - 1]) + 1)
    waiting = {
        part.number: replace(part, number=part.number if part.number not in taken else next(free))
        for part in plan.parts
        if not kept[part.number]
    }
    if jobs is not None and jobs > 0:
        jobs = max(1, min(jobs, len(waiting)))
    parent = os.getpid() if on_one_machine() else 0
    place = str(shards.absolute())
    with disk_errors(work):
        (shards / "progress").mkdir(parents=True, exist_ok=True)
    tasks = (
        delayed(build_part)(
            _for_workers(part),
            place,
            plan.options,
            plan.part_bytes,
            parent,
            finished.path(plan.parts[number]).name,
        )
        for number, part in waiting.items()
    )
    weight = {part.number: part.weight for part in waiting.values()}
    before = plan.weight - sum(weight.values())
    with _watched(shards / "progress", weight, before, progress):
        for _ in run(tasks, jobs):
            pass
    made = {number: read_json(finished.path(plan.parts[number])) for number in waiting}
    reports = [kept[part.number] or made[part.number] for part in plan.parts]
    return reports, sum(entry["tokens"] for entry in made.values())


@contextmanager
def _watched(
    directory: Path, weight: dict[int, int], before: int, progress: Progress | None
) -> Iterator[None]:
    """Poll the traces that workers leave, and report the progress."""
    if progress is None:
        yield
        return
    import threading

    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.2):
            tokens = size = 0
            for trace in directory.glob("[0-9]*"):
                if int(trace.name) not in weight:
                    continue  # left by the run that is resumed
                try:
                    seen, consumed = map(int, trace.read_text().split())
                except (OSError, ValueError):
                    continue
                tokens += seen
                size += min(consumed, weight[int(trace.name)])
            progress(tokens, size + before)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


def _shard_entry(shards: Path, name: str) -> dict[str, Any]:
    facts = Shard(shards / name).facts
    entry = {key: facts[key] for key in ("tokens", "sentences", "documents", "types", "keys")}
    entry |= {"tags": facts["tags"]} if "tags" in facts else {}
    return {"name": name, **entry, "digest": digest((shards / name / "shard.json").read_bytes())}


def _sources(made: _Made) -> list[dict[str, Any]]:
    return [
        {"path": source.name, "bytes": source.size, "modified": source.modified, "format": source.format}
        | ({"encoding": source.encoding} if source.encoding != "utf-8" else {})
        | ({"lang": source.lang} if source.lang else {})
        | ({"tagset": source.tagset} if source.tagset else {})
        | ({"looks_like": source.looks_like} if source.looks_like else {})
        | ({"repaired": made.repaired[source.name]} if made.repaired.get(source.name) else {})
        for source in made.plan.sources
    ]


def _left_out(plan: Plan) -> list[dict[str, str]]:
    return [file._asdict() for file in plan.left_out]


def _manifest(
    root: Path, directory: str, entries: list[dict[str, Any]], sources: list[dict[str, Any]],
    options: TextOptions, told: dict[str, int], left_out: list[dict[str, str]], appended: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:  # fmt: skip
    """Write the lexicon of these shards and describe the store that they make."""
    checksums = write_lexicon([root / "shards" / entry["name"] for entry in entries], root / directory)
    counted = {name: sum(entry[name] for entry in entries) for name in ("tokens", "sentences", "documents")}
    identity = "\n".join([*(entry["digest"] for entry in entries), str(sorted(options.to_dict().items()))])
    manifest: dict[str, Any] = {
        "kind": "corpus",
        "format_version": FORMAT_VERSION,
        **counted,
        "types": (root / directory / "keys.offsets").stat().st_size // 8 - 1,
        "content_hash": digest(identity.encode()),
        "options": options.to_dict(),
        "sources": sources,
        "told": told,
        **({"left_out": left_out} if left_out else {}),
        **({"appended": list(appended)} if appended else {}),
        "lexicon": {"directory": directory, "checksums": checksums},
        "shards": entries,
    }
    return {**manifest, "seal": seal_of(manifest)}
