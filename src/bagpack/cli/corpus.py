"""`bagpack index` and `bagpack info`."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bagpack import console
from bagpack.cli import options as opt
from bagpack.errors import UsageError

if TYPE_CHECKING:
    from bagpack.corpus.build.plan import Plan
    from bagpack.corpus.format import LeftOut

SKIPPED = {
    "skipped_lines": ("line that did not fit the format was skipped", "lines that did not fit the format were skipped"),
    "ignored_markup": ("line of unknown markup was ignored", "lines of unknown markup were ignored"),
    "undecodable": (
        "place with invalid bytes was repaired or skipped", "places with invalid bytes were repaired or skipped"
    ),
}  # fmt: skip


def index(
    context: typer.Context,
    sources: opt.Sources,
    out: Annotated[Path | None, opt.value("STORE", "The store to make.", "--out", "-o")] = None,
    format: opt.Format = "auto",
    level: opt.Level = "lemma",
    lang: opt.Language = "en",
    case: Annotated[str, opt.value("HOW", "Case: fold, keep; auto: by language.")] = "auto",
    punctuation: Annotated[str, opt.value("HOW", "Punctuation tokens: keep, drop.")] = "keep",
    annotator: Annotated[str, opt.value("NAME", "simplemma, jieba, fugashi or none.")] = "auto",
    encoding: Annotated[str, opt.value("NAME", "utf-8, latin-1, …; auto: by file.")] = "utf-8",
    encoding_errors: Annotated[str, opt.value("HOW", "Bad bytes: strict, replace, skip.")] = "strict",
    paragraphs: Annotated[str, opt.value("HOW", "Paragraphs: auto, line, blank.")] = "auto",
    max_sentence: Annotated[int, opt.value("N", "Longest sentence, in tokens.", max=10**9)] = 100_000,
    bad_lines: Annotated[str, opt.value("HOW", "Malformed lines: error, skip.")] = "error",
    columns: Annotated[str, opt.value("NAMES", "Columns of vertical text, such as word,tag,lemma.")] = "auto",
    tagset: Annotated[str, opt.value("NAME", "Parts of speech: UD, Penn, …")] = "auto",
    text_field: Annotated[str, opt.value("NAME", "Field with the text (jsonl, parquet).")] = "text",
    id_field: Annotated[str, opt.value("NAME", "Field with the document's id.")] = "id",
    metadata: Annotated[str, opt.value("FILE", "A table with the genre, year, … of each file.")] = "",
    memory: Annotated[str, opt.value("SIZE", "Memory of all workers together.")] = "2G",
    append: Annotated[bool, opt.flag("--append", "Add to an existing store.")] = False,
    resume: Annotated[bool, opt.flag("--resume", "Continue an interrupted build.")] = False,
    overwrite: opt.Overwrite = False,
    dry_run: Annotated[bool, opt.flag("--dry-run", "Only list the files that would be read.")] = False,
    json: opt.Json = False,
) -> None:
    """Turn text into an indexed corpus (a store)."""
    size = memory_bytes(memory)
    options = _given(context)
    if dry_run:
        _list_files(sources, options, json)
        return
    if out is None:
        raise UsageError("index needs --out STORE, the store to make (or --dry-run)")
    from bagpack.corpus.build.index import index_corpus

    try:
        with opt.at_work(json) as work:
            bar, task = work.bar, []

            def begin(plan: Plan) -> None:
                if bar:
                    label = f"indexing {console.many(len(plan.sources), 'file')}"
                    task.append(bar.add_task(label, total=plan.weight, note=""))

            def proceed(tokens: int, size: int) -> None:
                if bar:
                    bar.update(task[0], completed=size, note=f"{tokens / 1e6:,.1f} M tokens")

            summary = index_corpus(
                sources, out, options, jobs=opt.run.jobs, memory=size, append=append, resume=resume,
                overwrite=overwrite, progress=proceed if bar else None, planned=begin,
                notice=None if opt.run.quiet else partial(console.print_message, style="dim", console=work.console),
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = any(out.glob("segments/*.json")) or any(out.glob("work/stdin"))
        raise KeyboardInterrupt(
            "finished work is kept: run the same command with --resume to continue"
            if kept
            else "nothing was finished, so nothing is kept"
        ) from None
    facts = summary.corpus.info()
    if json:
        console.print_json({**facts, "seconds": round(summary.seconds, 3), "new_tokens": summary.new_tokens})
    if opt.is_silent(json):
        return
    counts = ", ".join(
        console.many(facts[f"{name}s"], name) for name in ("token", "sentence", "document", "type")
    )
    on_disk = f"{facts['bytes'] / 1e6:,.0f} MB" if facts["bytes"] > 1e6 else f"{facts['bytes'] / 1e3:.0f} kB"
    console.print_message(f"{out}: {counts}; {on_disk} on disk")
    if read := summary.read_tokens:
        console.print_message(f"{console.many(read, 'token')} in {console.show_time(summary.seconds)}")
    print_skipped(summary.problems, summary.left_out, f"bagpack info {out} --json")
    from bagpack.corpus.text.tags import UNKNOWN

    used = summary.corpus.options
    for what, files in {
        "files with repaired bytes, and the number of places": summary.about("repaired"),
        f"files that do not look like --lang {used.lang}, and what they look like": summary.about("looks_like"),
        "files whose tags are of no known tagset, so that all parts of speech are X (name it with --tagset)":
            {path: name for path, name in summary.about("tagset").items() if name == UNKNOWN},
        "files that are not UTF-8, and what they were read as":
            summary.about("encoding") if used.encoding == "auto" else {},
    }.items():  # fmt: skip
        if files:
            shown = [f"{name} ({about})" for name, about in files.items()]
            console.print_message(f"{what}: {console.some_of(shown, 10)}", "yellow")


def _given(context: typer.Context) -> dict[str, Any]:
    """The text options that the user gave: with --append, the store's own replace the defaults."""
    from bagpack.corpus.options import TextOptions

    names = {field.name for field in fields(TextOptions)}
    given = {
        name: value
        for name, value in context.params.items()
        if name in names and str(context.get_parameter_source(name)).endswith("COMMANDLINE")
    }
    TextOptions(**given)  # a wrong value is reported before anything else is looked at
    return given


