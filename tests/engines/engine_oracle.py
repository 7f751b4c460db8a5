"""What a query must find, said literally over lists of tokens; shares no code with the package."""


def places(words, forms):
    spans = [(at, len(form)) for form in forms for at in range(len(words))]
    return sorted((at, size) for at, size in spans if tuple(words[at : at + size]) in forms)


def holds_gap(words, forms1, forms2, gap):
    """Some form of the first, exactly `gap` tokens, some form of the second."""
    return any(a + size + gap == b for a, size in places(words, forms1) for b, _ in places(words, forms2))


def holds_couple(words, forms1, forms2, gap):
    """The same, with neither word between."""
    starts = [at for at, _ in places(words, forms1) + places(words, forms2)]
    return any(
        a + size + gap == b and not any(a < other < b for other in starts)
        for a, size in places(words, forms1)
        for b, _ in places(words, forms2)
    )
