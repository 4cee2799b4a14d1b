"""A lab on a cluster: the verbs that run on shards, and one message for those that do not."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from trajlab.cluster import Runner
from trajlab.cluster.folder import Folder
from trajlab.cluster.ingest import ingest
from trajlab.cluster.store import ClusterStore
from trajlab.errors import IngestError, LabError, RiskError
from trajlab.ingest import Ingested
from trajlab.lab import Lab
from trajlab.query import Query
from trajlab.release import Release
from trajlab.store import Store

if TYPE_CHECKING:
    from trajlab.attacks.run import Run
    from trajlab.decide.policy import Policy
    from trajlab.decide.run import Decision
    from trajlab.risk.run import Risk
    from trajlab.risk.traces import Traces

SHARDS = 16
ON_SHARDS = ("ingest", "release", "risk")
READING = ("published", "table", "sql", "describe", "report", "figure", "export", "geo")
"""Verbs that build tables on shards, and those that read what is there."""
ALSO = ("decide", "certificate", "geography", "embedded", "close")
COMMANDS = (*ON_SHARDS, "decide", "geography", "sql", "describe", "report", "figure", "export")
"""What the command line has of them."""


def open_cluster(
    path: str | Path,
    *,
    session: Any = None,
    master: str | None = None,
    runner: Runner | None = None,
    shards: int | None = None,
    task_memory: str | None = None,
    read_only: bool = False,
    quiet: bool = False,
) -> ClusterLab:
    """Open a folder that every worker sees as a lab on a cluster, making it when it is new or empty."""
    if "://" in str(path):
        raise LabError(f"{str(path)!r} is a URL: a cluster lab is a folder that the driver and all workers see")
    if read_only:
        raise LabError("read_only is for the embedded engine: tl.open(folder, read_only=True) reads a cluster lab")
    if runner is None:
        from trajlab.cluster.spark import Spark, refuse_without_pyspark, start_session

        refuse_without_pyspark()
        if session is None and master is None:
            raise LabError("engine='spark' needs a Spark session: tl.open(folder, engine='spark', session=spark)")
        runner = Spark(session if session is not None else start_session(str(master)))
    path = Path(path).expanduser()
    folder = Folder.open(path) if Folder.is_one(path) else Folder.make(path, SHARDS if shards is None else shards)
    if shards is not None and shards != folder.shards:
        raise LabError(f"{path.name} has {folder.shards} shards, which cannot change: leave out shards={shards}")
    return ClusterLab(ClusterStore(folder, runner, task_memory=task_memory), quiet=quiet)


class ClusterLab(Lab):
    """The same verbs as far as they go: see `ON_SHARDS`; reading goes through DuckDB over the same tables."""

    _store: ClusterStore

    def ingest(
        self,
        source: Any,
        *,
        kind: str = "gps",
        tz: str | None = None,
        columns: dict[str, str] | None = None,
        stations: Any = None,
        places: Any = None,
        drop_single_location: bool = False,
    ) -> Ingested:
        """Read Parquet and CSV files that every worker sees into `records`, as the embedded engine would."""
        if places is not None:
            raise IngestError(f"places= means nothing for kind {kind!r}")
        with self._store.transaction("ingest"), self._progress.step("ingest"):
            done = ingest(
                self._store,
                source,
                kind=kind,
                tz=tz,
                columns=columns,
                stations=stations,
                drop_single_location=drop_single_location,
            )
            self._store.build(Query.load("records.tally"))
        return done

    def release(self, *args: Any, **settings: Any) -> Release:
        """As on the embedded engine, of everybody; a group or a population is for that one."""
        if settings.get("group") is not None or settings.get("population") is not None:
            raise LabError("a release of a group or population is made by the embedded engine alone")
        return super().release(*args, **settings)

    def risk(
        self,
        of: Release | Run | Traces | str,
        knowledge: str,
        *,
        basis: str = "slots",
        seed: int = 0,
        sample: int | None = None,
        **settings: Any,
    ) -> Risk:
        """As on the embedded engine, of the true traces behind a release; recovered or protected ones are for that."""
        from trajlab.cluster.risk import measure
        from trajlab.risk import run

        run.parse_question(knowledge, seed=seed, sample=sample, settings=settings)
        name = of if isinstance(of, str) else of.id
        if self._store.rows("select 1 from study.run where run_id = $id", id=name):
            raise LabError(f"tracks of run {name} are searched by the embedded engine alone: lab.embedded()")
        searched = self._traces(of, basis)
        return measure(
            self._store, searched, knowledge, seed=seed, sample=sample, settings=settings, progress=self._progress
        )

    def decide(
        self,
        release: Release | str,
        policy: str | Path | Policy,
        *,
        exceptions: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> Decision:
        """As on the embedded engine, which asks the rules: what it would search true traces for is found on shards."""
        from trajlab.decide.policy import Policy
        from trajlab.decide.rules.singling_out import SinglingOut

        given = release if isinstance(release, str) else release.id
        asked = Policy.load(policy).excepting(exceptions or {})
        elsewhere = []
        for rule in asked.rules:
            if isinstance(rule.rule, SinglingOut) and rule.rule.searched == "traces":
                with suppress(RiskError):  # the rule says it again
                    self.risk(given, rule.rule.knowledge, seed=seed)
            else:
                elsewhere.append(rule.name)
        if elsewhere and not self._progress.quiet:
            print(f"on this machine, not on shards: {', '.join(dict.fromkeys(elsewhere))}", file=sys.stderr)
        with self._on_this_machine() as lab:
            return lab.decide(given, policy, exceptions=exceptions, seed=seed)

    def certificate(self, decision: Decision | str, path: str | Path) -> list[Path]:
        with self._on_this_machine() as lab:
            return lab.certificate(decision, path)

    @contextmanager
    def _on_this_machine(self) -> Iterator[Lab]:
        """The same folder on the embedded engine, for as long as the block lasts."""
        folder, runner, task_memory = self._store.folder, self._store.runner, self._store.task_memory
        self.close()
        try:
            with Lab(Store(str(folder.path), folder=folder), quiet=self._progress.quiet) as lab:
                yield lab
        finally:
            self._store = ClusterStore(folder, runner, task_memory=task_memory)

    def embedded(self, *, memory_limit: str | None = None, threads: int | None = None) -> Lab:
        """Close this lab and open its folder on the embedded engine, for all that does not run on shards."""
        path, quiet = self._store.folder.path, self._progress.quiet
        self.close()
        store = Store(str(path), memory_limit=memory_limit, threads=threads, folder=Folder.open(path))
        return Lab(store, quiet=quiet)

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name not in (*ON_SHARDS, *READING, *ALSO) and hasattr(Lab, name):
            return _refuse(name)
        return super().__getattribute__(name)


def refusal(verb: str) -> LabError:
    return LabError(
        f"{verb} does not run on a cluster, where there are {', '.join(ON_SHARDS)}; the embedded engine does the rest "
        "over the same folder: lab.embedded(), or the command without --engine spark"
    )


def _refuse(verb: str) -> Any:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise refusal(verb)

    return refuse
