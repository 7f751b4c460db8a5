"""Index the same sentences, a sentence a document: `python -m benchmarks.peers.indexing PEER`.

Each is set up to find two words near each other: positions are kept, and the sentence is stored.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.material import PLACE, SENTENCES, VERTICAL

THREADS = 2
BATCH = 10_000
# Every character but separators belongs to a word, so that FTS5 divides where we do.
FTS5_WORDS = "unicode61 remove_diacritics 0 categories ''L* M* N* P* S* C*''"
PLACES = {
    "tantivy": PLACE / "tantivy",
    "sqlite": PLACE / "fts5.db",
    "duckdb": PLACE / "duck.db",
}


def fresh(peer: str) -> Path:
    """Where a peer keeps its index, emptied."""
    place = PLACES[peer]
    shutil.rmtree(place, ignore_errors=True)
    place.unlink(missing_ok=True)
    return place


def wc() -> None:
    """The physical floor: reading the vertical file and counting its words."""
    subprocess.run(
        ["wc", "-w", VERTICAL], env={**os.environ, "LC_ALL": "C"}, check=True, stdout=subprocess.DEVNULL
    )


def tantivy_schema():
    """One field of words."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("body", stored=True, tokenizer_name="whitespace")
    return builder.build()


def tantivy() -> None:
    """Two indexing threads; merged when they are done."""
    import tantivy

    place = fresh("tantivy")
    place.mkdir()
    writer = tantivy.Index(tantivy_schema(), path=str(place)).writer(512 << 20, THREADS)
    with open(SENTENCES, encoding="utf-8") as lines:
        for line in lines:
            writer.add_document(tantivy.Document(body=[line.rstrip("\n")]))
    writer.commit()
    writer.wait_merging_threads()


def sqlite() -> None:
    """FTS5 in one transaction, without a journal."""
    import sqlite3

    base = sqlite3.connect(fresh("sqlite"))
    base.execute("PRAGMA journal_mode = OFF")
    base.execute("PRAGMA synchronous = OFF")
    base.execute(f"CREATE VIRTUAL TABLE sentences USING fts5(body, tokenize = '{FTS5_WORDS}')")
    with open(SENTENCES, encoding="utf-8") as lines:
        base.executemany("INSERT INTO sentences VALUES (?)", ((line.rstrip("\n"),) for line in lines))
    base.commit()
    base.close()


def duckdb() -> None:
    """A table of sentences and a table of postings sorted by lemma; its fts extension keeps no positions."""
    import duckdb

    base = duckdb.connect(str(fresh("duckdb")), config={"threads": THREADS, "memory_limit": "2GB"})
    base.execute(
        f"""CREATE TABLE sentences AS SELECT row_number() OVER () AS sentence, line FROM read_csv('{SENTENCES}',
        columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '', header = false)"""
    )
    base.execute(
        """CREATE TABLE postings AS SELECT lemma, sentence, place FROM
        (SELECT sentence, unnest(words) AS lemma, generate_subscripts(words, 1) AS place FROM
        (SELECT sentence, string_split(line, ' ') AS words FROM sentences)) ORDER BY lemma, sentence, place"""
    )
    base.close()


if __name__ == "__main__":
    {each.__name__: each for each in (wc, tantivy, sqlite, duckdb)}[sys.argv[1]]()
