"""The `bagpack` command. A command fills the options of a library function, calls it, and prints."""

from bagpack.cli.main import app as app
from bagpack.cli.main import main as main
