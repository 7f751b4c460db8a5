"""MkDocs hooks: what the documentation site needs beyond its pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Exclude pages of the navigation that are not written yet."""
    config["nav"] = _existing(config["nav"], Path(config["docs_dir"]))
    return config


def _existing(entries: list[Any], docs: Path) -> list[Any]:
    kept = []
    for entry in entries:
        ((title, target),) = entry.items()
        if isinstance(target, list):
            kept.append({title: _existing(target, docs)})
        elif (docs / target).exists():
            kept.append(entry)
    return kept
