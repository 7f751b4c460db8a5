"""Words with a part of speech wherever pairs are named: answers as from a corpus in which they are two lemmas."""

import itertools
import json

import pytest

from bagpack.corpus.build.index import index_corpus
from bagpack.corpus.store.corpus import Corpus
from bagpack.find.examples import Examples
from bagpack.find.pool import CandidateOptions
from bagpack.find.teaching import Teaching
from bagpack.sources import as_source

WORDS = ("saw", "drill", "plane", "hammer", "file", "paint")
THINGS = ("wood", "steel", "stone", "glass", "board", "wall")
PARTS = ("blade", "bit", "sole", "head", "tang", "brush")  # each of one tool alone
PLACES = ("yard", "shop", "shed", "hall", "barn", "cellar")  # each of one act alone
PEOPLE = ("smith", "joiner", "mason", "tiler", "painter", "turner")
SAYINGS = {
    "NOUN": ["the w/NOUN for the o/NOUN is on the bench/NOUN .", "with the w/NOUN on the o/NOUN the work is done ."],
    "VERB": ["the o/NOUN will w/VERB at the bench/NOUN .", "here the o/NOUN and the others w/VERB it ."],
}  # fmt: skip
B = "6"


def sentences():
    for number, word in enumerate(4 * WORDS):
        mate = number % len(WORDS)
        yield f"the {PARTS[mate]}/NOUN of the {word}/NOUN is on the bench/NOUN .".split()
        yield f"the others {word}/VERB in the {PLACES[mate]}/NOUN .".split()
        for tag, others in (("NOUN", THINGS), ("VERB", PEOPLE)):
            for turn, (saying, other) in enumerate(itertools.product(SAYINGS[tag], others)):
                if (turn + number) % 4:
                    yield saying.replace("w/", f"{word}/").replace("o/", f"{other}/").split()


def two_lemmas(text):
    """With a lemma of its own for the noun and the verb."""
    for word in WORDS:
        text = text.replace(f"{word}/NOUN", f"{word}noun").replace(f"{word}/VERB", f"{word}verb")
    return text


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """The same sentences with tags, and with the tags of the ambiguous words in their lemmas."""
    made = []
    for name in ("tagged", "divided"):
        place = tmp_path_factory.mktemp(name)
        lines = []
        for sentence in sentences():
            lines.append("<s>")
            for token in sentence:
                form, _, tag = (two_lemmas(token) if name == "divided" else token).partition("/")
                lines.append(f"{form}\t{tag or 'X'}\t{form}")
            lines.append("</s>")
        (place / "a.vert").write_text("\n".join([*lines, ""]))
        index_corpus([str(place / "a.vert")], place / "s")
        made.append(place / "s")
    return made


@pytest.fixture
def both(stores, tmp_path, cli):
    """Run a command on both stores, with a file for each; what it answers as JSON."""

    def run(command, *arguments, text=None):
        found = []
        for store, change in zip(stores, (str, two_lemmas), strict=True):
            own = [change(argument) for argument in arguments]
            if text is not None:
                (tmp_path / "given.tsv").write_text(change(text))
                own.insert(own.index("FILE"), str(tmp_path / "given.tsv"))
                own.remove("FILE")
            done = cli(command, store, *own, "--json")
            assert done.code == 0, done.err
            found.append(json.loads(done.out))
        return found

    return run


def pairs(tag, others):
    return [(f"{word}/{tag}", other) for word in WORDS for other in others[:3]]


def table():
    rows = [(*pair, "tool") for pair in pairs("NOUN", THINGS)] + [
        (*pair, "act") for pair in pairs("VERB", PEOPLE)
    ]
    return "".join("\t".join(row) + "\n" for row in [("w1", "w2", "label"), *rows])


def test_the_basis_has_no_ambiguous_word(stores, cli):
    """Else the two stores could not agree."""
    tagged, divided = (cli("basis", store, "-b", B).out for store in stores)
    assert tagged == divided and not set(tagged.split()) & set(WORDS)


def test_evaluate(both):
    tagged, divided = both("evaluate", "FILE", "-b", B, "--folds", "3", text=table())
    assert tagged["conditions"] == divided["conditions"]
    assert tagged["data"]["unknown_words"] == 0


def test_solve(both):
    questions = [
        {"stem": [f"{WORDS[n]}/NOUN", THINGS[n]], "choices": [[f"{WORDS[n - 1]}/VERB", PEOPLE[n]],
         [f"{WORDS[n - 2]}/NOUN", THINGS[n - 1]]], "answer": 1}
        for n in range(6)
    ]  # fmt: skip
    tagged, divided = both(
        "solve", "FILE", "-b", B, text="".join(json.dumps(own) + "\n" for own in questions)
    )
    assert tagged["conditions"] == divided["conditions"]


def test_similar(both):
    among = "w1\tw2\n" + "".join(
        "\t".join(pair) + "\n" for pair in pairs("NOUN", THINGS) + pairs("VERB", PEOPLE)
    )
    tagged, divided = both("similar", "saw/NOUN", "wood", "--among", "FILE", "-b", B, text=among)
    assert json.loads(two_lemmas(json.dumps(tagged["ranked"]))) == divided["ranked"]


def test_relations(both):
    tagged, divided = both("relations", "saw/NOUN", "-b", B)
    assert [list(map(two_lemmas, group["patterns"])) for group in tagged["groups"]] == [
        group["patterns"] for group in divided["groups"]
    ]
    words, same = (
        {own["word"]: own["together"] for group in answer["groups"] for own in group["words"]}
        for answer in (tagged, divided)
    )
    assert words == same and PARTS[0] in words and PLACES[0] not in words


def test_teach(stores):
    """The drawn negatives differ between the stores, so scores do; candidates do not."""
    given = pairs("NOUN", THINGS)[::2]
    found = []
    for store, change in zip(stores, (str, two_lemmas), strict=True):
        examples = Examples("tool", tuple((change(one), two) for one, two in given))
        options = CandidateOptions(w1=change("hammer/NOUN"), min_count=1, min_together=1)
        teaching = Teaching.start(as_source(Corpus.open(store)), examples, options, b=int(B), n_jobs=1)
        ranking = teaching.rank(examples)
        assert {one for one, _ in ranking.pairs} == {change("hammer/NOUN")}
        found.append({two for _, two in ranking.pairs})
    assert found[0] == found[1]
    assert found[0] & set(THINGS) and not found[0] & set(PEOPLE)
