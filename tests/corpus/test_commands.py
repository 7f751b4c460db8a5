"""What `index`, `info` and `verify` say."""


def test_brackets_in_a_path_are_shown_as_they_are(tmp_path, write, cli):
    source, store = write("a[old].txt", "Lions sleep.\n"), tmp_path / "s[bold].bp"
    done = cli("index", source, "--out", store)
    assert done.code == 0
    assert f"{store}: 3 tokens" in done.err
    shown = "".join(cli("info", store).out.split())
    assert f"{store}" in shown
    assert f"path{source}" in shown
    assert f"{store} is whole" in cli("verify", store).err
    (store / "lexicon-0" / "keys.count").unlink()
    assert f"bagpack: {store / 'lexicon-0' / 'keys.count'} is missing" in cli("verify", store).err
