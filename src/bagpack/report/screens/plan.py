"""The estimate of an index."""

from __future__ import annotations

from typing import Any

from bagpack.console import screen, show_size, show_time
from bagpack.numbers import many


def show_plan(facts: dict[str, Any], free: int | None) -> None:
    """Print the estimate, with the free space if it is known."""
    out = screen()
    out.print(
        f"files    {facts['files']:,} ({show_size(facts['input_bytes'])}), {', '.join(facts['formats'])}"
    )
    out.print(f"tokens   about {facts['tokens']:,}")
    space = "" if free is None else f"; {show_size(free)} are free there"
    out.print(f"disk     about {show_size(facts['disk_bytes'])}{space}")
    out.print(f"memory   at most {show_size(facts['memory_bytes'])} for {many(facts['workers'], 'worker')}")
    out.print(f"time     about {show_time(facts['seconds'])} to index")
    out.print(
        f"counting at most about {show_time(facts['seconds_per_1000_pairs'])} per 1,000 pairs, "
        f"{show_size(facts['matrix_bytes_per_1000_pairs'])} each"
    )
    out.print(f"from a sample of {show_size(facts['sample_bytes'])}", style="dim")
