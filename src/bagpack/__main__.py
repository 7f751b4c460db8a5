"""`python -m bagpack` is `bagpack`."""

from bagpack.cli import main

if __name__ == "__main__":
    main()
