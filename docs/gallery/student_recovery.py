"""Tracks of real students from their counts.

Of 49 students of Dartmouth (StudentLife) only counts are known: people in squares of 500 m, every half hour of two
weeks. Both attacks of the literature and two yardsticks try to tell who went where. Students return to few places at
regular hours, so that even staying where one is recovers a good part; what is above that is what counts give away.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import trajlab as tl

DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))
if not DATA.is_dir():
    sys.exit("TRAJLAB_DATA names no folder with StudentLife")
lab = tl.open(":memory:", quiet=True)
lab.ingest(DATA / "studentlife.parquet", tz="America/New_York")
release = lab.release(index="square:500", slot="30min", fill="static", start="2013-04-01", days=14)
for attack in ("xu2017", "dsilva2024"):
    lab.attack(release, attack, seed=0)
drawn = lab.figure("dsilva2024-fig2", "student_recovery.png")
for row in drawn.table.filter(series="this release").iter_rows(named=True):
    print(f"{row['x']:10} recovers {row['estimate']:4.0%} ({row['low']:.0%} to {row['high']:.0%})")
