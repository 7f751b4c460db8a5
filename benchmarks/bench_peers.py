"""Comparison with common tools: one run, one computer, one corpus, the same answers. `make bench-peers`.

Every measurement is a process of its own, so that its memory can be measured; a peer that is not installed is skipped,
with the command that installs it. The table and the chart go into docs/performance.md; `--tokens 24000000` prints the
table for a smaller corpus.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import corpora, measure
from benchmarks.peers import indexing, material
from benchmarks.peers.chart import Bar, draw_bars

COMMAND = "make bench-peers"
ROUNDS = 3
ONCE = 20.0  # seconds above which a peer indexes once
MOST_SECONDS = 180.0  # for one process of a peer
CHART = measure.HERE / "docs" / "assets" / "peers.svg"
INSTALL = "pip install -e '.[bench]'"
PACKAGES = {  # what a peer needs: module, package
    "tantivy": ("tantivy", "tantivy"),
    "duckdb": ("duckdb", "duckdb"),
    "spacy": ("spacy", "spacy"),
    "gensim": ("gensim", "gensim"),
    "nltk": ("nltk", "nltk"),
}


@dataclass(frozen=True)
class Row:
    """One line of the table; ours has the ratio 1."""

    job: str
    who: str
    seconds: float | None  # None: skipped
    ratio: float | None = None
    memory: int = 0
    disk: int = 0
    note: str = ""


class Bench:
    """The rows so far."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.tokens = 0

    def add(
        self, job: str, who: str, seconds: float, ours: float, run: measure.Run, disk: int = 0, note: str = ""
    ) -> None:
        """A line of the table, printed at once."""
        row = Row(job, who, seconds, seconds / ours, run.memory, disk, note)
        self.rows.append(row)
        print(
            f"   {job:<34} {who:<40} {seconds:9.2f} s  × {row.ratio:,.2f}  {measure.mib(run.memory)}",
            flush=True,
        )

    def ordered(self) -> list[Row]:
        """All lines, those of a job together."""
        jobs = list(dict.fromkeys(row.job for row in self.rows))
        return sorted(self.rows, key=lambda row: jobs.index(row.job))

    def try_peer(
        self, job: str, who: str, module: str, peer: str
    ) -> tuple[dict[str, Any], measure.Run] | None:
        """What a peer reports; None if it is not installed or takes too long, and then a line says so."""
        if self.missing(job, who, peer):
            return None
        try:
            return run_peer(module, peer, MOST_SECONDS)
        except measure.TooLongError:
            note = f"stopped after {MOST_SECONDS:.0f} s"
            self.rows.append(Row(job, who, None, note=note))
            print(f"   {job:<34} {who:<40} {note}", flush=True)
            return None

    def missing(self, job: str, who: str, peer: str) -> bool:
        """Whether a peer is not installed; then a line says so."""
        module, package = PACKAGES.get(peer, ("sys", ""))
        if importlib.util.find_spec(module) is not None:
            return False
        self.rows.append(Row(job, who, None, note=f"skipped: {INSTALL} (or {package})"))
        print(f"   {job:<34} {who:<40} skipped: {INSTALL} (or {package})", flush=True)
        return True


def run_peer(module: str, peer: str, most: float = float("inf")) -> tuple[dict[str, Any], measure.Run]:
    """A peer in its own process: what it reports, and time and memory."""
    command = [sys.executable, "-m", f"benchmarks.peers.{module}", peer]
    run = measure.run_watched(command, most=most)
    lines = run.output.strip().splitlines()
    return (json.loads(lines[-1]) if lines else {}), run


def index_rows(bench: Bench) -> None:
    """Index the corpus."""
    job = "index a corpus"
    material.write_corpus()
    command = [*measure.BAGPACK, "index", material.VERTICAL, "--out", material.STORE, "--jobs", "2"]
    measure.run_watched([*command, "--overwrite", "--quiet"])  # compiles what is not in numba's cache
    print("   writing the questions ...", flush=True)
    material.write_questions()
    from bagpack import Corpus

    bench.tokens = Corpus.open(material.STORE).tokens
    peers = (
        ("wc", "`wc -w` (the floor: reads only)", ""),
        ("tantivy", "tantivy", "lemmas only"),
        ("sqlite", "SQLite FTS5", "lemmas only, one thread"),
        ("duckdb", "DuckDB, sorted postings", "lemmas only"),
    )
    runs: dict[str, list[measure.Run]] = {peer: [] for peer in ("ours", *(peer for peer, _, _ in peers))}
    for number in range(ROUNDS):  # in turns, so that other work affects all of them
        shutil.rmtree(material.STORE)  # what is overwritten stays on the disk until the next writer comes
        runs["ours"].append(measure.run_watched([*command, "--quiet"]))
        for peer, who, _ in peers:
            again = runs[peer] and runs[peer][0].seconds < ONCE  # slow peers run once
            if (number == 0 or again) and (done := bench.try_peer(job, who, "indexing", peer)):
                runs[peer].append(done[1])
    there = {peer for peer, each in runs.items() if each}
    best = {peer: min(runs[peer], key=lambda run: run.seconds) for peer in there}
    ours = best["ours"].seconds
    kept = "forms, lemmas, documents; "
    bench.add(
        job,
        "**BagPack**",
        ours,
        ours,
        best["ours"],
        measure.tree_bytes(material.STORE),
        kept + _cpu(best["ours"]),
    )
    for peer, who, note in peers:
        if peer in there:
            disk = measure.tree_bytes(indexing.PLACES[peer]) if peer in indexing.PLACES else 0
            note = "; ".join(filter(None, (note, _cpu(best[peer]))))
            bench.add(job, who, best[peer].seconds, ours, best[peer], disk, note)


