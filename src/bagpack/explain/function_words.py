"""Words that say little about the word they occur with: articles, pronouns, prepositions, conjunctions, auxiliaries."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bagpack.corpus.store.corpus import Corpus

FREQUENT = 150  # of a language without a list, the commonest words are left out instead
SMALL = 20 * FREQUENT  # distinct words; a smaller corpus has none to spare

ENGLISH = frozenset(
    # A list would take a line per word.
    """
    a an the this that these those each every either neither both all any some no none such same other another own
    much many more most few fewer less least several enough half i me my mine myself you your yours yourself
    yourselves he him his himself she her hers herself it its itself we us our ours ourselves they them their theirs
    themselves one oneself who whom whose which what whoever whatever whichever someone somebody something anyone
    anybody anything everyone everybody everything nobody nothing there here of in on at to for from by with without
    within into onto upon about above across after against along among around as before behind below beneath beside
    besides between beyond despite down during except inside like near off out outside over past per since through
    throughout till toward towards under underneath until unto up via and or but nor so yet if then else than though
    although because while whereas whether when where why how unless once be am is are was were been being have has
    had having do does did doing done will would shall should can could may might must ought need dare not n't n’t
    's ’s 'll 've 're 'd 'm ll ve re also too very just only even still already again ever never now thus hence
    therefore however rather quite almost
    """.split()  # noqa: SIM905
)


def is_function_word(corpus: Corpus, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of words by their numbers in a corpus's lexicon (−1: none), whether they are function words or have no letter."""
    lexicon = corpus.lexicon
    words = ["a" if number < 0 else lexicon.keys[number] for number in numbers.tolist()]
    found = np.array([not any(map(str.isalpha, word)) for word in words], np.bool_)
    if corpus.options.lang == "en":
        return found | np.array([word.lower() in ENGLISH for word in words], np.bool_)
    if lexicon.counts.size < SMALL:
        return found
    least = np.partition(lexicon.counts, lexicon.counts.size - FREQUENT)[lexicon.counts.size - FREQUENT]
    return np.asarray(found | ((numbers >= 0) & (lexicon.counts[numbers] >= least)))
