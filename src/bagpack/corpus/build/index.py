"""Indexing: sources become segments, made in parallel, and one rename of the manifest makes them a store.

A store is a directory of immutable segments and one `manifest.json` that names those that count. Every writer holds the
store's lock, writes new segments next to the old ones, and commits by renaming the manifest: a new store, a resumed, an
appended and an overwritten one differ only in the list that is committed. Segments are named by what they are made
from, so that those which a killed process finished are found again. What no manifest names is removed by the next
writer, so that whoever has the store open keeps the view of it; nothing else is ever removed.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bagpack import artefacts
from bagpack.artefacts import MANIFEST, SEGMENTS, WORK, is_kind, is_unfinished, remove_if_empty
from bagpack.corpus import format
from bagpack.corpus.build.lexicon import write_lexicon
from bagpack.corpus.build.plan import Plan, make_plan
from bagpack.corpus.build.worker import PROGRESS, WORKER, Progress, run_workers, workers_within
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import CORPUS, LeftOut, read_manifest
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.base import Source
from bagpack.corpus.readers.files import printable
from bagpack.corpus.segment import Segment
from bagpack.errors import BagpackError, InputError, StoreError, UsageError
from bagpack.files import DiskError, TooManyFilesError, digest, disk_errors, read_json
from bagpack.numbers import many
from bagpack.parallel import delayed, on_one_machine, run, worker_count

DEFAULT_MEMORY = 2 << 30
SHAPING = ("level", "case", "punctuation", "annotator", "lang")  # options that all of a store must share
SPOOLED = "stdin"
Options = TextOptions | Mapping[str, Any] | None


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

    def about(self, what: str) -> dict[str, Any]:
        """The sources that have an entry (`repaired`, `encoding`, `looks_like`), and what it is."""
        return {entry["path"]: entry[what] for entry in self.sources if what in entry}


def index_corpus(
    sources: Iterable[str | Path], out: str | Path, options: Options = None, *, jobs: int | None = None,
    memory: int = DEFAULT_MEMORY, append: bool = False, resume: bool = False, overwrite: bool = False,
    part_bytes: int | None = None, progress: Progress | None = None,
    planned: Callable[[Plan], None] = lambda plan: None, notice: Callable[[str], None] | None = None,
) -> IndexSummary:  # fmt: skip
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
    append, resume, overwrite
        Add to an existing store; continue an interrupted build of the same input (a complete store is not changed);
        replace an existing store or an unfinished build.
    part_bytes
        Size of the parts that workers take, in uncompressed bytes; None chooses it by the size of the input.
    progress, planned, notice
        Callbacks: a few times a second with the tokens and the estimated bytes so far; with the plan, before the first
        part is read; with messages for the user.
    """
    begun = time.monotonic()
    worker_count(jobs)  # refuses 0
    # A cluster has as many workers as were started; the bound is on the memory of this machine.
    workers = workers_within(memory, jobs) if on_one_machine() else jobs
    notice = notice or (lambda text: None)
    store = Path(os.path.realpath(out))  # through a link, the store that it leads to is written
    if append:
        read_manifest(store)
    else:
        _settle_options(options, None, out)  # a wrong value is reported before anything is made
        _check_place(Path(out), store, resume, overwrite)
    with artefacts.locked(store):  # what the store holds is read while its lock is held
        base = read_manifest(store) if is_kind(store, CORPUS) and not overwrite else None
        settled = _settle_options(options, base if append else None, out)
        current = _names_in(store)  # what readers of the present store need, until the next writer comes
        # A store that is overwritten gets new segments under other names: what it has may be damaged.
        salt = digest((store / MANIFEST).read_bytes()) if overwrite and (store / MANIFEST).exists() else ""
        reports: list[dict[str, Any]] = []
        read: dict[str, dict[str, Any]] = {}
        try:
            files, labels = _spool([os.fspath(name) for name in sources], store / WORK)
            plan = make_plan(files, settled, part_bytes, labels, workers, salt)
            if base is None or not _is_indexed(base, plan, append, out, notice):
                kept = _find_reports(store, plan, resume and not overwrite, out) if resume or append else {}
                _sweep(store, current | {name for own in kept.values() for name in own["segments"]}, kept)
                wanted = min(workers_within(sys.maxsize, jobs) or 1, len(plan.parts))
                if workers is not None and 0 < workers < wanted:  # -1: all that a cluster has
                    needed = -(-wanted * WORKER >> 30)  # rounded up
                    notice(f"--memory allows {workers} of {wanted} workers; --memory {needed}G allows all")
                planned(plan)
                left = [part for part in plan.parts if part.key not in kept]
                running = run_workers(store, plan, left, workers, progress)
                read = {part.key: read_json(store / SEGMENTS / f"{part.key}.json") for part in left}
                reports = [kept.get(part.key) or read[part.key] for part in plan.parts]
                if not any(own["segments"] for own in reports):
                    _sweep(store, current)
                    listed = ", ".join(source.name for source in plan.sources[:3])
                    raise InputError(f"no sentence was found in {listed}; check the --format and the files")
                artefacts.write_manifest(store, _manifest(store, base, plan, reports, salt, running))
        except BaseException as error:
            finished = len(list((store / SEGMENTS).glob("*.json")))
            wrong = isinstance(error, InputError | UsageError)
            if not finished and (wrong or not (store / WORK / SPOOLED).exists()):
                _sweep(store, current)  # nothing is finished, so nothing is left behind
                _remove_work(store)
            kinds = (InputError, UsageError, DiskError, TooManyFilesError)
            kind = next((own for own in kinds if isinstance(error, own)), None)
            if finished and kind:
                kept_parts = many(finished, "finished part")
                raise kind(f"{error} ({kept_parts} kept: correct it, and add --resume)") from error
            raise
        _sweep(store, current | _names_in(store))
        _remove_work(store)
    corpus = Corpus.open(out)
    new = corpus.tokens - (base["tokens"] if base else 0)
    read_tokens = sum(own["tokens"] for own in read.values())
    seconds = time.monotonic() - begun
    if not reports:
        return IndexSummary(corpus, seconds, 0, 0, corpus.manifest["problems"], corpus.left_out)
    entries = corpus.manifest["sources"][-len(plan.sources) :]
    return IndexSummary(
        corpus, seconds, new, read_tokens, _total(reports, "problems"), list(plan.left_out), entries
    )