def _cpu(run: measure.Run) -> str:
    return f"{run.cpu:.1f} s CPU"


def context_rows(bench: Bench) -> None:
    """Contexts of a thousand pairs."""
    found, delivered = (
        f"{material.PAIRS:,} pairs: {what}" for what in ("co-occurrence counts", "every context")
    )
    ours, run = run_peer("contexts", "ours")
    answers = ours["answers"]
    bench.add(found, "**BagPack**, v12 counted", ours["found"], ours["found"], run)
    bench.add(delivered, "**BagPack**, lines as written", ours["delivered"], ours["delivered"], run)
    for peer, who in (
        ("tantivy", "tantivy, 12 phrases per pair"),
        ("sqlite", "SQLite FTS5, NEAR"),
        ("duckdb", "DuckDB, one join"),
        ("spacy", "spaCy Matcher"),
        ("scan", "a scan in plain Python"),
    ):
        if (done := bench.try_peer(delivered, who, "contexts", peer)) is None:
            continue
        facts, run = done
        theirs = facts["answers"]
        if theirs != answers[: len(theirs)]:
            raise SystemExit(f"{who} found other contexts than BagPack")
        note = "" if len(theirs) == len(answers) else f"{len(theirs):,} pairs, scaled"
        seconds = facts["delivered"]
        if "tokens" in facts:
            seconds *= bench.tokens / facts["tokens"]
            note = f"{facts['tokens']:,} tokens, scaled"
        if "found" in facts:
            bench.add(
                found,
                who,
                facts["found"],
                ours["found"],
                run,
                note="hits" + ("; " + note) * bool(note),
            )
        bench.add(delivered, who, seconds, ours["delivered"], run, note=note)


def window_rows(bench: Bench) -> None:
    """Co-occurrence counts in windows."""
    ours, run = run_peer("windows", "ours")
    job = f"window counts of {ours['words']:,} words"
    bench.add(job, "**BagPack**, v1", ours["seconds"], ours["seconds"], run, note="from the store")
    for peer, who, note in (
        ("sklearn", "scikit-learn CountVectorizer", "windows given as text"),
        ("gensim", "gensim Dictionary.doc2bow", "windows given as text; unigrams only"),
    ):
        if done := bench.try_peer(job, who, "windows", peer):
            facts, run = done
            bench.add(job, who, facts["seconds"], ours["seconds"], run, note=note)


def learning_rows(bench: Bench) -> None:
    """Ten folds, three conditions."""
    job = "10 folds × 3 conditions"
    ours, run = run_peer("learning", "ours")
    bench.add(job, "**BagPack**, preset paper", ours["seconds"], ours["seconds"], run, note=_accuracy(ours))
    for peer, who in (
        ("svc", '`SVC(kernel="linear")` per class, dense'),
        ("svc_own_way", '`SVC(kernel="linear")`, one-versus-one (another model)'),
        ("linear_svc", '`LinearSVC(loss="hinge")`, same features'),
        ("linear_svc_sparse", "`LinearSVC`, sparse TF-IDF (another model)"),
    ):
        if (done := bench.try_peer(job, who, "learning", peer)) is None:
            continue
        facts, run = done
        notes = [
            "" if facts["same"] is None else f"{100 * facts['same']:.0f} % of the decisions are ours",
            _accuracy(facts) if facts["accuracy"] else "",
            f"{facts['folds']} of 10 folds, {facts['machines']} of 17 classes timed, scaled",
        ]
        bench.add(job, who, facts["seconds"], ours["seconds"], run, note="; ".join(filter(None, notes)))


def find_rows(bench: Bench) -> None:
    """All co-occurring pairs of a vocabulary."""
    ours, run = run_peer("finding", "ours")
    job = f"all pairs of {ours['words']:,} words"
    note = f"{ours['pairs']:,} pairs that co-occur"
    bench.add(job, "**BagPack**, candidates of find", ours["seconds"], ours["seconds"], run, note=note)
    who = "a scan in plain Python"
    if done := bench.try_peer(job, who, "finding", "python"):
        bench.add(job, who, done[0]["seconds"], ours["seconds"], done[1])


