"""How well raw text is split and lemmatised, against a treebank.

    python benchmarks/annotation_accuracy.py FILE.conllu[.xz] [FILE.vert.xz ...]

Prints lemma accuracy on gold tokens (case-folded) and, for CoNLL-U, which keeps the text as written, the F1
of token spans and of sentence ends (paragraphs are given, so the last sentence of each is right for free).
``--errors N`` lists the most frequent wrong lemmas and spans.
"""

from __future__ import annotations

import argparse
import lzma
import time
from collections import Counter
from pathlib import Path

from bagpack.corpus.text.lemmas import get_annotator
from bagpack.corpus.text.sentences import join_paragraphs
from bagpack.corpus.text.tokenizer import tokenize


def read_lines(path: Path):
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n")


def read_conllu(path: Path):
    """Yield paragraphs: lists of sentences, each its text and its (form, lemma) pairs."""
    paragraph, text, words = [], "", []
    for line in [*read_lines(path), "# newpar"]:
        if line.startswith(("# newdoc", "# newpar")):
            if paragraph:
                yield paragraph
            paragraph = []
        elif line.startswith("# text = "):
            text = line[9:]
        elif not line and words:
            paragraph.append((text, words))
            words = []
        elif line and line[0] != "#":
            number, form, lemma = line.split("\t")[:3]
            if number.isdigit():
                words.append((form, lemma))


def read_vertical(path: Path):
    for line in read_lines(path):
        columns = line.split("\t")
        if len(columns) == 3:
            yield columns[0], columns[2]


def spans_of_gold(paragraph):
    """Return the text of a paragraph, the spans of its words and the ends of its sentences, in bytes."""
    text, spans, ends = "", set(), set()
    for sentence, words in paragraph:
        at = 0
        for form, _ in words:
            # The parts of a multi-word token (do|n't) follow each other in its text.
            found = sentence.find(form, at)
            if found < 0 or found > at + 2:
                continue
            start = len((text + sentence[:found]).encode())
            spans.add((start, start + len(form.encode())))
            at = found + len(form)
        text += sentence + " "
        ends.add(len(text.encode()) - 1)
    return text, spans, ends


def f1(right: int, guessed: int, gold: int) -> float:
    return 200 * right / (guessed + gold)


def segmentation(path: Path, lang: str) -> tuple[float, float, Counter[str]]:
    token_counts, sentence_counts, wrong = Counter(), Counter(), Counter()
    for paragraph in read_conllu(path):
        text, gold_spans, gold_ends = spans_of_gold(paragraph)
        data, ends, _ = join_paragraphs([text], lang)
        tokens = tokenize(data, ends, lang)
        spans = set(zip(tokens.starts.tolist(), tokens.stops.tolist(), strict=True))
        token_counts.update(right=len(spans & gold_spans), guessed=len(spans), gold=len(gold_spans))
        wrong.update(data[a:b].decode() for a, b in spans - gold_spans)
        guessed = {len(data[:end].rstrip()) for end in ends.tolist()}
        sentence_counts.update(right=len(guessed & gold_ends), guessed=len(guessed), gold=len(gold_ends))
    return f1(**token_counts), f1(**sentence_counts), wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("treebanks", nargs="+", type=Path)
    parser.add_argument("--lang", default="en")
    parser.add_argument("--errors", type=int, default=0)
    options = parser.parse_args()
    annotator = get_annotator("simplemma", options.lang)
    annotator.lemmatize(["words"])  # loads the dictionary
    for path in options.treebanks:
        is_conllu = ".conllu" in path.name
        words = (
            [word for paragraph in read_conllu(path) for _, words in paragraph for word in words]
            if is_conllu
            else list(read_vertical(path))
        )
        forms = sorted({form for form, _ in words})
        start = time.perf_counter()
        lemmas = dict(zip(forms, annotator.lemmatize(forms), strict=True))
        rate = len(forms) / (time.perf_counter() - start)
        wrong = Counter(
            (form.casefold(), lemmas[form].casefold(), lemma.casefold())
            for form, lemma in words
            if lemmas[form].casefold() != lemma.casefold()
        )
        print(
            f"{path.name}: {len(words)} words, lemmas {100 - 100 * wrong.total() / len(words):.2f} %", end=""
        )
        print(f", {rate:,.0f} forms/s", end="")
        spans = Counter()
        if is_conllu:
            token_f1, sentence_f1, spans = segmentation(path, options.lang)
            print(f", token F1 {token_f1:.2f}, sentence F1 {sentence_f1:.2f}", end="")
        print()
        for form, count in spans.most_common(options.errors):
            print(f"{count:6d}  {form}: not a token there")
        for (form, guess, lemma), count in wrong.most_common(options.errors):
            print(f"{count:6d}  {form}: {guess}, not {lemma}")


if __name__ == "__main__":
    main()