def _check_place(out: Path, store: Path, resume: bool, overwrite: bool) -> None:
    """Refuse what cannot be written; nothing is made or removed before that."""
    if is_unfinished(store):
        # Where a killed build has finished nothing, there is nothing to keep and nothing to ask.
        useful = any((store / SEGMENTS).glob("*.json")) or (store / WORK / SPOOLED).exists()
        if useful and not (resume or overwrite):
            raise StoreError(f"an unfinished build is at {out}; use --resume, or --overwrite to discard it")
    elif is_kind(store, CORPUS) and not (resume or overwrite):
        artefacts.check_place(out, CORPUS, overwrite=True)  # a store of another version is not replaced
        raise StoreError(f"{out} exists already; choose another --out, --append to it, or --overwrite it")
    elif not (resume and is_kind(store, CORPUS)):
        artefacts.check_place(out, CORPUS, overwrite=overwrite)


def _settle_options(options: Options, base: dict[str, Any] | None, out: str | Path) -> TextOptions:
    """The options of a build; what is appended to `base` has those of the store, but for what is given."""
    if base is None:
        return options if isinstance(options, TextOptions) else TextOptions(**(options or {}))
    # A table of metadata is about the files that were named with it.
    recorded = replace(TextOptions.from_dict(base["options"]), metadata="")
    wanted = options if isinstance(options, TextOptions) else replace(recorded, **(options or {}))
    for name in SHAPING:
        if getattr(recorded, name) != getattr(wanted, name):
            has, given = getattr(recorded, name), getattr(wanted, name)
            raise UsageError(f"{out} has --{name} {has}, so --append cannot use {given}; remove --{name}")
    return wanted


