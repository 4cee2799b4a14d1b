"""`python -m bench` runs every benchmark, one after another, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = (
    "h3_assign",
    "simulate",
    "small_files",
    "pipeline",
    "recovery",
    "ties",
    "published",
    "protection",
    "habits",
    "risk",
    "risk_top",
    "adversaries",
    "membership",
    "differencing",
    "memory",
    "schedule",
    "utility",
    "study",
    "report",
)

for name in BENCHMARKS:
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, "-m", f"bench.{name}"], check=True)
