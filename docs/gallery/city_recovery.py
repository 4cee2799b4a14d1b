"""Traces recovered from counts alone.

Nothing but the number of people in each cell and half hour is published of 120 simulated people, for three days. Two
attacks of the literature link these numbers to tracks, beside two yardsticks that know the map and nothing else. What
an attack recovers beyond them it has learned about people.
"""

from __future__ import annotations

import trajlab as tl

lab = tl.open(":memory:", quiet=True)
lab.ingest(tl.simulate(people=120, days=3, seed=1), tz="Europe/Lisbon")
release = lab.release(index="square:1000", slot="30min", fill="static")
for attack in ("xu2017", "dsilva2024"):
    lab.attack(release, attack, seed=0)
drawn = lab.figure("dsilva2024-fig2", "city_recovery.png")
for row in drawn.table.filter(series="this release").iter_rows(named=True):
    print(f"{row['x']:10} recovers {row['estimate']:4.0%} ({row['low']:.0%} to {row['high']:.0%})")