def large_learning_rows(bench: Bench) -> None:
    """50,000 pairs, five labels, preset modern; seconds are CPU time."""
    from benchmarks.bench_learning import measured
    from benchmarks.large_set import write_set

    pairs, labels, timed = 50_000, 5, 1
    job = f"train on {pairs:,} pairs × {labels} labels"
    with tempfile.TemporaryDirectory() as place:
        write_set(Path(place), pairs, labels)
        ours = measured("modern", place)
        theirs = measured("liblinear", place, timed)
    seconds = theirs["cpu"] * labels / timed
    note = f"CPU time; generated counts; weighting not timed; {timed} of {labels} labels timed, scaled"
    for who, cpu, facts, remark in (
        ("**BagPack**, preset modern", ours["cpu"], ours, "CPU time; generated counts; weighting included"),
        ('`LinearSVC(loss="hinge")`, same features', seconds, theirs, note),
    ):
        run = measure.Run(cpu, cpu, int(facts["peak_gib"] * measure.GIB), "")
        bench.add(job, who, cpu, ours["cpu"], run, note=remark)


def _accuracy(facts: dict[str, Any]) -> str:
    return "accuracy " + " / ".join(f"{100 * value:.0f}" for value in facts["accuracy"].values())


def report(bench: Bench) -> str:
    """The page's part: corpus, machine, versions, table, chart."""
    rows = []
    last = ""
    for row in bench.ordered():
        cells = ["—"] * 4
        if row.seconds is not None:
            cells[0] = _seconds(row)
            cells[1] = (
                "1"
                if row.who.startswith("**")
                else f"{row.ratio:,.1f}"
                if row.ratio >= 1
                else f"**{row.ratio:.2f}**"
            )
            cells[2] = measure.mib(row.memory)
            cells[3] = measure.human(row.disk) if row.disk else ""
        rows.append([row.job if row.job != last else "", row.who, *cells, row.note])
        last = row.job
    text = "real English" if corpora.real_text() else "a Zipf corpus"
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}"
        for name in ("tantivy", "duckdb", "spacy", "gensim", "scikit-learn")
        if importlib.util.find_spec(name.replace("scikit-learn", "sklearn").replace("-", "_"))
    )
    header = ["job", "who", "s", "× ours", "memory", "disk", ""]
    lines = measure.table(header, rows).splitlines()
    lines[1] = "|---|---|---:|---:|---:|---:|---|"
    return (
        f"{measure.machine()}; {bench.tokens:,} tokens of {text}; {versions}, SQLite {sqlite3.sqlite_version}. "
        "Indexing on two threads or workers, everything else on one core. **× ours** above 1: BagPack is faster; "
        f"**bold** below 1: the peer is.\n\n{measure.for_readme(summary(bench))}\n"
        + "\n".join(lines)
        + "\n\n![How many times longer than BagPack](assets/peers.svg)"
    )


def summary(bench: Bench) -> str:
    """Each job with the fastest peer that does it (`wc` only reads)."""
    jobs: dict[str, list[Row]] = {}
    for row in bench.ordered():
        if row.seconds is not None and "floor" not in row.who:
            jobs.setdefault(row.job, []).append(row)
    lines = []
    for job, (ours, *others) in jobs.items():
        nearest = min(others, key=lambda row: row.seconds or 0)
        times = f"{nearest.ratio or 0:,.1f}"
        lines.append([job, _seconds(ours), nearest.who, _seconds(nearest), times])
    made = measure.table(["job", "BagPack, s", "the fastest peer", "its s", "times ours"], lines)
    return made.replace("|---|---:|---:|---:|---:|", "|---|---:|---|---:|---:|")


def _seconds(row: Row) -> str:
    seconds = row.seconds or 0
    return f"{seconds:,.0f}" if seconds >= 100 else f"{seconds:.2g}" if seconds < 0.1 else f"{seconds:,.2f}"


def main(argv: Sequence[str] = ()) -> None:
    """Run all rows."""
    jobs = {
        "index": index_rows, "contexts": context_rows, "windows": window_rows, "find": find_rows,
        "learning": learning_rows, "large-learning": large_learning_rows,
    }  # fmt: skip
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--jobs", nargs="+", choices=jobs, default=list(jobs), help="index must have run before others"
    )
    parser.add_argument("--dry", action="store_true", help="print only, do not change the page")
    parser.add_argument(
        "--tokens", type=int, help="about this many tokens of text, in a directory of its own; implies --dry"
    )
    options = parser.parse_args(argv)
    if options.tokens:  # the peers' processes read it
        os.environ["BAGPACK_BENCH_PEER_TOKENS"] = str(options.tokens)
        importlib.reload(material)
        importlib.reload(indexing)
    bench = Bench()
    if "index" not in options.jobs:
        from bagpack import Corpus

        bench.tokens = Corpus.open(material.STORE).tokens
    for name in options.jobs:
        jobs[name](bench)
    text = report(bench)
    print(text)
    if not (options.dry or options.tokens):
        measure.write_generated(COMMAND, text)
        CHART.parent.mkdir(exist_ok=True)
        CHART.write_text(
            draw_bars([_bar(row) for row in bench.ordered() if row.seconds is not None]), encoding="utf-8"
        )


def _bar(row: Row) -> Bar:
    return Bar(row.job, row.who.replace("*", "").replace("`", ""), row.ratio or 1.0, row.who.startswith("**"))


if __name__ == "__main__":
    main(sys.argv[1:])
