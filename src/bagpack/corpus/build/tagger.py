"""Parts of speech of raw English text, by Honnibal's averaged perceptron tagger.

The weights are those of the package textblob-aptagger, which carries them inside (trained on the Wall Street Journal);
only its file of weights is read, without running any of its code. All features but those of the tags before are of
words, so their weights are summed up in tables, a row for each word or suffix, and a kernel adds eleven rows a token.
"""

from __future__ import annotations

import pickle
from functools import cache
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.format import SENTENCE_START, TYPE_MASK
from bagpack.corpus.text.tagsets import CODES, tagset
from bagpack.errors import UsageError, extra_file
from bagpack.jit import allocating_kernel

PACKAGE, WEIGHTS = "textblob_aptagger", "trontagger-0.1.0.pickle"
STARTS, ENDS = ("-START2-", "-START-"), ("-END-", "-END2-")  # of a sentence, outwards from its words
WORD_FEATURES = ("i word", "i-1 word", "i-2 word", "i+1 word", "i+2 word")
SUFFIX_FEATURES = ("i suffix", "i-1 suffix", "i+1 suffix")
SYMBOLS = frozenset("$%+=<>#&@^~|\\°©®™€£¥§×÷±")
F32 = NDArray[np.float32]
Mask = NDArray[np.bool_]

