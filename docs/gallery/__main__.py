"""`python -m docs.gallery`: run every study whose data is there, write pictures and page."""

from __future__ import annotations

import os
from pathlib import Path

from docs.gallery import build

for name in build(with_data=Path(os.environ.get("TRAJLAB_DATA", "no data")).is_dir()):
    print(f"{name} stays as it is: TRAJLAB_DATA names no folder with StudentLife")
