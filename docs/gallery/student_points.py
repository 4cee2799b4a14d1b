"""How few points single out a student.

Records of 49 students of Dartmouth over four weeks (StudentLife), in squares of 500 m and hours. A few places and
times of somebody are enough to find the one trace that fits. Of traces cut into windows of a day, each under a fresh
id, six points still find two of three; but what is found then is one day and not four weeks.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import trajlab as tl

DATA = Path(os.environ.get("TRAJLAB_DATA", "no data"))
if not DATA.is_dir():
    sys.exit("TRAJLAB_DATA names no folder with StudentLife")
POINTS = ["points:1", "points:2", "points:4", "points:6"]
lab = tl.open(":memory:", quiet=True)
lab.ingest(DATA / "studentlife.parquet", tz="America/New_York")
release = lab.release(index="square:500", slot="1h", fill="none", start="2013-04-01", days=28)
cut = lab.protect(release, "cut:24h")
print("known points  singled out  of windows of a day")
for points in POINTS:
    whole, window = lab.risk(release, points), lab.risk(cut, points)
    print(f"{points.removeprefix('points:'):>12} {whole.unique_share:12.0%} {window.unique_share:20.0%}")
lab.figure("song2014-fig2", "student_points.png")
