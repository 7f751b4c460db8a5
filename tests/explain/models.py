"""Small models of the made-up relations."""

from pathlib import Path

from bagpack.contexts.windows import CountSettings
from bagpack.experiments.counting import CountOptions
from bagpack.experiments.evaluation import EvaluateOptions
from bagpack.experiments.training import train_file

COUNTING = CountOptions(40, None, CountSettings())


def train(store: Path, data: Path, out: Path, preset: str) -> Path:
    """Train without an evaluation; gives the model's place."""
    train_file(str(store), str(data), str(out), COUNTING, EvaluateOptions(preset), evaluate=False)
    return out
