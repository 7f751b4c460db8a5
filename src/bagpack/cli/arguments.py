"""What the arguments of a command name: a store where a data set belongs is reported before any work."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any


def check_arguments(parameters: Iterable[inspect.Parameter], given: dict[str, Any]) -> None:
    """Placeholder."""
    del parameters, given