def _spool(names: list[str], work: Path) -> tuple[list[str], dict[str, str]]:
    """Keep standard input in a file first: it can then be sliced, and read again after an interruption."""
    if "-" not in names:
        return names, {}
    kept, partial = work / SPOOLED, work / f"{SPOOLED}.new"
    if not kept.exists():
        try:
            with disk_errors(partial):
                work.mkdir(exist_ok=True)
                with open(partial, "wb") as handle:
                    shutil.copyfileobj(sys.stdin.buffer, handle, 1 << 20)
        except BaseException:
            partial.unlink(missing_ok=True)  # half of it is of no use
            raise
        if partial.stat().st_size == 0:
            raise InputError("standard input is empty; pipe some text into the command")
        os.replace(partial, kept)
    return [str(kept) if name == "-" else name for name in names], {str(kept): SPOOLED}


def _is_indexed(
    base: dict[str, Any], plan: Plan, append: bool, out: str | Path, notice: Callable[[str], None]
) -> bool:
    """Whether a store is what this plan makes; with `append`, sources that it has are refused."""
    held = list(map(_identity, base["sources"]))
    wanted = list(map(_identity, map(_source_entry, plan.sources)))
    if not append:
        before, now = TextOptions.from_dict(base["options"]).to_dict(), plan.options.to_dict()
        differing = ["sources"] if held != wanted else []
        differing += ["--" + name.replace("_", "-") for name in now if before[name] != now[name]]
        if differing:
            other = ", ".join(differing)
            raise StoreError(f"{out} was finished with other {other}; use --append, or --overwrite")
        notice(f"{out} is finished: nothing is left to resume")
        return True
    known = set(held)
    twice = [own[0] for own in wanted if own[0] != SPOOLED and own in known]
    if not twice:
        return False
    last = base.get("appended", [])[-1:]
    if last and held[-last[0]["sources"] :] == wanted:  # by a command that was killed when all was done
        notice(f"{out} holds these sources already, from the append before; nothing was added")
        return True
    raise UsageError(f"{out} holds {twice[0]} already, so its text would count twice; remove or rename it")


def _identity(entry: dict[str, Any]) -> tuple[str, int, int]:
    """What a source is recognised by, whatever path or link leads to it; standard input by its name alone."""
    name = entry.get("links_to") or os.path.basename(entry["path"])
    return (SPOOLED, -1, -1) if name == SPOOLED else (name, entry["bytes"], entry["modified"])


def _find_reports(store: Path, plan: Plan, resume: bool, out: str | Path) -> dict[str, dict[str, Any]]:
    """Reports, by key, of the parts that are finished and would not differ under the options of this command."""
    paths = {part.key: store / SEGMENTS / f"{part.key}.json" for part in plan.parts}
    written = {key: read_json(path) for key, path in paths.items() if path.exists()}
    if resume and not written and any((store / SEGMENTS).glob("*.json")):
        raise StoreError(f"{out} was begun with other sources or options; repeat these, or use --overwrite")
    now = plan.options

    def holds(report: dict[str, Any]) -> bool:
        before, problems = report["options"], report["problems"]
        return (
            all((store / SEGMENTS / name / format.FACTS).exists() for name in report["segments"])
            and (now.bad_lines == before["bad_lines"] or not problems["skipped_lines"])
            and (now.encoding_errors == before["encoding_errors"] or not problems["undecodable"])
            and now.max_sentence >= before["max_sentence"]
        )

    return {key: report for key, report in written.items() if holds(report)}


