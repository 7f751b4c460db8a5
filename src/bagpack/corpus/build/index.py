"""Indexing: sources become segments, made in parallel, and one rename of the manifest makes them a store.

A store is a directory of immutable segments and one `manifest.json` that names those that count. Every writer holds the
store's lock, writes new segments next to the old ones, and commits by renaming the manifest: a new store, a resumed, an
appended and an overwritten one differ only in the list that is committed. Segments are named by what they are made
from, so that those which a killed process finished are found again. What no manifest names is removed by the next
writer, so that whoever has the store open keeps the view of it; nothing else is ever removed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bagpack.artefacts import (
    LOCK,
    MANIFEST,
    locked,
    read_document,
    remove_files,
    remove_if_empty,
    write_manifest,
)
from bagpack.corpus import format
from bagpack.corpus.build.lexicon import write_lexicon
from bagpack.corpus.build.parts import (
    SPOOLED,
    FinishedPlan,
    Progress,
    Reporting,
    build_parts,
    find_reports,
    limited_by_memory,
    spool,
    workers_within,
)
from bagpack.corpus.build.plan import Plan, is_left_out, make_plan
from bagpack.corpus.build.worker import PROGRESS
from bagpack.corpus.corpus import Corpus
from bagpack.corpus.format import (
    CORPUS,
    FACTS,
    LEXICON_NAME,
    NUMBERS,
    REPORT_NAME,
    SEGMENT_NAME,
    SEGMENTS,
    WORK,
    LeftOut,
    is_store,
    is_unfinished,
    read_manifest,
)
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.files import expand, printable
from bagpack.corpus.segment import Shard
from bagpack.corpus.text.tags import UNKNOWN
from bagpack.errors import BagpackError, InputError, StoreError, UsageError
from bagpack.files import DiskError, digest
from bagpack.parallel import delayed, on_one_machine, run

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

    def about(self, what: str) -> dict[str, Any]:
        """The sources that have an entry (`repaired`, `encoding`, `looks_like`), and what it is."""
        return {entry["path"]: entry[what] for entry in self.sources if what in entry}

    @property
    def unknown_tagsets(self) -> dict[str, str]:
        """Files whose parts of speech are of no known tagset, so that all of them are X."""
        return {path: name for path, name in self.about("tagset").items() if name == UNKNOWN}


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
    names = [os.fspath(name) for name in sources]
    # A cluster has as many workers as were started; the bound is on the memory of this machine.
    here = on_one_machine()
    notice = notice or (lambda text: None)

    def begin(plan: Plan) -> None:
        if here and jobs is not None and (text := limited_by_memory(memory, jobs, len(plan.parts))):
            notice(text)
        if planned:
            planned(plan)

    writer = _Writer(
        Path(out),
        Path(os.path.realpath(out)),  # through a link, the store that it leads to is written
        names,
        workers_within(memory, jobs) if here else jobs,
        part_bytes,
        Reporting(progress, begin, notice),
    )
    writer.check_place(append=append, resume=resume, overwrite=overwrite)
    if not append:
        _settle_options(options, None, writer.out)  # a wrong value is reported before anything is made
    with locked(writer.store):
        made, before = writer.write(options, append=append, resume=resume, overwrite=overwrite)
    corpus = Corpus.open(out)
    seconds = time.monotonic() - begun
    if made is None:
        return IndexSummary(corpus, seconds, 0, 0, corpus.manifest["problems"], corpus.left_out)
    return IndexSummary(
        corpus, seconds, corpus.tokens - before, made.read_tokens, made.problems, list(made.plan.left_out),
        made.sources(),
    )  # fmt: skip


@dataclass(frozen=True)
class _Writer:
    """One command that writes a store."""

    out: Path  # as the user named it
    store: Path
    names: list[str]
    jobs: int | None
    part_bytes: int | None
    report: Reporting

    def check_place(self, *, append: bool, resume: bool, overwrite: bool) -> None:
        """Refuse what cannot be written; nothing is made or removed before that."""
        out, store = self.out, self.store
        if append:
            read_manifest(store)
            return
        if not store.exists():
            if out.is_symlink():
                raise StoreError(f"{out} is a link that leads nowhere; remove it, or choose another --out")
            return
        if store.is_dir() and is_store(store):
            if not (resume or overwrite):
                raise StoreError(
                    f"{out} exists already; choose another --out, add to it with --append, or --overwrite it"
                )
            if overwrite and read_document(store).get("format_version") != CORPUS.version:
                raise StoreError(
                    f"{out} was written by another version of BagPack; remove it, or choose another --out"
                )
        elif is_unfinished(store):
            # Where a killed build has finished nothing, there is nothing to keep and nothing to ask.
            if self._has_finished() and not (resume or overwrite):
                raise StoreError(
                    f"an unfinished build is at {out}; resume it with --resume, or discard it with --overwrite"
                )
        elif not store.is_dir() or any(path.name != LOCK or path.stat().st_size for path in store.iterdir()):
            raise StoreError(f"{out} exists already and is not a BagPack store; choose another --out")

    def _has_finished(self) -> bool:
        """Whether an unfinished build has something that --resume would use."""
        return any((self.store / SEGMENTS).glob("*.json")) or (self.store / WORK / SPOOLED).exists()

    def write(
        self, options: TextOptions | Mapping[str, Any] | None, *, append: bool, resume: bool, overwrite: bool
    ) -> tuple[FinishedPlan | None, int]:
        """Build what is missing, and commit; returns what was made, and the tokens before.

        Everything that depends on what the store holds is read here, while its lock is held.
        """
        base = read_manifest(self.store) if is_store(self.store) and not overwrite else None
        settled = _settle_options(options, base if append else None, self.out)
        # What readers of the present store need, until the next writer comes.
        current = read_names(self.store)
        if base is not None and (self._is_in(base, settled) if append else self._is_finished(base, settled)):
            sweep(self.store, current)
            remove_work(self.store)
            return None, base["tokens"]
        # A store that is overwritten gets new segments under other names: what it has may be damaged.
        salt = read_salt(self.store) if overwrite else ""
        try:
            files, labels = spool(self.names, self.store / WORK)
            plan = make_plan(files, settled, self.part_bytes, labels, self.jobs)
            kept, begun = find_reports(self.store, plan, salt) if resume or append else ({}, True)
            if resume and not begun and any((self.store / SEGMENTS).glob("*.json")):
                raise StoreError(
                    f"{self.out} was begun with other sources or options; run the first command again with --resume, "
                    f"or discard it with --overwrite"
                )
            sweep(
                self.store,
                {*current, *(name for own in kept.values() for name in [*own["segments"], own["file"]])},
            )
            made = build_parts(self.store, plan, kept, self.jobs, self.report, salt)
        except BaseException as error:
            finished = len(list((self.store / SEGMENTS).glob("*.json")))
            wrong = isinstance(error, InputError | UsageError)
            if not finished and (wrong or not self._has_finished()):
                sweep(self.store, current)  # nothing is finished, so nothing is left behind
                remove_work(self.store)
            if wrong and finished:
                there = "1 finished part is" if finished == 1 else f"{finished:,} finished parts are"
                raise type(error)(
                    f"{error} ({there} kept: correct it, or choose to skip it, and add --resume)"
                ) from error
            if isinstance(error, DiskError) and finished:
                raise StoreError(f"{error}, adding --resume") from error
            raise
        write_manifest(self.store, self._manifest(base, made, settled, salt))
        remove_work(self.store)
        return made, base["tokens"] if base else 0

    def _manifest(
        self, base: dict[str, Any] | None, made: FinishedPlan, options: TextOptions, salt: str
    ) -> dict[str, Any]:
        """The manifest of the segments that the store had, and of those that were made."""
        new = [segment_entry(self.store, name) for name in made.segments]
        if base is None:
            return describe_store(
                self.store, new, options, made.sources(), made.problems, made.left_out(), workers=made.workers,
                salt=salt,
            )  # fmt: skip
        this = {"sources": len(made.plan.sources), "options": options.to_dict(), "problems": made.problems}
        return describe_store(
            self.store, [*base["segments"], *new], TextOptions.from_dict(base["options"]),
            [*base["sources"], *made.sources()],
            {name: base["problems"].get(name, 0) + count for name, count in made.problems.items()},
            [*base.get("left_out", ()), *made.left_out()], [*base.get("appended", ()), this], made.workers,
        )  # fmt: skip

    def _is_finished(self, base: dict[str, Any], options: TextOptions) -> bool:
        """Whether the store is what a build of these sources and options makes; another store is an error."""
        differing = _differences(base, self.names, options)
        if differing:
            raise StoreError(
                f"{self.out} is finished, and was indexed with other {', '.join(differing)}; choose another --out, add "
                f"to it with --append, or --overwrite it"
            )
        self.report.notice(
            f"{self.out} is finished: nothing is left to resume (bagpack info {self.out} --verify checks that it is "
            f"intact)"
        )
        return True

    def _is_in(self, base: dict[str, Any], options: TextOptions) -> bool:
        """Whether the last append added just these sources; a source that the store has from elsewhere is an error.

        A command that was killed when all was done, and is repeated, must not add the text twice.
        """
        held = {_identity(entry["path"], entry["bytes"], entry["modified"]) for entry in base["sources"]}
        wanted = [key_of_file(file.path) for file in expand(self.names) if not is_left_out(file, options)]
        twice = [name for name, size, modified in wanted if _identity(name, size, modified) in held - {STDIN}]
        if not twice:
            return False
        last = base.get("appended", [])[-1:]
        if last and [source_key(entry) for entry in base["sources"][-last[0]["sources"] :]] == wanted:
            self.report.notice(
                f"{self.out} holds these sources already, from the append before; nothing was added"
            )
            return True
        raise UsageError(
            f"{self.out} holds {twice[0]} already, so its text would count twice; remove it, or change its name to add "
            f"it again on purpose"
        )


def _settle_options(
    options: TextOptions | Mapping[str, Any] | None, base: dict[str, Any] | None, out: Path
) -> TextOptions:
    if base is None and not isinstance(options, TextOptions):
        return TextOptions(**(options or {}))
    # A table of metadata is about the files that were named with it.
    recorded = replace(TextOptions.from_dict(base["options"]), metadata="") if base else TextOptions()
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


# What a manifest says ---------------------------------------------------------------------------------------------

STDIN = (SPOOLED, -1, -1)


def describe_store(
    store: Path, segments: list[dict[str, Any]], options: TextOptions, sources: list[dict[str, Any]],
    problems: dict[str, int], left_out: Sequence[dict[str, str]] = (), appended: Sequence[dict[str, Any]] = (),
    workers: int = 1, salt: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Write the lexicon of these segments, and return the manifest of the store that they make.

    Where `workers` are running, one of them merges the lexicon: it has loaded the kernels, which takes this process
    longer than the merging.
    """
    identity = "\n".join([*(entry["digest"] for entry in segments), str(sorted(options.to_dict().items()))])
    content = digest(identity.encode())
    lexicon = f"lexicon-{digest((content + salt).encode())[:16]}"
    paths = [store.absolute() / SEGMENTS / entry["name"] for entry in segments]
    remove_ours(store / lexicon)
    (checksums,) = run([delayed(write_lexicon)(paths, store.absolute() / lexicon)], workers)
    return {
        "kind": CORPUS.name,
        "format_version": CORPUS.version,
        **{name: sum(entry[name] for entry in segments) for name in ("tokens", "sentences", "documents")},
        "types": (store / lexicon / "keys.offsets").stat().st_size // 8 - 1,
        "content_hash": content,
        "options": options.to_dict(),
        "sources": sources,
        "problems": problems,
        **({"left_out": list(left_out)} if left_out else {}),
        **({"appended": list(appended)} if appended else {}),
        "lexicon": {"directory": lexicon, "checksums": checksums},
        "segments": segments,
    }


