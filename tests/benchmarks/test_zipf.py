from collections import Counter

from benchmarks.peers.material import count_orders, locate
from benchmarks.zipf import write_zipf_vertical, zipf_pairs, zipf_word


def lines(path, *arguments, **options):
    size = write_zipf_vertical(path, *arguments, **options)
    text = path.read_text(encoding="ascii")
    assert size == len(text)
    return text.splitlines()


def test_a_zipf_corpus_has_the_tokens_asked_for_and_balanced_markup(tmp_path):
    for tokens in (1, 999, 30_000):
        found = lines(tmp_path / "a.vert", tokens)
        marks = Counter(line.split()[0].rstrip(">") for line in found if line.startswith("<"))
        assert sum("\t" in line for line in found) == tokens
        assert marks["<s"] == marks["</s"] and marks["<text"] == marks["</text"]
        assert all(line.count("\t") == 2 for line in found if not line.startswith("<"))


def test_words_are_as_frequent_as_their_rank_says_and_depend_on_the_seed_alone(tmp_path):
    first, again, other = (lines(tmp_path / "a.vert", 30_000, seed=seed) for seed in (3, 3, 4))
    assert first == again != other
    lemmas = Counter(line.split("\t")[2] for line in first if "\t" in line)
    assert lemmas[zipf_word(0)] > 2 * lemmas[zipf_word(5)] > 4 * lemmas[zipf_word(100)] > 0
    assert 3_000 < len(lemmas) < 20_000


def test_pairs_are_different_and_of_different_words():
    pairs = zipf_pairs(2000, seed=1)
    assert len(set(pairs)) == 2000 and all(one != two for one, two in pairs)
    assert pairs == zipf_pairs(2000, seed=1)
    assert len({zipf_word(rank) for rank in range(20_000)}) == 20_000


def test_a_context_found_again_holds_neither_word_between():
    assert count_orders(locate(["cat", "a", "lion", "b", "cat"], "cat", "lion")) == [1, 1]
    assert count_orders(locate(["cat", "cat", "lion"], "cat", "lion")) == [1, 0]
    assert locate(["cat", "1", "2", "3", "4", "5", "6", "lion"], "cat", "lion") == []
