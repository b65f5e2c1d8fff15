"""`python -m corekit.cli`, the same as `corekit`."""

import sys

from corekit.cli import main

sys.exit(main())
