"""The explorer: pages over a store and a model, and the workbench for finding pairs, served on one's own machine."""

from bagpack.app.library import Library as Library
from bagpack.app.server import create_app as create_app
from bagpack.app.server import serve as serve