def segment_entry(store: Path, name: str) -> dict[str, Any]:
    """A segment's entry in the manifest."""
    facts = Shard(store / SEGMENTS / name).facts
    return {
        "name": name,
        **{key: facts[key] for key in NUMBERS},
        **({"tags": facts["tags"]} if "tags" in facts else {}),
        "digest": digest((store / SEGMENTS / name / FACTS).read_bytes()),
    }


def read_names(store: Path) -> set[str]:
    """The segments and the lexicon that a manifest names, if there is one that can be read."""
    try:
        manifest = read_manifest(store)
    except BagpackError:
        return set()
    return {manifest["lexicon"]["directory"], *(entry["name"] for entry in manifest["segments"])}


def read_salt(store: Path) -> str:
    """What makes the names of new segments differ from those of a store: a digest of its manifest, if it has one."""
    try:
        return digest((store / MANIFEST).read_bytes())
    except OSError:
        return ""


def _differences(manifest: dict[str, Any], names: Iterable[str], options: TextOptions) -> list[str]:
    """Which of a store's sources and options are not those that are asked for."""
    recorded = [source_key(entry) for entry in manifest["sources"]]
    known = set(recorded)
    sources = []
    for file in expand(names):
        source = key_of_file(file.path)
        if source in known or not is_left_out(file, options):  # only unknown files have to be looked into
            sources.append(source)
    before, now = TextOptions.from_dict(manifest["options"]).to_dict(), options.to_dict()
    changed = ["--" + name.replace("_", "-") for name in now if before[name] != now[name]]
    return [*(["sources"] if sources != recorded else []), *changed]


