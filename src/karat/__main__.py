"""``python -m karat`` is the command line."""

from karat.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
