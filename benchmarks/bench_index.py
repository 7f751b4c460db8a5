"""How fast text is indexed, as ratios taken in one run.

Vertical input against one `LC_ALL=C wc -w` over the same file; raw text against a straightforward single-process
Python loop (regex tokens, a dict of ids, cached lemmas). Each is measured several times and the best counts, since
other work may share the cores.
"""

from __future__ import annotations

import lzma
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent.parent
DATA = HERE / "bench-data"
REAL = HERE.parent / "shared" / "data" / "corpus"
ROUNDS = 3
TEXT_BYTES = 320 << 20


def best(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Seconds of the fastest of several runs."""
    found = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action()
        found.append(time.perf_counter() - begun)
    return min(found)


def raw_text() -> Path:
    """Three hundred and twenty megabytes of English, or of words that follow Zipf's law where there is none."""
    path = DATA / "text.txt"
    if path.exists():
        return path
    DATA.mkdir(exist_ok=True)
    beside = path.with_suffix(".new")
    left = TEXT_BYTES
    with open(beside, "wb") as out:
        for name in ("enwiki2015", "enwiki2014", "britannica9", "novels100") if REAL.exists() else ():
            with lzma.open(REAL / f"{name}.txt.xz") as text:
                while left > 0 and (chunk := text.read(min(1 << 20, left))):
                    out.write(chunk)
                    left -= len(chunk)
        maker = random.Random(1)
        words = ["".join(maker.choices("etaoinshrdlucmfw", k=maker.randint(2, 9))) for _ in range(60_000)]
        ranks = np.random.default_rng(1)
        while left > 0:
            line = " ".join(words[k % len(words)] for k in ranks.zipf(1.2, 120)) + ".\n"
            out.write(line.encode())
            left -= len(line)
        out.write(b"\n")
    os.replace(beside, path)
    return path


def vertical_text(source: Path) -> Path:
    """The same text as word TAB tag TAB lemma, with <text> and <s>, tokenised and lemmatised by BagPack itself."""
    path = DATA / "text.vert"
    if path.exists():
        return path
    from bagpack.corpus.columns import SENTENCE_START, TYPE_MASK
    from bagpack.corpus.index import index_corpus

    with tempfile.TemporaryDirectory(dir=DATA) as place, open(DATA / "text.vert.new", "wb") as out:
        corpus = index_corpus([str(source)], Path(place) / "s", jobs=-1).corpus
        number = 0
        for shard in corpus.shards:
            keys = [shard.keys[k] for k in range(len(shard.keys))]
            lines = []
            for kind in range(len(shard.forms)):
                form = shard.forms[kind].replace("&", "&amp;").replace("<", "&lt;")
                lemma = keys[int(shard.key_of_type[kind])].replace("&", "&amp;")
                lines.append(f"{form}\t{_tag(form)}\t{lemma}\n".encode())
            tokens = shard.tokens
            opened = np.flatnonzero(tokens & SENTENCE_START)
            for index, (start, end) in enumerate(zip(opened, [*opened[1:], tokens.size], strict=True)):
                if index % 40 == 0:
                    out.write(b"</text>\n" * (number > 0) + b'<text id="bench:%d">\n' % number)
                    number += 1
                ids = (tokens[start:end] & TYPE_MASK).tolist()
                out.write(b"<s>\n" + b"".join([lines[k] for k in ids]) + b"</s>\n")
        out.write(b"</text>\n")
    os.replace(DATA / "text.vert.new", path)
    return path


def _tag(form: str) -> str:
    """A tag of the right length and variety."""
    for ending, tag in (("ing", "VVG"), ("ed", "VVD"), ("s", "NNS"), ("ly", "RB")):
        if form.endswith(ending):
            return tag
    return "NN" if form[:1].isalpha() else "SENT"


def plain_loop(path: Path, limit: int) -> int:
    """What one would write first."""
    from bagpack.corpus.annotate import EnglishLemmatizer

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
        command = [sys.executable, "-c", "from bagpack.cli import main; main()", "index", str(source)]
        subprocess.run([*command, "--out", f"{place}/s", "--jobs", str(jobs), "--quiet"], check=True)


def peak_memory(source: Path) -> int:
    """Largest sum of the resident memory of all processes of one `bagpack index`."""
    import psutil

    with tempfile.TemporaryDirectory(dir=DATA) as place:
        command = [sys.executable, "-c", "from bagpack.cli import main; main()", "index", str(source)]
        run = subprocess.Popen([*command, "--out", f"{place}/s", "--jobs", "2", "--quiet"])
        top = psutil.Process(run.pid)
        highest = 0
        while run.poll() is None:
            with suppress(psutil.NoSuchProcess):
                family = [top, *top.children(recursive=True)]
                highest = max(highest, sum(process.memory_info().rss for process in family))
            time.sleep(0.05)
    return highest


def main() -> None:
    """Print the ratios."""
    text = raw_text()
    vertical = vertical_text(text)
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
        f"({size / count / 1e6:.0f} MB/s); aim 0.5"
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
