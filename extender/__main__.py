"""`python -m extender` is the command `leeway`."""

import sys

from extender.cli import main

if __name__ == "__main__":
    sys.exit(main())
