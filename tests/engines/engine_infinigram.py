"""infini-gram's HTTP API in front of an index that infini-gram's own package makes and searches.

A word is two tokens of 16 bits, the first below `HALF`, the second not below it, so that a match always begins with a
word: the package's indexer takes 34 GB for tokens of 32 bits, and its tokenizers cannot be had here.
"""

import math
import subprocess
from pathlib import Path

import numpy as np

HALF = 32_767
SEPARATOR = b"\xff\xff"  # opens every document
OVERLAP = 100_000  # bytes by which the indexer lets its parts overlap


def tokens(numbers):
    """Two tokens for each word."""
    halves = np.divmod(np.array(numbers, np.int64), HALF)
    return np.stack([halves[0], halves[1] + HALF], axis=1).ravel().astype("<u2")


class Service:
    """The documents (each a list of sentences), their index, and the answers to requests."""

    def __init__(self, documents, directory: Path):
        import infini_gram.engine as library

        self.documents = [" ".join(document) for document in documents]
        self.requests = []
        self.misbehave = lambda request: None
        self.numbers = {}
        indexed = [tokens(list(map(self.number, self.words(text)))).tobytes() for text in self.documents]
        data = directory / "tokenized.0"
        data.write_bytes(b"".join(SEPARATOR + document for document in indexed))
        sizes = [len(document) + len(SEPARATOR) for document in indexed]
        np.cumsum([0, *sizes[:-1]]).astype("<u8").tofile(directory / "offset.0")
        size = data.stat().st_size
        common = ["--data-file", data, "--ratio", math.ceil(math.log2(size) / 8), "--token-width", 2]
        (directory / "parts").mkdir()
        (directory / "merged").mkdir()
        program = Path(library.__file__).parent / "rust_indexing"
        steps = [
            ["make-part", *common, "--parts-dir", directory / "parts", "--start-byte", 0, "--end-byte", size],
            ["merge", *common, "--num-threads", 1, "--parts-dir", directory / "parts", "--merged-dir",
             directory / "merged", "--hacksize", OVERLAP],
            ["concat", *common, "--num-threads", 1, "--merged-dir", directory / "merged", "--merged-file",
             directory / "table.0"],
        ]  # fmt: skip
        for step in steps:
            subprocess.run([program, *map(str, step)], check=True, capture_output=True)
        how = {"eos_token_id": 65534, "vocab_size": 65535, "token_dtype": "u16"}
        self.library = library.InfiniGramEngine(index_dir=str(directory), **how)

    def number(self, word):
        return self.numbers.setdefault(word, len(self.numbers))

    @staticmethod
    def words(text):
        return text.lower().replace(".", " .").split()

    def ids(self, text):
        return tokens([self.numbers.get(word, 10**8) for word in self.words(text)]).tolist()

    def answer(self, request):
        kind, text = request["query_type"], request["query"]
        if request["index"] != "v4_test":
            return {"error": f"[Backend] Index not found: {request['index']}"}
        cnf = [[self.ids(term) for term in clause.split(" OR ")] for clause in text.split(" AND ")]
        if kind == "find":
            found = self.library.find(cnf[0][0])
        elif kind == "find_cnf":  # two tokens of this index are a word
            most, distance = request["max_clause_freq"], 2 * request["max_diff_tokens"]
            found = self.library.find_cnf(cnf, max_clause_freq=most, max_diff_tokens=distance)
        elif kind in ("get_doc_by_rank", "get_doc_by_ptr"):
            at = request["rank" if kind.endswith("rank") else "ptr"]
            found = getattr(self.library, kind)(request["s"], at, request["max_disp_len"])
        else:
            return {"error": f"[Backend] Invalid query_type: {kind}"}
        if "doc_ix" in found:
            whole = self.documents[found["doc_ix"]]
            found["spans"] = [[whole[:5], None], [whole[5:], "0"]]
        return {**found, "latency": 0.5, "token_ids": [], "tokens": []}
