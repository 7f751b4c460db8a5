"""The explorer: pages over a store, a model and data sets, served on one's own machine."""

from bagpack.app.server import create_app as create_app
from bagpack.app.server import serve as serve
from bagpack.app.state import open_library as open_library
