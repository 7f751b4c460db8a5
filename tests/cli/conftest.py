"""A small store, labelled pairs, and a model of them."""

import pytest
from tests.contexts.stores import make_store
from tests.vectors.conftest import SENTENCES

PAIRS = "w1\tw2\tlabel\ncat\tlion\ta\nhammer\tnail\tb\nlion\thammer\ta\nnail\tcat\tb\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("shop"), SENTENCES, (7,)).path


@pytest.fixture
def data(write):
    return write("relations.tsv", PAIRS)


@pytest.fixture
def trained(cli, shop, tmp_path):
    """Train a model on a file."""

    def train(data):
        out = tmp_path / "m.model"
        assert cli("train", shop, data, "--out", out, "-b", 4, "-j", 1, "--no-scores").code == 0
        return out

    return train


def refuses(done, sentence):
    assert done.code == 2, done.err
    assert done.out == ""
    assert sentence in done.err
    assert "Traceback" not in done.err
    return True
