"""Open a lab: a file, memory, or a folder that a cluster made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from trajlab.cluster.folder import Folder
from trajlab.errors import LabError
from trajlab.lab import Lab
from trajlab.store import Store


def open_lab(
    path: str | Path = ":memory:",
    *,
    engine: str = "duckdb",
    memory_limit: str | None = None,
    threads: int | None = None,
    read_only: bool = False,
    quiet: bool = False,
    session: Any = None,
    shards: int | None = None,
) -> Lab:
    """Open a lab file, creating it when it is not there; ":memory:" leaves no file.

    `memory_limit` ("4GB") and `threads` bound what the engine may use; beyond the limit
    it spills to disk beside the lab. Nothing computed depends on either. `quiet` lab says
    nothing on stderr of how far long work is.

    The first new lab of a version takes a second, most of it for the words that describe every column. A blank
    one is kept beside Python's compiled modules, and every further lab is a copy of it, in a twentieth of that. The
    environment variable `TRAJLAB_CACHE` names another folder for it; left empty, nothing is kept.

    With engine="spark" the lab is a folder that all workers of a cluster see, `session` is a Spark session,
    `shards` says how many parts a new folder divides people into, and `memory_limit` holds in each task
    (docs/cluster.md). Such a folder opens without engine= too: DuckDB then reads the same tables here.
    """
    if engine == "spark":
        from trajlab.cluster.lab import open_cluster  # what a lab without a cluster need not load

        return open_cluster(
            path, session=session, shards=shards, task_memory=memory_limit, read_only=read_only, quiet=quiet
        )
    if session is not None or shards is not None:
        raise LabError("session= and shards= go with engine='spark'")
    place = os.path.expanduser(path)  # noqa: PTH111  leaves an unknown home as it is
    folder = Folder.open(place) if str(path) and Folder.is_one(place) else None
    store = Store(
        str(path), engine=engine, memory_limit=memory_limit, threads=threads, read_only=read_only, folder=folder
    )
    return Lab(store, quiet=quiet)
