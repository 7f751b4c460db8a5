"""What a query must find, said literally over lists of tokens; shares no code with the package."""


def places(words, forms):
    spans = [(at, form) for form in forms for at in range(len(words))]
    return sorted((at, len(form)) for at, form in spans if tuple(words[at : at + len(form)]) == form)


def holds_gap(words, forms1, forms2, gap):
    """Some form of the first, exactly `gap` tokens, some form of the second."""
    return any(a + size + gap == b for a, size in places(words, forms1) for b, _ in places(words, forms2))


def holds_couple(words, forms1, forms2, gap):
    """The same, with neither word between."""
    starts = [at for at, _ in places(words, forms1) + places(words, forms2)]
    ends = {b for b, _ in places(words, forms2)}
    couples = [(a, a + size + gap) for a, size in places(words, forms1) if a + size + gap in ends]
    return any(not any(a < other < b for other in starts) for a, b in couples)