def memory_bytes(text: str) -> int:
    """`--memory` (`2G`, `512M`, `1048576`) in bytes; at least what a single worker takes."""
    from bagpack.corpus.build.worker import WORKER_BASE

    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", text.strip().lower())
    size = int(float(found[1]) * 1024 ** " kmgt".index(found[2] or " ")) if found else 0
    if size < WORKER_BASE:
        raise UsageError(
            f"--memory {text} is not a size of {WORKER_BASE >> 20}M or more, which a worker takes; write it like 2G"
        )
    return size


def _list_files(sources: list[str], options: dict[str, Any], as_json: bool) -> None:
    """What an index would read, as TSV or JSON, and what it would skip."""
    from bagpack.corpus.build.plan import find_sources
    from bagpack.corpus.options import TextOptions

    if "-" in sources:
        raise UsageError("standard input can only be read once; name files, or remove --dry-run")
    found, left_out = find_sources(sources, TextOptions(**options))
    rows = [(source.name, source.format, source.encoding, source.size) for source in found]
    names = ("file", "format", "encoding", "bytes")
    if as_json:
        files = [dict(zip(names, row, strict=True)) for row in rows]
        console.print_json({"files": files, "left_out": [file._asdict() for file in left_out]})
        return
    console.write("".join("\t".join(map(str, row)) + "\n" for row in (names, *rows)))
    print_skipped({}, left_out, "--json")


def print_skipped(counts: dict[str, int], left_out: list[LeftOut], all_in: str = "") -> None:
    """What did not go in, after a summary."""
    from bagpack.corpus.readers.look import say_left_out

    for name, words in SKIPPED.items():
        if counts.get(name):
            console.print_message(console.many(counts[name], *words), "yellow")
    if left_out:
        console.print_message(say_left_out(left_out, all_in), "yellow")


def info(
    artefact: Annotated[Path, opt.argument("ARTEFACT", "A store, matrix, model, basis, …")],
    verify: Annotated[bool, opt.flag("--verify", "Check every file; exit code 1 if one is damaged.")] = False,
    json: opt.Json = False,
) -> None:
    """Describe a store, snippets, a matrix, a model or a basis."""
    from bagpack.info import damages, describe
    from bagpack.report.screens import show_artefact

    if not verify:
        facts = describe(artefact)
        (console.print_json if json else show_artefact)(facts)
        return
    problems = damages(artefact)
    if json:
        console.print_json({"path": str(artefact), "whole": not problems, "problems": problems})
    else:
        said = [f"bagpack: {problem}" for problem in problems]
        whole = describe(artefact).get("has_checksum", True) if not problems else False
        unknown = "has no checksum, so lost lines are not noticed (bagpack basis --out writes one)"
        repair = "restore the damaged files from a copy, or make it again"
        said.append(repair if problems else f"{artefact} {'is intact' if whole else unknown}")
        console.print_message("\n".join(said))
    if problems:
        raise typer.Exit(1)
