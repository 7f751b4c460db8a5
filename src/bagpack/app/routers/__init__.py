"""The pages and their JSON twins, one module per subject; a new one is added to `SUBJECTS`."""

from importlib import import_module

SUBJECTS = (
    "home", "words", "pairs", "concordance", "distribution", "model", "teach", "assets",
)  # fmt: skip
ROUTERS = [import_module(f"{__name__}.{subject}").router for subject in SUBJECTS]
