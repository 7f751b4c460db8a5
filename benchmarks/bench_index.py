"""How fast text is indexed, as ratios taken in one run.

Vertical input against one `LC_ALL=C wc -w` over the same file; raw text against a straightforward single-process
Python loop (regex tokens, a dict of ids, cached lemmas). Each is measured several times and the best counts, since
other work may share the cores.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks import corpora
from benchmarks.measure import BAGPACK, DATA, best, run_watched

TEXT_BYTES = 320 << 20


def raw_text() -> Path:
    """Three hundred and twenty megabytes of English, or of words that follow Zipf's law where there is none."""
    path = DATA / "text.txt"
    if path.exists():
        return path
    DATA.mkdir(exist_ok=True)
    partial = path.with_suffix(".new")
    if corpora.real_text():
        corpora.copy_text(partial, TEXT_BYTES)
    left = TEXT_BYTES - partial.stat().st_size if partial.exists() else TEXT_BYTES
    with open(partial, "ab") as out:
        maker = random.Random(1)
        words = ["".join(maker.choices("etaoinshrdlucmfw", k=maker.randint(2, 9))) for _ in range(60_000)]
        ranks = np.random.default_rng(1)
        while left > 0:
            line = " ".join(words[k % len(words)] for k in ranks.zipf(1.2, 120)) + ".\n"
            out.write(line.encode())
            left -= len(line)
        out.write(b"\n")
    os.replace(partial, path)
    return path


def plain_loop(path: Path, limit: int) -> int:
    """What one would write first."""
    from bagpack.corpus.text.lemmas import EnglishLemmatizer

    annotator = EnglishLemmatizer()  # a new one: it remembers lemmas, too
    token = re.compile(r"\w+(?:[-'’]\w+)*|[^\w\s]")
    ids: dict[str, int] = {}
    lemmas: dict[str, str] = {}
    found: list[int] = []
    read = 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            read += len(line)
            if read > limit:
                break
            for form in token.findall(line):
                lemma = lemmas.get(form)
                if lemma is None:
                    lemma = lemmas[form] = annotator.lemmatize([form])[0].casefold()
                found.append(ids.setdefault(lemma, len(ids)))
    return len(found)


def index(source: Path, jobs: int) -> None:
    """`bagpack index` as a user runs it, process start and all."""
    with tempfile.TemporaryDirectory(dir=DATA) as place:
        command = [*BAGPACK, "index", str(source), "--out", f"{place}/s", "--jobs", str(jobs), "--quiet"]
        subprocess.run(command, check=True)


def peak_memory(source: Path) -> int:
    """Most memory, beyond the page cache, of all processes of one `bagpack index`."""
    with tempfile.TemporaryDirectory(dir=DATA) as place:
        command = [*BAGPACK, "index", source, "--out", f"{place}/s", "--jobs", "2", "--quiet"]
        return run_watched(command).memory


def main() -> None:
    """Print the ratios."""
    text = raw_text()
    vertical = corpora.vertical_of_text(text, DATA / "text.vert")
    size = vertical.stat().st_size
    count = best(
        lambda: (
            subprocess.run(
                ["wc", "-w", vertical],
                env={**os.environ, "LC_ALL": "C"},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            and None
        )
    )
    seconds = best(lambda: index(vertical, 2))
    print(
        f"vertical, two workers: {size / seconds / 1e6:.0f} MB/s, {count / seconds:.2f} x wc -w "
        f"({size / count / 1e6:.0f} MB/s); aim 0.6"
    )
    size = text.stat().st_size
    loop = size / best(lambda: plain_loop(text, size), 1)
    seconds = best(lambda: index(text, 2))
    print(
        f"raw text, two workers: {size / seconds / 1e6:.1f} MB/s, {size / seconds / loop:.1f} x a plain Python loop "
        f"({loop / 1e6:.1f} MB/s); aim 2.5"
    )
    for source in (text, vertical):
        peak = peak_memory(source) >> 20
        print(f"{source.name}: at most {peak:,} MiB in all processes (bound: 2,048), two workers")
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
