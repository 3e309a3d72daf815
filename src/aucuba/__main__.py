"""``python -m aucuba`` is the command ``aucuba``."""

import sys

from aucuba.cli import main

if __name__ == "__main__":
    sys.exit(main())
