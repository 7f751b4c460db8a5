"""Which document the tokens of a shard belong to, while the shard is being made."""

from __future__ import annotations

from typing import NamedTuple


class Opening(NamedTuple):
    """A document's name; provisional until the reader finds a name of its own."""

    name: str
    provisional: bool = False
    continued: bool = False  # it began in an earlier shard


class Documents:
    """Names and first positions, in order.

    A source opens a provisional document under its path. If a document is opened at the same position, the
    provisional one never had a token and goes; so does one that was only carried over from the shard before.
    """

    def __init__(self, carried: str | None = None) -> None:
        self.starts: list[int] = []
        self.openings: list[Opening] = []
        if carried is not None:
            self.open(0, Opening(carried, continued=True))

    def open(self, position: int, opening: Opening) -> None:
        """From this position on, tokens belong to this document."""
        if self.starts and self.starts[-1] == position:
            empty = self.openings[-1]
            if empty.provisional or empty.continued:
                self.starts.pop()
                self.openings.pop()
        self.starts.append(position)
        self.openings.append(opening)

    @property
    def names(self) -> list[str]:
        """Ids, in order."""
        return [opening.name for opening in self.openings]

    @property
    def continued(self) -> bool:
        """Whether the first document began in an earlier shard."""
        return bool(self.openings) and self.openings[0].continued

    @property
    def current(self) -> str | None:
        """The document that is open now."""
        return self.openings[-1].name if self.openings else None
