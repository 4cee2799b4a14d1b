"""`python -m trajlab` is `trajlab`."""

import sys

from trajlab.cli import main

sys.exit(main())
