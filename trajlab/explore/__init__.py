"""A playground on one lab: look at its releases, attacks and adversaries, and ask it in SQL, in a browser.

It is for the person who has the lab, on the machine that has it: it listens on loopback alone, answers only those
who know the random part of its address, and only under its own name (so that no page from elsewhere can pass for
it). It opens the lab for reading, in a sandbox that has no files, no extensions and no settings to change. The
pages are those of the report and a box for SQL; there is nothing to install and nothing that runs when it is closed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

SECONDS, ROWS = 30, 1000
MEMORY = "2GB"


def serve(
    path: Path,
    *,
    port: int = 0,
    seconds: float = SECONDS,
    rows: int = ROWS,
    memory_limit: str | None = None,
    threads: int | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the playground until interrupted; says the address to open first.

    A query is stopped after `seconds` and shows at most `rows`. Port 0 takes any that is free.
    """
    from trajlab.explore.sandbox import Sandbox
    from trajlab.explore.server import Server

    with (
        Sandbox(path, seconds=seconds, rows=rows, memory_limit=memory_limit or MEMORY, threads=threads) as sandbox,
        Server(sandbox, port=port, token=secrets.token_urlsafe(24)) as server,
    ):
        say(f"{path.name} at {server.address}")
        say("Open it in a browser on this machine; Ctrl-C ends it.")
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            sandbox.stop()
            say("closed")
