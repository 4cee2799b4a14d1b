"""What protection of counts takes away from attacks: accuracy over k, the step of rounding and ε.

    python -m bench.protection
    python -m bench.protection --people 1000

StudentLife (squares of 500 m, hourly, 28 days) where TRAJLAB_DATA names its folder, else a simulated city of as many
people as asked for. Optimal pairing, one seed, 95 % intervals over people.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import polars as pl

import trajlab as tl
from trajlab.errors import ProtectionError

RECIPES = [
    *(f"suppress:{k}" for k in (5, 10, 15, 20)),
    *(f"round:{step}" for step in (5, 10, 100)),
    *(f"noise:geometric:eps={eps}:unit={unit}" for unit in ("person-slot", "person-day") for eps in (0.1, 1, 3, 10)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, help="a simulated city of so many people instead of StudentLife")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    folder = Path(os.environ.get("TRAJLAB_DATA", "no data"))
    lab = tl.open(":memory:")
    settings: dict[str, object] = {"slot": "60min", "seed": args.seed, "pairing": "optimal"}
    if args.people is None and folder.is_dir():
        lab.ingest(folder / "studentlife.parquet", tz="America/New_York")
        settings |= {"index": "square:500", "start": "2013-04-01", "days": 28}
    else:
        lab.ingest(tl.simulate(people=args.people or 300, days=7, seed=1), tz="Europe/Lisbon")
        settings |= {"index": "square:1000"}
    for recipe in RECIPES:
        try:
            lab.study(attack=["xu2017", "dsilva2024", "habits"], protect=[None, recipe], **settings)  # type: ignore[call-overload]
        except ProtectionError as error:
            print(f"{recipe}: {error}")
    rows = lab.table("report.protection").filter(~pl.col("attack").is_in(["stay", "shuffle"]))
    print(f"{'recipe':42} {'attack':<11} {'accuracy':>22} {'stay':>6} {'shuffle':>8} {'as they are':>12}")
    for row in rows.sort("protection", "privacy_unit", "strength", "attack").iter_rows(named=True):
        interval = f"{row['estimate']:.3f} ({row['low']:.3f}–{row['high']:.3f})"
        print(
            f"{row['recipe'] or 'counts as they are':42} {row['attack']:<11} {interval:>22} {row['stay']:>6.3f} "
            f"{row['shuffle']:>8.3f} {row['unprotected']:>12.3f}"
        )


if __name__ == "__main__":
    main()
