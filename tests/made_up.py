"""A small made-up language in which three relations have their own ways of being said, and what is made from it."""

import random

import pytest

SAYINGS = {
    "kind": ["a {a} is a kind of {b} .", "{b} such as the {a} were found .", "every {a} and other {b} came ."],
    "part": ["the {a} of the {b} broke .", "a {b} has a {a} on its side .", "its {b} lost one {a} again ."],
    "tool": ["they {b} it with a {a} .", "use the {a} to {b} them .", "with a {a} one can {b} well ."],
}  # fmt: skip
PER_LABEL = 24
ROWS = [(f"{name}a{i:02d}", f"{name}b{i % 12:02d}", name) for name in SAYINGS for i in range(PER_LABEL)]
PAIRS = [(a, b) for a, b, _ in ROWS]
LABELS = [label for *_, label in ROWS]
ANSWERS = {
    "binary": ("label", ["yes" if label == "kind" else "no" for label in LABELS]),
    "rating": ("score", [f"{6 if label == 'kind' else i % 7 / 7:.2f}" for i, label in enumerate(LABELS)]),
}
NASTY = "the kinda01 <script>document.title='pwned'</script> of a kindb01 ."


def said(most=4, least=1, seed=7):
    """The words of each sentence: a few for each pair, and one with its first word alone."""
    rng = random.Random(seed)
    lines = []
    for a, b, label in ROWS:
        lines += [rng.choice(SAYINGS[label]).format(a=a, b=b) for _ in range(rng.randint(least, most))]
        lines.append(f"nobody saw the {a} before .")
    rng.shuffle(lines)
    return [line.split() for line in lines]


def table(rows, header="w1\tw2\tlabel"):
    """A table of pairs as text."""
    return "".join("\t".join(map(str, row)) + "\n" for row in ([header], *rows))


class World:
    """A store whose text and document names hold HTML, a table of labels, and models of each kind, made when asked."""

    def __init__(self, folder):
        from bagpack.corpus.build.index import index_corpus

        self.folder, self.store, self.table = folder, folder / "c.bp", folder / "modern.tsv"
        vertical, lines = [], [*said(), *(line.split() for line in [NASTY, "and/or is a word ."] * 3)]
        for number, line in enumerate(lines):
            if number % (len(lines) // 8) == 0:  # a document of each decade
                part = number // (len(lines) // 8)
                attributes = f"genre='{('news', 'letters')[part % 2]}' year='{1900 + 10 * part}'"
                start = f"<text id='&lt;img src=x onerror=alert(1)&gt;' {attributes}>"
                vertical += [*["</text>"] * (part > 0), start]
            vertical += ["<s>", *(f"{word}\tX\t{word}" for word in line), "</s>"]
        (folder / "c.vert").write_text("\n".join([*vertical, "</text>", ""]))
        index_corpus([str(folder / "c.vert")], self.store, part_bytes=8000)
        self.table.write_text(table(ROWS))

    def model(self, kind="modern"):
        """The path of a model: `modern` with scores, or of preset paper: `paper`, `binary`, `rating`."""
        path, data = self.folder / f"{kind}.model", self.folder / f"{kind}.tsv"
        if not path.exists():
            name, answers = ANSWERS.get(kind, ("label", LABELS))
            rows = [(*pair, answer) for pair, answer in zip(PAIRS, answers, strict=True)]
            data.write_text(table(rows, f"w1\tw2\t{name}"))
            modern = kind == "modern"
            train(self.store, data, path, preset="modern" if modern else "paper", scores=modern, folds=3)
        return path


def train(store, data, out, **how):
    """Train without an evaluation, if not asked for one, and with a small basis."""
    from bagpack.evaluate.run import CountOptions
    from bagpack.evaluate.train import TrainOptions, train_file

    options = TrainOptions(**{"scores": False, "counting": CountOptions(40), **how})
    train_file(str(store), str(data), str(out), options)
    return out


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"))
