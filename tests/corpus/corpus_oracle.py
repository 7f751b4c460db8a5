"""Stores read back as plain Python values, and readers of token lines written the obvious way."""

import bz2
import gzip
import html
import json
import lzma
import re
import subprocess
import unicodedata
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest

from bagpack import Corpus, index_corpus
from bagpack.corpus.format import GLUED, SENTENCE_START, TYPE_MASK
from bagpack.corpus.options import TextOptions
from bagpack.corpus.readers.files import zstd

DATA = Path(__file__).parent / "data"
COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}
DOCUMENT_TAGS = ["text", "doc", "file", "document", "article"]
BOUNDARY_TAGS = ["s", "p", "corpus", "head", "div", "sentence", "para", "paragraph", "body", "?xml", "!--"]
KNOWN_TAGS = DOCUMENT_TAGS + BOUNDARY_TAGS


def fold(text):
    """Letters composed, case folded, without soft hyphens; some letters are taken apart by folding."""
    text = text.replace("\xad", "") or text
    return normalize("NFC", normalize("NFC", text).casefold())


def build(source, out, *, jobs=1, part_bytes=None, **options) -> Corpus:
    """Index one or more sources."""
    sources = [source] if isinstance(source, str | Path) else source
    names = [str(name) for name in sources]
    return index_corpus(
        names, out, TextOptions(**options), jobs=jobs, part_bytes=part_bytes, overwrite=True
    ).corpus


def sentences(corpus: Corpus) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """(document, [(form, key, glued), …]) of every sentence, in corpus order."""
    found = []
    for segment in corpus.segments:
        forms = [form.decode() for form in segment.forms]
        keys = [key.decode() for key in segment.keys]
        for position in chain.from_iterable(map(range, *segment.runs)):
            token = int(segment.tokens[position])
            if token & int(SENTENCE_START):
                document = int(np.searchsorted(segment.document_starts, position, side="right")) - 1
                found.append((segment.documents[document], []))
            kind = token & int(TYPE_MASK)
            found[-1][1].append((forms[kind], keys[segment.key_of_type[kind]], bool(token & int(GLUED))))
    return found


def words(corpus: Corpus) -> list[list[str]]:
    """The forms of every sentence."""
    return [[form for form, _, _ in tokens] for _, tokens in sentences(corpus)]


def manifest_of(store: Path) -> dict:
    return json.loads((Path(store) / "manifest.json").read_text())


def files_of(store: Path) -> dict[str, bytes]:
    """Every file that a store's manifest names with its bytes; of an unfinished one, every file."""
    store = Path(store)
    found = [path for path in sorted(store.rglob("*")) if path.is_file() and path.name != ".bagpack-lock"]
    if (store / "manifest.json").exists():
        manifest = manifest_of(store)
        named = {manifest["lexicon"]["directory"], *(entry["name"] for entry in manifest["segments"])}
        found = [path for path in found if path.parent.name in named or path.name == "manifest.json"]
    return {str(path.relative_to(store)): path.read_bytes() for path in found}


def content_of(store: Path) -> list[bytes]:
    """The arrays of a store's segments and its lexicon, whatever their names are."""
    segments = (segment_of(store, number) for number in range(len(manifest_of(store)["segments"])))
    files = [path for place in (*segments, lexicon_of(store)) for path in sorted(place.iterdir())]
    return [path.read_bytes() for path in files if path.suffix != ".json"]


def segment_of(store: Path, number: int = 0) -> Path:
    """The directory of a segment of a store."""
    return Path(store) / "segments" / manifest_of(store)["segments"][number]["name"]


def lexicon_of(store: Path) -> Path:
    """The directory of a store's lexicon."""
    return Path(store) / manifest_of(store)["lexicon"]["directory"]


def unescape(text: str) -> str:
    """A word as it is stored: entities resolved; if it is not plain, white space single and controls gone."""
    for _ in range(3):
        text = html.unescape(text) or text
    if text.isascii() and text.isprintable():
        return text
    spaced = (" " if c.isspace() or unicodedata.category(c) == "Cc" else c for c in text)
    return " ".join("".join(spaced).split()) or "\ufffd"


def read_vertical(text: str, source: str, form=0, lemma=2) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """Vertical text, line by line; the text ends with a newline."""
    found: list = []
    document, opened, glue = source, True, False
    for line in text.split("\n")[:-1]:
        line = line.removesuffix("\r")
        columns = line.split("\t")
        tag = re.match(r"</?([^ >/\t]*)[ >/]", line)
        name = tag.group(1) if tag else ""
        if not line:
            opened = True
        elif name == "g":
            glue = True
        elif name in KNOWN_TAGS:
            opened, glue = True, False
            if name in DOCUMENT_TAGS and not line.startswith("</"):
                named = re.search(r'\bid="([^"]*)"', line)
                document = unescape(named.group(1)) if named else line
        elif (
            line.startswith("<") and line.endswith(">") and len(line) > 2 and len(columns) <= max(form, lemma)
        ):
            pass
        else:
            if opened:
                found.append((document, []))
                glue = False
            word = unescape(columns[form])
            key = unescape(columns[lemma]) or word
            found[-1][1].append((word, fold(word if key == "<unknown>" else key), glue))
            opened = glue = False
    return found


def read_conllu(text: str, source: str) -> list[tuple[str, list[tuple[str, str, bool]]]]:
    """CoNLL-U, sentence by sentence."""
    found: list = []
    document = source
    for block in re.split(r"\n\n", text.replace("\r\n", "\n")):
        tokens = []
        rows = []
        for line in block.split("\n"):
            if line.startswith("# newdoc"):
                document = line.partition("=")[2].strip() or line
            elif line and not line.startswith("#"):
                rows.append(line.split("\t"))
        glued = False
        for row in rows:
            if row[0].isdigit():
                lemma = row[1] if row[2] in ("_", "") else row[2]
                tokens.append((row[1], fold(lemma), glued))
                glued = "SpaceAfter=No" in row[9]
        if tokens:
            found.append((document, tokens))
    return found


def text_of(segment, start, end):
    """Tokens as written: joined by spaces except where they were glued."""
    found = segment.tokens[start:end].tolist()
    pieces = [" " * (not token >> 30 & 1) + segment.forms[token & (1 << 30) - 1] for token in found]
    return "".join(pieces).strip()


@contextmanager
def small_disk(path: Path, size: str):
    """A tmpfs of a few megabytes; an array on it may still be mapped at the end."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
