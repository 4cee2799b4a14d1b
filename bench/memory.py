"""What questions and commands hold in memory while the engine is bounded to 300 MB.

    python -m bench.memory
    python -m bench.memory --people 3000 --knowledge sequence:2

People of a simulated city in slots of half an hour. Each question is asked of a copy of the lab in a process of
its own, with two threads; `peak` is that of the whole process (getrusage), `base` that of the same process with
the lab open and nothing asked. `answer` is a digest of everybody's k, risk and mean: the same whatever the memory.
Commands are run on a larger crowd (`--crowd`), each as a user would.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "sql select 1": ["sql", "{lab}", "select 1"],
    "sql select * (40 rows shown)": ["sql", "{lab}", "select * from slots.visit"],
    "sql select * --format csv": ["sql", "{lab}", "select * from slots.visit", "--format", "csv"],
    "sql select * --format json": ["sql", "{lab}", "select * from slots.visit", "--format", "json"],
    "protect cut:6h": ["protect", "{lab}", "cut:6h"],
}
KNOWLEDGE = ("locations:2", "sequence:2", "time:2", "frequency:2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=3000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--knowledge", nargs="*", default=KNOWLEDGE)
    parser.add_argument("--crowd", type=int, default=20_000, help="people for the commands; 0 leaves them out")
    parser.add_argument("--memory-limit", default="300MB")
    parser.add_argument("--folder", help="where to put the simulated lab, to use it again (default: temporary)")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "KNOWLEDGE"), help=argparse.SUPPRESS)
    parser.add_argument("--make", metavar="FILE", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.make:
        simulated(Path(args.make), args.people, args.days)
        return
    if args.one:
        print(json.dumps(measure(Path(args.one[0]), args.one[1], args.memory_limit)))
        return
    print(f"{'knowledge':<14} {'visits':>10} {'seconds':>8} {'base MB':>8} {'peak MB':>8}  answer")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.folder or scratch)
        file = lab_of(folder, args.people, args.days) if args.knowledge else folder
        for knowledge in args.knowledge:
            copy = Path(scratch) / "copy.duckdb"
            shutil.copy(file, copy)
            words = [sys.executable, "-m", "bench.memory", "--one", str(copy), knowledge]
            words += ["--memory-limit", args.memory_limit]
            found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
            print(
                f"{knowledge:<14} {found['visits']:>10,} {found['seconds']:>8.1f} {found['base']:>8.0f} "
                f"{found['peak']:>8.0f}  {found['answer']}",
                flush=True,
            )

        if args.crowd:
            commands(lab_of(folder, args.crowd, args.days), Path(scratch) / "copy.duckdb", args.memory_limit)


def lab_of(folder: Path, people: int, days: int) -> Path:
    file = folder / f"memory-{people}-{days}.duckdb"
    if not file.exists():  # in a process of its own: a child's peak begins with what its parent held
        made = [sys.executable, "-m", "bench.memory", "--make", str(file)]
        subprocess.run([*made, "--people", str(people), "--days", str(days)], check=True)
    return file


def commands(file: Path, copy: Path, memory_limit: str) -> None:
    print(f"\n{'command':<32} {'seconds':>8} {'peak MB':>8}")
    for told, words in COMMANDS.items():
        shutil.copy(file, copy)
        began = time.perf_counter()
        command = [sys.executable, "-m", "trajlab", *(word.format(lab=copy) for word in words)]
        command += ["--memory-limit", memory_limit, "--threads", "2"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        print(f"{told:<32} {time.perf_counter() - began:>8.1f} {used.ru_maxrss / 1024:>8.0f}", flush=True)


def simulated(file: Path, people: int, days: int) -> None:
    import trajlab as tl

    file.parent.mkdir(parents=True, exist_ok=True)
    with tl.open(file) as lab:
        lab.ingest(tl.simulate(people=people, days=days, seed=1), tz="Europe/Lisbon")
        lab.risk(lab.release("square:500", "30min"), "top:1")  # makes the traces


def measure(file: Path, knowledge: str, memory_limit: str) -> dict[str, object]:
    import trajlab as tl

    with tl.open(file, memory_limit=memory_limit, threads=2) as lab:
        release = lab.table("counts.release")["release_id"].item()
        base, began = _peak(), time.perf_counter()
        risk = lab.risk(release, knowledge)
        seconds, peak = time.perf_counter() - began, _peak()
        columns = "trace, known, k, found, pick_chance, mean_pick_chance, combinations"
        rows = f"select {columns} from metrics.anonymity where risk_id = $id order by trace"
        answer = lab.sql(rows, id=risk.id).write_csv()
        visits = lab.sql("select sum(visits)::bigint from study.traces").item()
    digest = hashlib.sha256(answer.encode()).hexdigest()[:12]
    return {"seconds": seconds, "base": base, "peak": peak, "answer": digest, "visits": visits}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
