"""docs/method.md, literally: brute force over lists of lemmas. Shares no code with the package.

A token may have its part of speech behind it (saw/NOUN); a target that has one means only such tokens.
"""

from itertools import pairwise


def basis_terms(sentences, b):
    """The b most frequent unigrams and bigrams as tuples; ties in code-point order of the term."""

    def top(grams):
        counts = {}
        for gram in grams:
            counts[gram] = counts.get(gram, 0) + 1
        return sorted(counts, key=lambda gram: (-counts[gram], " ".join(gram)))[:b]

    return top((w,) for s in sentences for w in s) + top(gram for s in sentences for gram in pairwise(s))


def lemmas(tokens):
    return [token.partition("/")[0] for token in tokens]


def fits(token, wanted):
    return token == wanted or ("/" not in wanted and token.partition("/")[0] == wanted)


def occurrences(sentence, target):
    return [
        i
        for i in range(len(sentence) - len(target) + 1)
        if all(fits(sentence[i + k], wanted) for k, wanted in enumerate(target))
    ]


def single_contexts(sentences, target, before=4, after=4):
    for s in sentences:
        for i in occurrences(s, target):
            end = i + len(target)
            yield {"pre": s[max(0, i - before) : i], "post": s[end : end + after]}


def pair_contexts(sentences, one, two, left=2, between=5, right=2):
    """(order, segments) of every couple of consecutive targets, one of each, at most `between` tokens apart."""
    for s in sentences:
        marks = sorted({(i, one) for i in occurrences(s, one)} | {(j, two) for j in occurrences(s, two)})
        for (i, first), (j, second) in pairwise(marks):
            gap = s[i + len(first) : j]
            if {first, second} != {one, two} or j < i + len(first) or len(gap) > between:
                continue
            end = j + len(second)
            parts = {"pre": s[max(0, i - left) : i], "betw": gap, "post": s[end : end + right]}
            for sign, leader in (("+", one), ("-", two)):
                if first == leader:
                    yield sign, parts, (sign == "-" and one == two)


def observed(term, segment):
    return any(lemmas(segment[i : i + len(term)]) == list(term) for i in range(len(segment) - len(term) + 1))


def vector(sentences, w1, w2, terms, limit=None, single=(4, 4), pair=(2, 5, 2)):
    """Feature name → count, without zeros; w1, w2 and terms are tuples of lemmas."""
    found = {}

    def add(name, segment):
        for term in terms:
            if observed(term, segment):
                key = f"{name}:{' '.join(term)}"
                found[key] = found.get(key, 0) + 1

    for block, word in (("v1", w1), ("v2", w2)):
        for context in list(single_contexts(sentences, word, *single))[:limit]:
            for segment, tokens in context.items():
                add(f"{block}:{segment}", tokens)
    observation = 0
    for sign, parts, same_again in pair_contexts(sentences, w1, w2, *pair):
        observation += not same_again
        if limit is not None and observation > limit:
            break
        for segment, tokens in parts.items():
            add(f"v12:{sign}{segment}", tokens)
    return found