# Where English words, and the class that follows, decide what Penn's tags leave open.
VERBS = ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
BE = frozenset(("be", "am", "is", "are", "was", "were", "been", "being", "'m", "'re", "'s", "ai"))
HAVE = frozenset(("have", "has", "had", "having", "'ve", "'d"))
DO = frozenset(("do", "does", "did"))
SUBORDINATING = frozenset(("if", "because", "although", "though", "while", "whether", "unless", "that"))
NEGATIONS = frozenset(("not", "n't", "n’t"))
DEMONSTRATIVES = frozenset(("this", "that", "these", "those", "all", "some", "both"))
NOMINAL = ("NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "CD", "VBG", "VBN", "PRP$", "DT", "RB", "$")


class _OnlySets(pickle.Unpickler):
    """A pickle of dicts, strings and numbers may hold sets; anything else is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in (("__builtin__", "set"), ("builtins", "set")):
            return set
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")


def normalise(word: str) -> str:
    """A word as the features have it."""
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    return "!DIGITS" if word[0].isdigit() else word.lower()


@allocating_kernel
def tag_tokens(  # type: ignore[no-untyped-def]
    tokens, word, suffix, lower_suffix, prefix, fixed, w0, w1, w2, w3, w4, s0, s1, s3, p0, before, known, pairs, edges,
    out,
):  # fmt: skip
    """The class of each token: the one in `fixed`, or the one whose rows add up to most; of equals, the last.

    before[a, b] is the row of the classes a and b of the last two tokens, pairs[known[k, a]] that of word k behind
    class a. `edges` are the rows of what is outside a sentence.
    """
    classes = w0.shape[1]
    scores = np.empty(classes, np.float32)
    one = two = classes  # before the first token
    size = tokens.size
    start = 0
    while start < size:
        end = start + 1
        while end < size and not tokens[end] & SENTENCE_START:
            end += 1
        for i in range(start, end):
            this = tokens[i] & TYPE_MASK
            chosen = fixed[this]
            if chosen < 0:
                scores[:] = w0[word[this]]
                scores += s0[suffix[this]]
                scores += p0[prefix[this]]
                scores += before[one, two]
                if i > start:
                    other = tokens[i - 1] & TYPE_MASK
                    scores += w1[word[other]]
                    scores += s1[lower_suffix[other]]
                else:
                    scores += edges[0]
                if i > start + 1:
                    scores += w2[word[tokens[i - 2] & TYPE_MASK]]
                else:
                    scores += edges[1] if i == start + 1 else edges[2]
                if i + 1 < end:
                    other = tokens[i + 1] & TYPE_MASK
                    scores += w3[word[other]]
                    scores += s3[lower_suffix[other]]
                else:
                    scores += edges[3]
                if i + 2 < end:
                    scores += w4[word[tokens[i + 2] & TYPE_MASK]]
                else:
                    scores += edges[4] if i + 2 == end else edges[5]
                scores += pairs[known[word[this], one]]
                chosen = 0
                for k in range(1, classes):
                    if scores[k] >= scores[chosen]:
                        chosen = k
            out[i] = chosen
            two = one
            one = chosen
        start = end


class PerceptronTagger:
    """The tagger with its tables; see :func:`english_tagger`."""

    def __init__(
        self, weights: dict[str, dict[str, float]], single: dict[str, str], classes: set[str]
    ) -> None:
        self.classes = sorted(classes)
        self.single = single
        number = {name: k for k, name in enumerate(self.classes)}

        def row(feature: str) -> F32:
            out = np.zeros(len(self.classes), np.float32)
            for name, weight in weights.get(feature, {}).items():
                out[number[name]] += weight
            return out

        self.words = self._numbers(weights, WORD_FEATURES)
        self.suffixes = self._numbers(weights, SUFFIX_FEATURES)
        self.prefixes = self._numbers(weights, ("i pref1",))
        tables = [np.stack([row(f"{name} {word}") for word in self.words]) for name in WORD_FEATURES]
        tables[0] += row("bias")
        suffixes = [np.stack([row(f"{name} {end}") for end in self.suffixes]) for name in SUFFIX_FEATURES]
        prefixes = np.stack([row(f"i pref1 {letter}") for letter in self.prefixes])
        tags = [*self.classes, STARTS[1]]
        before = np.stack(
            [
                [
                    row(f"i-1 tag {a}") + row(f"i-2 tag {b}") + row(f"i tag+i-2 tag {a} {b}")
                    for b in (*tags[:-1], STARTS[0])
                ]
                for a in tags
            ]
        )
        known, pairs = self._word_pairs(weights, tags, row)
        edges = np.stack([
            row(f"i-1 word {STARTS[0]}") + row(f"i-1 suffix {STARTS[0][-3:]}"),
            row(f"i-2 word {STARTS[0]}"), row(f"i-2 word {STARTS[1]}"),
            row(f"i+1 word {ENDS[0]}") + row(f"i+1 suffix {ENDS[0][-3:]}"),
            row(f"i+2 word {ENDS[0]}"), row(f"i+2 word {ENDS[1]}"),
        ])  # fmt: skip
        self.tables = (*tables, *suffixes, prefixes, before, known, pairs, edges)

    @staticmethod
    def _numbers(weights: dict[str, Any], features: tuple[str, ...]) -> dict[str, int]:
        """Numbers of the words (or suffixes, ...) that features are about; 0 is any other."""
        found: dict[str, int] = {"": 0}
        for feature in weights:
            name = next((name for name in features if feature.startswith(f"{name} ")), None)
            if name is not None:
                found.setdefault(feature[len(name) + 1 :], len(found))
        return found

    def _word_pairs(
        self, weights: dict[str, Any], tags: list[str], row: Any
    ) -> tuple[NDArray[np.int32], F32]:
        """Rows for a word behind a class: known[word, class] is the place of the row, 0 if there is none."""
        name = "i-1 tag+i word "
        known = np.zeros((len(self.words), len(tags)), np.int32)
        place = {tag: k for k, tag in enumerate(tags)}
        rows: list[F32] = [np.zeros(len(self.classes), np.float32)]
        for feature in weights:
            tag, _, word = feature.removeprefix(name).partition(" ")
            if feature.startswith(name) and word in self.words and tag in place:
                known[self.words[word], place[tag]] = len(rows)
                rows.append(row(feature))
        return known, np.stack(rows)

    def classify(self, tokens: NDArray[np.uint32], forms: list[str]) -> NDArray[np.uint8]:
        """The number of each token's class; `forms` are the words by type."""
        norms = [normalise(form) if form else "" for form in forms]
        number = {name: k for k, name in enumerate(self.classes)}

        def places(items: list[str], table: dict[str, int]) -> NDArray[np.int32]:
            return np.fromiter((table.get(item, 0) for item in items), np.int32, len(items))

        fixed = np.fromiter(
            (number.get(self.single.get(form, ""), -1) for form in forms), np.int16, len(forms)
        )
        out = np.empty(tokens.size, np.uint8)
        tag_tokens(
            tokens, places(norms, self.words), places([form[-3:] for form in forms], self.suffixes),
            places([norm[-3:] for norm in norms], self.suffixes), places([form[:1] for form in forms], self.prefixes),
            fixed, *self.tables, out,
        )  # fmt: skip
        return out

    def tag(self, tokens: NDArray[np.uint32], forms: list[str]) -> NDArray[np.uint8]:
        """The universal tag of each token, as a code."""
        found = self.classify(tokens, forms)
        types = tokens & TYPE_MASK
        lower = [form.lower() for form in forms]
        penn = tagset("Penn")
        codes = np.array([penn.code(name) for name in self.classes], np.uint8)[found]

        def is_one(*names: str) -> Mask:
            wanted = np.zeros(len(self.classes), np.bool_)
            wanted[[self.classes.index(name) for name in names]] = True
            chosen: Mask = wanted[found]
            return chosen

        def among(words: frozenset[str]) -> Mask:
            chosen: Mask = np.array([word in words for word in lower], np.bool_)[types]
            return chosen

        verb, adverb = is_one(*VERBS), is_one("RB")
        following = _next(found, tokens)
        # Over an adverb or a negation.
        beyond = np.where(_next(adverb, tokens), _next(following, tokens), following)
        infinitive, participle = (beyond == self.classes.index(name) for name in ("VB", "VBN"))
        nominal = np.isin(following, [self.classes.index(name) for name in NOMINAL])
        codes[is_one("TO") & ~infinitive] = CODES["ADP"]
        codes[verb & (among(BE) | (among(HAVE) & participle) | (among(DO) & infinitive))] = CODES["AUX"]
        codes[is_one("IN") & among(SUBORDINATING)] = CODES["SCONJ"]
        codes[adverb & among(NEGATIONS)] = CODES["PART"]
        codes[is_one("DT") & among(DEMONSTRATIVES) & ~nominal] = CODES["PRON"]
        marks = np.array([_mark_code(form) for form in forms], np.uint8)[types]
        return np.where(marks > 0, marks, codes)


def _next(values: NDArray[Any], tokens: NDArray[np.uint32]) -> NDArray[Any]:
    """The value of the next token of the sentence; the largest, or False, if there is none."""
    none = False if values.dtype == np.bool_ else np.iinfo(values.dtype).max
    moved = np.append(values[1:], np.array([none], values.dtype))
    moved[:-1][tokens[1:] & SENTENCE_START > 0] = none
    return moved


def _mark_code(form: str) -> int:
    """PUNCT or SYM for what has no letter and no digit; 0 for words."""
    if any(map(str.isalnum, form)):
        return 0
    return CODES["SYM"] if set(form) & SYMBOLS else CODES["PUNCT"]


@cache
def english_tagger() -> PerceptronTagger:
    """The tagger with the weights of the installed package."""
    path = extra_file(PACKAGE, WEIGHTS, "textblob-aptagger", "tag", "--tag")
    try:
        with open(path, "rb") as file:
            return PerceptronTagger(*_read(file))
    except (OSError, pickle.UnpicklingError, ValueError) as error:
        raise UsageError(f"{path} cannot be read ({error}); install textblob-aptagger again") from error


def _read(file: IO[bytes]) -> Any:
    return _OnlySets(file, encoding="utf-8").load()
