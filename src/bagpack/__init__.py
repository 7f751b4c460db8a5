"""BagPack: what relation holds between two words in a corpus, and which sentences say so."""

from bagpack._version import __version__ as __version__