def _manifest(
    store: Path, base: dict[str, Any] | None, plan: Plan, reports: Sequence[dict[str, Any]], salt: str, workers: int
) -> dict[str, Any]:  # fmt: skip
    """The manifest of the segments that the store had, and of those that were made; writes their lexicon.

    Where `workers` are running, one of them merges the lexicon: it has loaded the kernels, which takes this process
    longer than the merging.
    """
    repaired, problems = _total(reports, "repaired"), _total(reports, "problems")
    options = plan.options.to_dict()
    lists: dict[str, list[Any]] = {
        "sources": [_source_entry(source, repaired.get(source.name, 0)) for source in plan.sources],
        "left_out": [file._asdict() for file in plan.left_out],
        "appended": [],
        "segments": [segment_entry(store, name) for own in reports for name in own["segments"]],
    }
    if base is not None:
        lists["appended"] = [{"sources": len(plan.sources), "options": options, "problems": problems}]
        lists = {name: [*base.get(name, ()), *own] for name, own in lists.items()}
        problems = {name: base["problems"].get(name, 0) + count for name, count in problems.items()}
        options = TextOptions.from_dict(base["options"]).to_dict()
    segments = lists["segments"]
    content = digest("\n".join([*(own["digest"] for own in segments), str(sorted(options.items()))]).encode())
    lexicon = f"lexicon-{digest((content + salt).encode())[:16]}"
    paths = [store.absolute() / SEGMENTS / entry["name"] for entry in segments]
    _remove_ours(store / lexicon)
    (checksums,) = run([delayed(write_lexicon)(paths, store.absolute() / lexicon)], workers)
    return {
        "kind": CORPUS.name,
        "format_version": CORPUS.version,
        **{name: sum(entry[name] for entry in segments) for name in ("tokens", "sentences", "documents")},
        "types": (store / lexicon / "keys.offsets").stat().st_size // 8 - 1,
        "content_hash": content,
        "options": options,
        "problems": problems,
        "lexicon": {"directory": lexicon, "checksums": checksums},
        **{name: own for name, own in lists.items() if own},
    }


def _source_entry(source: Source, repaired: int = 0) -> dict[str, Any]:
    """What the manifest says about a source."""
    always = {"path": source.name, "bytes": source.size, "modified": source.modified, "format": source.format}
    file = os.path.basename(os.path.realpath(source.path))
    notable = {
        "links_to": "" if file == os.path.basename(source.path) else printable(file),
        "encoding": source.encoding.removeprefix("utf-8"), "tagset": source.tagset, "looks_like": source.looks_like,
        "repaired": repaired,
    }  # fmt: skip
    return always | {name: value for name, value in notable.items() if value}


def _total(reports: Iterable[dict[str, Any]], what: str) -> dict[str, int]:
    total = Counter[str]()
    for own in reports:
        total.update(own[what])
    return total


def segment_entry(store: Path, name: str) -> dict[str, Any]:
    facts = Segment(store / SEGMENTS / name).facts
    return {
        "name": name,
        **{key: facts[key] for key in format.NUMBERS},
        **({"tags": facts["tags"]} if "tags" in facts else {}),
        "digest": digest((store / SEGMENTS / name / format.FACTS).read_bytes()),
    }


def _names_in(store: Path) -> set[str]:
    """The segments and the lexicon that a manifest names, if there is one that can be read."""
    try:
        manifest = read_manifest(store)
    except BagpackError:
        return set()
    return {manifest["lexicon"]["directory"], *(entry["name"] for entry in manifest["segments"])}


def _sweep(store: Path, kept: set[str], reports: Iterable[str] = ()) -> None:
    """Remove segments, lexicons and reports of parts that are not kept; of what we did not write, nothing."""
    segments = store / SEGMENTS
    files = {f"{key}.json" for key in reports}
    for path in list(segments.iterdir()) if segments.is_dir() and not segments.is_symlink() else ():
        if format.REPORT_NAME.fullmatch(path.name):
            if path.name not in files:
                path.unlink(missing_ok=True)
        elif path.name not in kept and format.SEGMENT_NAME.fullmatch(path.name.partition(".")[0]):
            _remove_ours(path)
    remove_if_empty(segments)
    for path in list(store.iterdir()):
        if artefacts.LEXICON_NAME.fullmatch(path.name) and path.name not in kept:
            _remove_ours(path)


def _remove_ours(directory: Path) -> None:
    """Remove the files of a segment or a lexicon, and the directory if no other file is in it."""
    if directory.is_dir() and not directory.is_symlink():
        ours = {*format.SEGMENT, *format.LEXICON, format.FACTS, f"{format.FACTS}.new"}
        artefacts.remove_files(directory, ours)


def _remove_work(store: Path) -> None:
    """Remove what only unfinished work needs: the progress of parts, and standard input."""
    work = store / WORK
    if work.is_symlink():
        return
    for path in [work / SPOOLED, work / f"{SPOOLED}.new", *(work / PROGRESS).glob("*")]:
        path.unlink(missing_ok=True)
    remove_if_empty(work / PROGRESS)
    remove_if_empty(work)
