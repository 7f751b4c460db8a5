"""Which document the tokens of a shard belong to, while the shard is being made."""

from __future__ import annotations

from bagpack.corpus.readers.base import DocumentStart
from bagpack.corpus.store.attributes import Attributes


class Documents:
    """Names and first positions, in order.

    A document that opens at the position of a provisional one replaces it, since that never had a token; likewise one
    that was only carried over from the shard before.
    """

    def __init__(self, carried: DocumentStart | None = None) -> None:
        self.opened: list[DocumentStart] = []
        if carried is not None:
            self.open(DocumentStart(0, carried.name, continued=True, attributes=carried.attributes))

    def __len__(self) -> int:
        return len(self.opened)

    def open(self, document: DocumentStart) -> None:
        """From its position on, tokens belong to this document."""
        if self.opened and self.opened[-1].position == document.position:
            empty = self.opened[-1]
            if empty.provisional or empty.continued:
                self.opened.pop()
        self.opened.append(document)

    @property
    def starts(self) -> list[int]:
        """Position of each document's first token."""
        return [document.position for document in self.opened]

    @property
    def names(self) -> list[str]:
        """Ids, in order."""
        return [document.name for document in self.opened]

    @property
    def attributes(self) -> list[Attributes]:
        """Attributes of each document."""
        return [document.attributes for document in self.opened]

    @property
    def continued(self) -> bool:
        """Whether the first document began in an earlier shard."""
        return bool(self.opened) and self.opened[0].continued

    @property
    def current(self) -> DocumentStart | None:
        """The document that is open now."""
        return self.opened[-1] if self.opened else None
