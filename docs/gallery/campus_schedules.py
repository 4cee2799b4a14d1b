"""What a crowd on a campus has in common.

A simulated campus of 150 students, four weeks of Wi-Fi. Whoever knows two points of a student is often left with a
crowd, and cannot say who it is; but what the crowd has in common every week, the student has too. The curve says how
many of their habits people share with their crowd.
"""

from __future__ import annotations

import trajlab as tl

campus = tl.simulate_campus(people=150, days=28, seed=1)
lab = tl.open(":memory:", quiet=True)
lab.ingest(campus.records, kind="wifi", tz="Europe/Lisbon", places=campus.places)
lab.release(index="places", slot="2h", fill="none")
leak = lab.schedule(campus.timetable, points=2, min_k=2, truth=campus.schedule)
print(f"{leak.measured:.0%} of people are in a crowd of two or more")
print(f"of these {leak.totally:.0%} have all habits in common with it, {leak.partly:.0%} some")
lab.figure("ma2017-fig4c", "campus_schedules.png")
