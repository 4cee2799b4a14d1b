"""What thousands of small files cost: a folder with one CSV file per person, read as gps, as bandicoot, as Parquet.

    python -m bench.small_files --files 5000

Processor time of ingesting the whole folder, and of one file. Every file has ten rows.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path

import polars as pl

import trajlab as tl

ROWS = 10
MAST = "antenna_id,latitude,longitude\nA,42.36,-71.09\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5_000)
    parser.add_argument("--parquet", type=int, default=200, help="files of the Parquet folder (default: 200)")
    args = parser.parse_args()
    print(f"{'kind':<10} {'files':>7} {'rows kept':>10} {'CPU s':>8} {'ms a file':>10}")
    for kind, files, write in (
        ("gps", args.files, write_csv),
        ("bandicoot", args.files, write_bandicoot),
        ("parquet", args.parquet, write_parquet),
    ):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "people").mkdir()
            for number in range(files):
                write(Path(folder) / "people", number)
            kept, seconds = measure(Path(folder), kind)
        print(f"{kind:<10} {files:>7,} {kept:>10,} {seconds:>8.1f} {1000 * seconds / files:>10.2f}")


def write_csv(folder: Path, number: int) -> None:
    lines = (f"{number},2024-03-04T{hour:02}:00:00Z,42.{300 + hour},-71.09\n" for hour in range(ROWS))
    (folder / f"{number:05}.csv").write_text("uid,ts,lat,lng\n" + "".join(lines))


def write_bandicoot(folder: Path, number: int) -> None:
    lines = (f"call,in,c{number},2024-03-04 {hour:02}:00:00,60,A\n" for hour in range(ROWS))
    header = "interaction,direction,correspondent_id,datetime,call_duration,antenna_id\n"
    (folder / f"{number:05}.csv").write_text(header + "".join(lines))


def write_parquet(folder: Path, number: int) -> None:
    hours = [f"2024-03-04T{hour:02}:00:00Z" for hour in range(ROWS)]
    frame = pl.DataFrame({"uid": [number] * ROWS, "ts": hours, "lat": 42.3, "lng": -71.09})
    frame.write_parquet(folder / f"{number:05}.parquet")


def measure(folder: Path, kind: str) -> tuple[int, float]:
    (folder / "masts.csv").write_text(MAST)
    started = processor_time()
    with tl.open(folder / "lab.duckdb", quiet=True) as lab:
        if kind == "bandicoot":
            done = lab.ingest(folder / "people", kind=kind, tz="America/New_York", stations=folder / "masts.csv")
        else:
            done = lab.ingest(folder / "people", tz="America/New_York")
    return done.kept, processor_time() - started


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