def source_key(entry: dict[str, Any]) -> tuple[str, int, int]:
    """What a source of a manifest is recognised by: name, size and time; standard input by its name alone."""
    if entry["path"] == SPOOLED:
        return STDIN
    return os.path.normpath(entry["path"]), entry["bytes"], entry["modified"]


def key_of_file(path: str) -> tuple[str, int, int]:
    """What a file is recognised by; see `source_key`."""
    if path == "-":
        return STDIN
    status = os.stat(path)
    return os.path.normpath(printable(path)), status.st_size, status.st_mtime_ns


def _identity(name: str, size: int, modified: int) -> tuple[str, int, int]:
    """The same for any path that leads to a file, or to a copy of it."""
    return STDIN if name == SPOOLED else (os.path.basename(name), size, modified)


# Sweeping ---------------------------------------------------------------------------------------------------------


def sweep(store: Path, kept: set[str]) -> None:
    """Remove segments, reports of parts and lexicons that are not kept; of what we did not write, nothing."""
    segments = store / SEGMENTS
    for path in list(segments.iterdir()) if segments.is_dir() and not segments.is_symlink() else ():
        if path.name in kept:
            continue
        if REPORT_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)
        elif SEGMENT_NAME.fullmatch(path.name.partition(".")[0]):
            remove_ours(path)
    remove_if_empty(segments)
    for path in list(store.iterdir()):
        if LEXICON_NAME.fullmatch(path.name) and path.name not in kept:
            remove_ours(path)


def remove_ours(directory: Path) -> None:
    """Remove the files of a segment or a lexicon, and the directory if no other file is in it."""
    if directory.is_dir() and not directory.is_symlink():
        remove_files(directory, {*format.SHARD, *format.LEXICON, FACTS, f"{FACTS}.new"})


def remove_work(store: Path) -> None:
    """Remove what only unfinished work needs: reports of parts, their progress, and standard input."""
    for path in (store / SEGMENTS).glob("*.json*"):
        if REPORT_NAME.fullmatch(path.name):
            path.unlink(missing_ok=True)
    work = store / WORK
    if work.is_symlink():
        return
    for path in [work / SPOOLED, work / f"{SPOOLED}.new", *(work / PROGRESS).glob("*")]:
        path.unlink(missing_ok=True)
    remove_if_empty(work / PROGRESS)
    remove_if_empty(work)
