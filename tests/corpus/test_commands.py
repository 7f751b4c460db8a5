"""What `index` and `info` say."""

from corpus_oracle import lexicon_of


def test_brackets_in_a_path_are_shown_as_they_are(tmp_path, write, cli):
    source, store = write("a[old].txt", "Lions sleep.\n"), tmp_path / "s[bold].bp"
    done = cli("index", source, "--out", store)
    assert done.code == 0
    assert f"{store}: 3 tokens" in done.err
    shown = "".join(cli("info", store).out.split())
    assert f"{store}" in shown
    assert f"path{source}" in shown
    assert f"{store} is intact" in cli("info", store, "--verify").err
    (lexicon_of(store) / "keys.count").unlink()
    assert f"bagpack: {lexicon_of(store) / 'keys.count'} is missing" in cli("info", store, "--verify").err


def test_resuming_a_finished_store_is_no_failure(tmp_path, write, cli):
    source, store = write("a.txt", "Lions sleep.\n"), tmp_path / "s"
    for stdin, name in ((b"", source), (b"Lions sleep.\n", "-")):
        cli("index", name, "--out", store, "--overwrite", stdin=stdin)
        done = cli("index", name, "--out", store, "--resume", stdin=stdin)
        assert done.code == 0
        assert done.err.splitlines()[0] == f"{store} is finished: nothing is left to resume"
        assert done.err.splitlines()[1].startswith(f"{store}: 3 tokens")
        assert len(done.err.splitlines()) == 2
    assert cli("index", source, "--out", store, "--resume", "--quiet").code == 1  # it is of standard input
