"""Small models of the made-up relations."""

from pathlib import Path

from bagpack.evaluate import CountOptions, TrainOptions, train_file


def train(store: Path, data: Path, out: Path, preset: str) -> Path:
    """Train without an evaluation; gives the model's place."""
    options = TrainOptions(preset=preset, scores=False, counting=CountOptions(40))
    train_file(str(store), str(data), str(out), options)
    return out
