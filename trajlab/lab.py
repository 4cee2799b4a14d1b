"""Lab: the open study. Thin verbs, each calling one stage, each all or nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from trajlab.engine.duckdb import translate_errors
from trajlab.errors import IngestError, LabError, ReleaseError, RiskError, ScheduleError, UnknownNameError
from trajlab.progress import Progress
from trajlab.query import Query, describe
from trajlab.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import polars as pl

    from trajlab.attacks.run import Run
    from trajlab.certificate import Verification
    from trajlab.cubes import Cube
    from trajlab.cubes.run import CubeRisk, CubeRuns
    from trajlab.decide.groups import CubeDecision
    from trajlab.decide.policy import Policy
    from trajlab.decide.run import Decision
    from trajlab.differencing.ledger import Published
    from trajlab.differencing.run import Differencing
    from trajlab.export import Exported
    from trajlab.figures import Drawn
    from trajlab.ingest import Ingested
    from trajlab.membership.run import Membership
    from trajlab.prepare import Prepared, Recipe
    from trajlab.protect._audit import Audit
    from trajlab.release import Release
    from trajlab.release.box import Box
    from trajlab.risk.run import Risk
    from trajlab.risk.traces import Traces
    from trajlab.schedule import Leak
    from trajlab.study.recommend import Recommendation
    from trajlab.study.run import Study
    from trajlab.study.whole import WholeStudy
    from trajlab.utility import Utility
    from trajlab.utility.counts import CountUtility
    from trajlab.utility.tradeoff import Tradeoff


class Lab:
    """One study in one file: records in, releases and answers out."""

    def __init__(self, store: Store, *, quiet: bool = False) -> None:
        self._store = store
        self._progress = Progress(quiet=quiet)

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
        """Read files, folders or frames into `records.fix`; refused rows go to `records.rejected`.

        `kind` is gps, cdr, wifi, geolife, porto, multimno or bandicoot. `tz` is the zone of times that carry
        none, and the local zone of the records. `columns` maps canonical names to the
        file's own ({"uid": "device"}). `stations` and `places` are reference tables, as
        files or frames. Ingesting the same data twice adds nothing.
        """
        from trajlab.ingest import ingest

        watched = self._progress.step("ingest", poll=self._store.engine.percent_done)
        with self._store.transaction("ingest"), watched:
            done = ingest(
                self._store.con,
                source,
                kind=kind,
                tz=tz,
                columns=columns,
                stations=stations,
                places=places,
                drop_single_location=drop_single_location,
                progress=self._progress.label,
            )
            self._store.build(Query.load("records.tally"))
        return done

    def geography(self, *, stations: Any = None, places: Any = None, zones: str | Path | None = None) -> list[str]:
        """Load reference tables: base stations, named places, zones (GeoJSON or GeoParquet).

        Returns notes on what was read. Zones replace those given before; stations and places are
        added to them, and one with the same id replaces it.
        """
        from trajlab.ingest import add_places, add_stations
        from trajlab.spatial.zones import read_zones

        if stations is None and places is None and zones is None:
            raise IngestError("nothing to load: give stations, places or zones")
        notes: list[str] = []
        with self._store.transaction("geography"):
            if stations is not None:
                notes += add_stations(self._store.con, stations)
            if places is not None:
                notes += add_places(self._store.con, places)
            if zones is not None:
                frame, zone_notes = read_zones(Path(zones))
                self._store.clear(Query.load("records.zone"))
                self._store.insert("records.zone", frame.rename({"zone": "name", "polygon": "outline"}))
                notes += [*zone_notes, f"{len(frame)} zones read"]
        return notes

    def release(
        self,
        index: str = "square:500",
        slot: str | int | dt.timedelta = "30min",
        fill: str = "static",
        *,
        tz: str | None = None,
        start: str | dt.date | None = None,
        days: int | None = None,
        align: bool = False,
        coverage: float = 0.0,
        min_count: int = 1,
        people: int | None = None,
        seed: int = 0,
        box: Box | None = None,
        outside: str = "drop",
        group: tuple[str, str] | None = None,
        protect: str | Sequence[str] = (),
        population: str | None = None,
    ) -> Release:
        """Publish counts per cell and slot; the same request twice is built once.

        `index` is a spec such as "square:500", "h3:8", "stations", "stations:800", "zones",
        "places", "inspire:1000", "quadkey:15" or "square:like=h3:8". `fill` is static, linear or none. `start` and
        `days` choose the period (local dates); with `align` each person's best-covered stretch of
        `days` days is laid onto it, weekday on weekday. `coverage` leaves out people with
        records in a smaller share of slots; `people` keeps a seeded sample of that size.
        A lab with fewer is refused. `box` (west, south, east, north) is the study box, by default
        one around all tenths of a degree where many people were; `outside` says what happens to
        points beyond it: drop, or clamp to its edge. `group` keeps the people of one group alone: what they
        are divided by, `home:<index>` or a column of `people`, and a value of it.
        `protect` lists what is done to the counts before they are
        published, in order, such as ["generalise:h3:7", "suppress:15", "round:5"] (`trajlab release --help`
        has them all): the release without it is made and kept too. `population` keeps the people whom a study
        pinned (`study.population`). The result has `notes` on what was left out, moved or filled in (`study.note`).
        """
        from trajlab.release.making import Settings, make_release
        from trajlab.release.slots import slot_seconds

        settings = Settings(
            index=index,
            slot=slot_seconds(slot),
            fill=fill,
            tz=tz,
            start=None if start is None else str(start.date() if isinstance(start, dt.datetime) else start),
            days=days,
            align=align,
            coverage=float(coverage),
            min_count=min_count,
            people=people,
            seed=seed,
            box=box,
            outside=outside,
            group=group,
            protect=(protect,) if isinstance(protect, str) else tuple(protect),
            population=population,
        )
        return make_release(self._store, settings, self._progress)

    def cube(
        self,
        release: Release | str | Mapping[str, Any],
        by: str,
        *,
        weights: str | None = None,
        min_count: int | None = None,
        protect: str | Sequence[str] = (),
    ) -> Cube:
        """Counts and flows by an attribute of people: place by hour by home area, as statistical offices publish them.

        `release` is one that the lab made, its id, or settings of `release`. `by` is `home:<index>`, such as
        home:zones or home:h3:6, for where people spend most nights, or a column of `people`; those who have no value
        are the group "unknown". `weights` is a column that says how many people each stands for: its sum is
        `weighted`. Counts of fewer than `min_count` different people are left out (as in the release, unless
        you say), whatever they weigh. `protect` is a recipe as in `release`, that of the release unless you say:
        cells and slots become larger before people are divided, the counts of each group go through the rest.
        Counts are in `counts.cube`, flows in `counts.flow_cube`.
        """
        from trajlab.cubes import make_cube

        made = self.release(**release) if isinstance(release, Mapping) else self._given(release)
        return make_cube(
            self._store, made.id, by, weights=weights, min_count=min_count, protect=protect, progress=self._progress
        )

    def attack_cube(
        self, cube: Cube | str, attack: str, *, seed: int = 0, pairing: str = "both", **settings: Any
    ) -> CubeRuns:
        """Attack every group of a cube as a table of its own; the rest is as in `attack`.

        Scores of each group, of all together, and of the plain counts where they were attacked too, are in
        `report.cube_recovery`. Groups that cannot be attacked, such as one person's, are named there with the reason.
        """
        from trajlab.cubes import load_cube
        from trajlab.cubes.run import attack_groups

        found = load_cube(self._store, cube if isinstance(cube, str) else cube.id)
        return attack_groups(
            self._store, found, attack, seed=seed, pairing=pairing, settings=settings, progress=self._progress
        )

    def risk_cube(
        self, cube: Cube | str, knowledge: str, *, basis: str = "slots", seed: int = 0, **settings: Any
    ) -> CubeRisk:
        """In how large a crowd people hide within their group, and among everybody: publishing by group divides crowds.

        The rest is as in `risk`. Both answers stand side by side in `report.cube_risk`.
        """
        from trajlab.cubes import load_cube
        from trajlab.cubes.run import measure_groups

        found = load_cube(self._store, cube if isinstance(cube, str) else cube.id)
        return measure_groups(
            self._store, found, knowledge, basis=basis, seed=seed, settings=settings, progress=self._progress
        )

    def published(self, release_id: str) -> Release:
        """A release that this lab made before, by its id."""
        from trajlab.release.making import load_release

        with translate_errors("reading a release"):
            return load_release(self._store, release_id)

    def attack(
        self, release: Release | str, attack: str, *, seed: int = 0, pairing: str = "both", **settings: Any
    ) -> Run:
        """Recover tracks from a release and score them; the same request twice is run once.

        `attack` is xu2017, dsilva2024, habits, or one of the yardsticks shuffle and stay, which run
        beside every attack. `settings` are the attack's own (night_hours, direct_link_below,
        lookback). Tracks are in `attacks.track`, the proof of each step in `attacks.step`,
        scores in `metrics.*` and, side by side, in `report.every_metric`. `pairing` says how
        tracks are paired with people for the scores: optimal, greedy or both; optimal is for
        up to 5,000 people, above which both means greedy. `release` may be an id; one made
        elsewhere (`Release.from_matrix`) is kept in the lab, and scored where no truth is needed.
        """
        from trajlab.attacks.run import run

        return run(
            self._store,
            self._given(release),
            attack,
            seed=seed,
            settings=settings,
            pairing=pairing,
            progress=self._progress,
        )

    def attack_by_day(
        self,
        release: Release | str,
        attack: str = "dsilva2024",
        *,
        seed: int = 0,
        pairing: str = "both",
        **settings: Any,
    ) -> Iterator[Run]:
        """The same, a `Run` after each day: what is stored so far can be read between them.

        Stop whenever you like: the days done stay in the lab, and asking again goes on from
        there. Scores come after the last day.
        """
        from trajlab.attacks.run import run_by_day

        return run_by_day(
            self._store,
            self._given(release),
            attack,
            seed=seed,
            settings=settings,
            pairing=pairing,
            progress=self._progress,
        )

    def feasibility(self, release: Release | str, *, seed: int = 0) -> None:
        """How regular and how singular the people behind a release are (xu2017, figures 2 to 7).

        Builds `metrics.place_share`, `night_places`, `night_share`, `prediction_error` and
        `day_gain`, and answers as many questions of `risk` as `metrics.singled_out` shows: up to five most
        frequent places, points, and points in a row. They read the truth, so the release, or the one
        of that id, must be the lab's own.
        """
        from trajlab.metrics.feasibility import build

        build(self._store, release if isinstance(release, str) else release.id, seed=seed, progress=self._progress)

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
        """In how large a crowd people hide from somebody who knows a little of them.

        `of` is a release, what `protect` made of one, or an attack run, whose recovered tracks
        are then searched with what is known of the true people. `knowledge` is such as top:2,
        top:3:unordered, points:4, cont:3, locations:2, homework (`trajlab risk --help` lists
        them). `basis` says what counts as a visit of a release: slots (filled ones included),
        observed, or records. Everybody is looked for, or a seeded `sample`; all traces are
        searched in either case. Everybody's k is in `metrics.anonymity`, the summary
        in `metrics.risk` and `metrics.anonymity_curve`.
        """
        from trajlab.risk import run as risk
        from trajlab.risk import traces

        risk.parse_question(knowledge, seed=seed, sample=sample, settings=settings)
        searched = self._traces(of, basis)
        known = searched
        if searched.run_id is not None:
            known = traces.of_release(self._store, searched.release_id, "slots", self._progress)
        return risk.measure(
            self._store,
            known,
            searched,
            knowledge,
            seed=seed,
            sample=sample,
            settings=settings,
            progress=self._progress,
        )

    def membership(
        self,
        release: Release | str,
        *,
        adversary: str = "reference",
        reference: str | None = None,
        sizes: Sequence[int] | None = None,
        targets: int = 100,
        groups: int = 100,
        recipes: str | Sequence[str | Sequence[str]] | None = None,
        seed: int = 0,
    ) -> Membership:
        """Whether it shows in the published table that a person is in it: a likelihood-ratio test.

        Groups of people of the release are drawn, half of them with the target, counted, and published by the
        release's own recipe, or by each of `recipes` (["exact", "suppress:10", "suppress:10, round:5"]) on the
        same people. `sizes` are those of the groups (100, 1,000 and 10,000 unless you say, as far as there are
        twice as many people). The adversary `reference` watched everybody in the earlier half of the period
        (reference="earlier", the table is the later half), besides has the target's own trace ("period"), or has the
        traces of every second person and the target's own ("people"). `release-only` has the table and the
        target's own trace. AUC, advantage and the true positive rate at 1 % false positives are in
        `metrics.membership`, targets in `metrics.membership_score`, the curve in `metrics.membership_roc`;
        the same question twice is answered once. The release must be the lab's own.
        """
        from trajlab.membership.question import Question, parse_recipes
        from trajlab.membership.run import measure

        question = Question(adversary, reference, None if sizes is None else tuple(sizes), targets, groups, seed)
        given = parse_recipes(recipes)
        return measure(self._store, self._given(release), question, given, self._progress)

    def schedule(
        self,
        timetable: Any = "grid:60min",
        of: Release | Run | Traces | str | None = None,
        *,
        points: int = 3,
        short: str = "all",
        min_k: int = 4,
        keep: float = 0.6,
        holidays: Sequence[str | dt.date] = (),
        basis: str | None = None,
        seed: int = 0,
        sample: int | None = None,
        truth: Any = None,
    ) -> Leak:
        """What people's anonymity sets give away of their weekly schedules (ma2017).

        `timetable` is a CSV or TOML file or a frame with weekday, from and to; `grid:30min` for the
        whole week in equal slots; or `found`, `found:classroom-*`, read off arrivals at and
        departures from places with such names. `of` is a release (the only one, unless you say),
        what `protect` made of one, or an attack run, whose recovered tracks are searched for what
        is true of people. Known are `points` of everybody, drawn at random; people with fewer are
        known by all of theirs (short="all") or left out (short="drop"). A place is a habit with
        more than `keep` of the weeks. `basis` is that of `risk`, of a release the records unless you
        say: lessons begin and end at minutes, not at slots. `holidays` are dates to skip. With `truth`, true timetables
        (uid, weekday, from, to, place), `metrics.extraction` says how well schedules were read.

        Schedules are in `slots.schedule`, everybody's answer is in `metrics.person_leak`, the
        summary in `metrics.leak`, for sets of at least 2, 4, 8 ... and `min_k`.
        """
        from trajlab import schedule

        question = schedule.Question(points, short, min_k, keep, seed, sample)
        slots, skipped, lessons = schedule.parse_settings(timetable, holidays, truth)  # before anything is made
        return schedule.leakage(
            self._store,
            self._traces(self._only_release() if of is None else of, basis, otherwise="records"),
            slots,
            question,
            holidays=skipped,
            lessons=lessons,
            progress=self._progress,
        )

    def remedies(
        self,
        timetable: Any,
        *,
        index: str | Sequence[str] = "places",
        slot: str | int | dt.timedelta | Sequence[str | int | dt.timedelta] = "30min",
        fill: str = "none",
        basis: str = "observed",
        release: dict[str, Any] | None = None,
        **question: Any,
    ) -> pl.DataFrame:
        """How far schedule leakage falls when places are merged or slots lengthened, all else equal.

        Give what is to vary as a list, the finest first: the others are compared with it. One
        release is made for each (`release` holds further settings of it), and the same question
        (settings of `schedule`) asked of it. What is known and what there is to learn are then
        slots of that release: with a longer one both are blurred.
        """
        from trajlab.schedule.remedy import remedies

        made = {"fill": fill, **(release or {})}
        return remedies(self, timetable, index=index, slot=slot, basis=basis, release=made, question=question)

    def _only_release(self) -> str:
        from trajlab.report import listing

        known = listing.of_everybody(self.sql(listing.RELEASES).to_dicts())
        if len(known) == 1:
            return str(known[0]["release_id"])
        which = f"the lab has {len(known)} releases: say which; there are: {'; '.join(listing.lines(known))}"
        there = which if known else "the lab has no release yet: make one"
        raise ScheduleError(f"schedules are those behind a release, and {there}")

    def protect(
        self, release: Release | Traces | str, protection: str, *, basis: str = "slots", key: str | None = None
    ) -> Traces:
        """The traces behind a release as they may be published: cut:6h divides everybody's time into windows.

        Every (person, window) gets a fresh id from a key that the lab draws and keeps, or from `key`,
        at least 16 characters, for the same ids in another lab. The result can be handed to `risk`.
        """
        from trajlab.protect import load_traces
        from trajlab.protect.run import protect

        load_traces(protection)  # one that does not exist is refused before traces are made
        return protect(self._store, self._traces(release, basis), protection, key=key, progress=self._progress)

    def audit(self, release: Release | str, *, seed: int = 0) -> Audit:
        """Whether the noise of a release hides as much as it claims: a bound of ε from draws of its own.

        The bound is below the true ε in 95 of 100 audits, so one above the claim contradicts it. It is about
        the noise as it is drawn, and asks nothing of the records.
        """
        from trajlab.protect._audit import audit_recipe

        given = self._given(release)
        return audit_recipe(given.recipe, given.slots, given.slots_per_day, seed=seed)

    def publish(self, release: Release | Cube | str, date: str | dt.date, *, note: str | None = None) -> Published:
        """Write down in `study.published` that a release, or a cube, is out since a date such as "2026-11-18".

        What is out stays out: another date is refused, and nothing is withdrawn. `report.published` has the ledger
        with the ε that is spent by then, `report.published_recovery` what attacks recover of all that is out.
        """
        from trajlab.differencing.ledger import publish

        return publish(self._store, release if isinstance(release, str) else release.id, date, note)

    def differencing(
        self,
        release: Release | Cube | str,
        *,
        beside: Sequence[Release | Cube | str] | None = None,
        width: int = 3,
        least: int = 5,
    ) -> Differencing:
        """Which hidden counts follow from a release and everything published beside it, and by which sum.

        Beside it are all releases and cubes that are out (`publish`) and those in `beside`. A hidden count is
        disclosed when it is known exactly, or to less than `width` people; a listed one when fewer than `least`
        different people are behind it, whatever number is listed. Disclosed counts of all of these tables, with the
        sum that reveals each, are in `metrics.disclosure` and the result's `disclosed`, the numbers in
        `study.differencing`; the same audit twice is made once.
        """
        from trajlab.differencing.run import audit

        named = (
            beside
            if beside is None or isinstance(beside, str)
            else [each if isinstance(each, str) else each.id for each in beside]
        )
        given = release if isinstance(release, str) else release.id
        return audit(self._store, given, beside=named, width=width, least=least, progress=self._progress)

    def protected_records(self, traces: Traces | str, path: str | Path) -> int:
        """Write the records behind protected traces to a new Parquet or CSV file, under their fresh ids."""
        from trajlab.protect._records import protected_records

        return protected_records(self._store, self._traces(traces, "slots"), Path(path))

    def people(self, people: Any) -> list[str]:
        """Read a table of people, `uid` and whatever else is known of them, so that risk is given by group too.

        A frame or a CSV or Parquet file. Returns notes on what was read; groups are in
        `metrics.risk_by_group`.
        """
        from trajlab.risk.traits import add

        with self._store.transaction("people"):
            return add(self._store, people, self._progress)

    def smallest_set(
        self, of: Release | Run | Traces | str, uid: str, *, most: int = 5, basis: str = "slots", limit: int = 500_000
    ) -> pl.DataFrame:
        """The fewest places-at-times of one person that nobody else shares, and how the crowd thins out.

        Exact: what would take more than `limit` beginnings of sets is refused.
        """
        from trajlab.risk.smallest import smallest_set

        with self._store.transaction("the smallest set"):
            traces = self._traces(of, basis)
            found = self._store.rows(
                "select trace.trace from slots.trace as trace join records.person as person using (person) "
                "where trace.traces_id = $id and person.uid = $uid order by trace.part",
                id=traces.id,
                uid=str(uid),
            )
            if len(found) != 1:
                raise RiskError(f"the person asked for has {len(found)} traces in {traces.id}; exactly one is needed")
            return smallest_set(self._store, traces.id, found[0][0], most=most, limit=limit)

    def _traces(self, of: Release | Run | Traces | str, basis: str | None, *, otherwise: str = "slots") -> Traces:
        from trajlab.attacks.run import Run
        from trajlab.release import Release
        from trajlab.risk import traces

        if not isinstance(of, str | Release | Run | traces.Traces):
            raise RiskError(f"traces are those of a release, of a run or of protect, or an id, not {type(of).__name__}")
        with translate_errors("the traces to search"):
            name = of if isinstance(of, str) else of.id
            return traces.find(self._store, name, basis, self._progress, otherwise=otherwise)

    @overload
    def study(
        self, file: str | Path, *, yes: bool = False, runs: int | None = None, minutes: float | None = None
    ) -> WholeStudy: ...

    @overload
    def study(
        self,
        file: None = None,
        *,
        attack: str | Sequence[str] = "xu2017",
        index: str | Sequence[str] = "square:500",
        slot: str | int | dt.timedelta | Sequence[str | int | dt.timedelta] = "30min",
        people: int | Sequence[int | None] | None = None,
        protect: str | Sequence[str | None] | None = None,
        seed: int = 0,
        pairing: str = "both",
        **settings: Any,
    ) -> Study: ...

    def study(
        self,
        file: str | Path | None = None,
        *,
        yes: bool = False,
        runs: int | None = None,
        minutes: float | None = None,
        attack: str | Sequence[str] = "xu2017",
        index: str | Sequence[str] = "square:500",
        slot: str | int | dt.timedelta | Sequence[str | int | dt.timedelta] = "30min",
        people: int | Sequence[int | None] | None = None,
        protect: str | Sequence[str | None] | None = None,
        seed: int = 0,
        pairing: str = "both",
        **settings: Any,
    ) -> Study | WholeStudy:
        """Vary cells, slots, people or protection, all else equal, and attack each release (xu2017, section 5.3).

        `file`, a study.toml, varies whatever it lists and asks every question that it names of the same people:
        attacks, adversaries, utility, membership, schedules (docs/study.md). Each step is done once and kept: after a
        kill, the same call goes on. A study beyond its budget (`runs`, `minutes`, or those of the file) is
        refused unless `yes`.

        Without a file, give what is to vary as a list; a recipe of `protect` is a text such as "suppress:15" or
        "suppress:15 round:5",
        None for counts as they are (`report.protection` puts them side by side). `settings` are those of `release`.
        The result has a `table`, a `chart()` and `save("study.svg")`; releases and runs are kept in the lab and
        made once.
        """
        if file is not None:
            from trajlab.study.whole import whole_study

            return whole_study(self, file, yes=yes, runs=runs, minutes=minutes)
        from trajlab.study.run import study

        return study(
            self,
            attack=attack,
            index=index,
            slot=slot,
            people=people,
            protect=protect,
            seed=seed,
            pairing=pairing,
            **settings,
        )

    def recommend(
        self,
        release: Release | str,
        *,
        policy: str | Path | None = None,
        risk: str | None = None,
        index: Sequence[str] | None = None,
        slot: Sequence[str | int] | None = None,
        suppress: Sequence[int] | None = None,
        round: Sequence[int] | None = None,  # noqa: A002
        eps: Sequence[float] | None = None,
        unit: str = "person-day",
        seed: int = 0,
        thorough: bool = False,
    ) -> Recommendation:
        """The least change of a release that passes a policy: the cheapest three, what each loses, the command for it.

        Without a policy, the frontier: changes that none beats in both risk and loss. `index` and `slot` list larger
        cells and longer slots, `suppress` thresholds, `round` steps, `eps` those of noise for `unit`, each from weak
        to strong; by default cells and slots of twice and four times the size, and the thresholds, rounding and noise
        that the policy asks for, or thresholds of 5 to 20 and rounding to 5. `risk` is an attack (xu2017), what is
        known (points:4) or membership. A higher threshold, coarser rounding or more noise is taken to have no more
        risk, so most are not measured; `thorough` measures all. The result has `table`, `frontier`, `main_points`,
        `cheapest`, `chart()` and `save("recommend.png")`; rows are in `metrics.recommendation`.
        """
        from trajlab.study.recommend import recommend

        return recommend(
            self,
            self._given(release).id,
            policy=policy,
            risk=risk,
            index=index,
            slot=slot,
            suppress=suppress,
            round=round,
            eps=eps,
            unit=unit,
            seed=seed,
            thorough=thorough,
        )

    def utility(
        self,
        before: Release | str,
        after: Release | str,
        *,
        zones: str | Path | None = None,
        shortest: float = 5.0,
        longest: float = 100.0,
        pareto: float = 0.8,
        alpha: float = 0.05,
    ) -> Utility:
        """What generalising a release leaves of the flows between zones (yin2015): ten measures of loss.

        `after` is a release of the same people and period with larger cells, or just an index such as
        "stations:800"; of one whose counts are protected, the flows that it publishes are compared, slot by slot.
        `zones` are the lab's own, a GeoJSON or GeoParquet file, or the cells of an index such as
        "square:1000". A movement is two consecutive records in different cells; it is constrained when
        `shortest` to `longest` minutes lie between them. Major flows are the largest up to a share `pareto`, the
        backbone at significance `alpha`, and those of hotspots. Losses are in `metrics.utility`, the matrices in
        `metrics.od_flow`; the same comparison twice is made once.
        """
        from trajlab import utility
        from trajlab.utility import sides, targets

        settings = utility.Settings(shortest, longest, pareto, alpha)
        release = self._given(before).id
        with self._store.transaction("comparing flows"):
            origin = sides.before(self._store, release)
            to = utility.after(self._store, origin, after)
            target = targets.target(self._store, zones, origin.box)
            if to.protected and to.release_id is not None:
                raw = utility.Matrices(self._store, origin, target, settings, self._progress, flows=("raw",))
                return utility.compare_published(raw, to.release_id)
            side = sides.generalised(self._store, origin.side, to.index, to.box)
            matrices = utility.Matrices(self._store, origin, target, settings, self._progress)
            return utility.compare(matrices, side, to.min_count, to.release_id)

    def count_utility(self, release: Release | str, *, unprotected: Release | str | None = None) -> CountUtility:
        """How far the published table is from the unprotected one: relative error, what is hidden, order, distance.

        `unprotected` is the release that it is compared with, of the same cells and slots; by default the one it
        was made from. The result has `errors`, `by_hour` and `by_cell` (`metrics.count_error`,
        `metrics.count_error_by_hour`, `metrics.count_error_by_cell`), of people in cells and of flows between them,
        slot by slot; rows that are not published are lost. The same comparison twice is made once.
        """
        from trajlab.utility import counts

        published = self._given(release).id
        if unprotected is None:
            other = counts.unprotected(self._store, published, self._progress)
        else:
            other = self._given(unprotected).id
        with self._store.transaction("comparing counts"):
            return counts.compare(self._store, published, other, self._progress)

    def tradeoff(
        self,
        release: Release | str,
        index: Sequence[str] | None = None,
        *,
        zones: str | Path | Sequence[str | Path] | None = None,
        knowledge: str | Sequence[str] = ("top:2", "top:3", "points:4", "points:8"),
        measures: str | Sequence[str] = ("all", "pareto", "backbone", "hotspot", "commuters"),
        flows: str | Sequence[str] = ("raw", "constrained"),
        basis: str = "slots",
        scope: str = "all",
        seed: int = 0,
        sample: int | None = None,
        **settings: float,
    ) -> Tradeoff:
        """Generalise a release step by step: who is singled out still, what is lost, and the curve through both.

        `index` lists what the cells become, by default stations merged within 200 to 2,800 m in steps of 200
        (yin2015), or squares of that side where the release has other cells, and larger ones than its own only.
        `knowledge`, `basis` ("records" in yin2015), `seed` and `sample` are those of `risk`, `scope` is all,
        frequent or frequent_of_all;
        `zones` and `settings` are those of `utility`, and several sets of zones are drawn side by side. The result
        has `points`, `fits`, a `chart()` and `save("tradeoff.svg")`. Points are in `metrics.tradeoff`, curves in
        `metrics.tradeoff_fit`. Asking again adds only what is missing.
        """
        from trajlab.utility import Settings, tradeoff
        from trajlab.utility.generalised_risk import Questions

        def each(given: Any) -> tuple[Any, ...]:
            alone = isinstance(given, str | Path) or not isinstance(given, Iterable)
            return (given,) if alone else tuple(dict.fromkeys(given))

        for name in settings:
            if name not in ("shortest", "longest", "pareto", "alpha"):
                raise UnknownNameError("setting of utility", name, ("shortest", "longest", "pareto", "alpha"))
        plan = tradeoff.Plan(
            indexes=None if index is None else each(index),
            zones=each(zones),
            questions=Questions.of(each(knowledge), basis, seed, sample),
            measures=each(measures),
            flows=each(flows),
            scope=scope,
            settings=Settings(**settings),
        )
        return tradeoff.study(self._store, self._given(release).id, plan, self._progress)

    def decide(
        self,
        release: Release | str,
        policy: str | Path | Policy,
        *,
        exceptions: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> Decision:
        """May this release be published? Every rule of a policy, answered: pass, fail or review.

        `policy` is a preset such as "strict" (`trajlab policy --list`) or a TOML file. Attacks, risks and comparisons
        that its rules ask for are made, or used where the lab has them. `exceptions` are reasons by the name
        of a rule or its number: the whole is then decided without it, and the reason stays in the record. The
        result has `verdict` and `rules`; they are in `study.decision`, `metrics.verdict` and `report.verdict`. A
        rule that needs the people behind a release made elsewhere is under review.
        """
        from trajlab.decide.run import decide

        return decide(self, self._given(release), policy, exceptions=exceptions, seed=seed)

    def decide_cube(
        self,
        cube: Cube | str,
        policy: str | Path | Policy,
        *,
        exceptions: Mapping[str, str] | None = None,
        seed: int = 0,
    ) -> CubeDecision:
        """May this cube be published? Every rule of a policy, asked of every group; the worst group decides.

        The rest is as in `decide`. Groups are in `study.cube_decision`, rules with the group that keeps each worst
        in `report.cube_verdict`.
        """
        from trajlab.cubes import load_cube
        from trajlab.decide.groups import decide_groups

        found = load_cube(self._store, cube if isinstance(cube, str) else cube.id)
        return decide_groups(self, found, policy, exceptions=exceptions, seed=seed)

    def certificate(self, decision: Decision | str, path: str | Path) -> list[Path]:
        """Write a decision, or the one with this id, as a file that others can check: sealed JSON.

        The path ends with .json; a sheet of paper for the file of the data-protection officer is written beside it,
        as .html. The same records, release and policy give the same bytes. Returns the files.
        """
        from trajlab import certificate
        from trajlab.decide.run import load

        path = certificate.check_path(path)
        found = load(self, decision if isinstance(decision, str) else decision.id)
        return certificate.write(self._store, found.id, path)

    def verify(self, path: str | Path) -> Verification:
        """Does a certificate hold? Whole by its seal, and true by deciding again in this lab.

        `holds` of the result says so; `differences` name every number that this lab gives otherwise. Other
        versions of the software are told in `notes`. The lab must have the release. What it has computed already is
        used again: a lab made afresh from the records is the strictest check.
        """
        from trajlab import certificate

        return certificate.verify(self, path)

    def prepare(self, dataset: str | Recipe, download: str | Path) -> Prepared:
        """Make a sub-dataset of dsilva2024, table I, from its download: records and one release."""
        from trajlab.prepare import prepare

        return prepare(self, dataset, download)

    def _given(self, release: Release | str) -> Release:
        from trajlab.release import Release

        if isinstance(release, str):
            release = self.published(release)
        if not isinstance(release, Release):
            raise ReleaseError(f"a release, or its id, is needed here, not {release!r}")
        return replace(release, notes=())  # they are for the publisher; an attack sees what is published

    def table(self, name: str, **params: object) -> pl.DataFrame:
        """A relation of the lab as a polars frame, in the order of its key.

        `params` are the parameters of a macro (`release_id="r…"`); of a table or a view they choose the rows
        whose column of that name has the value.
        """
        query = Query.load(name)
        with translate_errors(f"reading {name}"):
            return self._store.relation(query, **params)

    def geo(self, name: str, **params: object) -> Any:
        """A relation about cells as a GeoDataFrame, where geopandas is installed; `params` as of `table`.

        A cell has its outline, a flow the line between the points of its cells, people who stay the point.
        """
        from trajlab.geoparquet import load_frame

        query = Query.load(name)
        with translate_errors(f"reading {name}"):
            return load_frame(self._store, query, **params)

    def sql(self, query: str, /, **params: object) -> pl.DataFrame:
        """The answer to one SELECT over the lab's tables; `$name` in it takes the value `name=`."""
        from trajlab import answer

        return answer.whole(self._store, query, params)

    def describe(self, table: str | None = None) -> str:
        """What a table holds: one row per what, and what each column means; all tables without a name."""
        return describe(table)

    def report(
        self, path: str | Path = "report.html", *, example_people: int = 0, backdrop: str | Path | None = None
    ) -> Path:
        """Write one self-contained page on what the lab holds; opens offline.

        `example_people` draws a true day of so many people beside what an attack recovered of it. Nobody's
        trace is in the page without it: ask for it where people are simulated, or agreed. `backdrop` is a GeoJSON
        file to draw behind the cells of maps, in place of land, water and borders.
        """
        from trajlab.report import write

        return write(self, Path(path), examples=example_people, backdrop=None if backdrop is None else Path(backdrop))

    def figure(self, name: str, path: str | Path | None = None, *, release: Release | str | None = None) -> Drawn:
        """A figure of a paper, such as xu2017-fig8a, from this lab's tables, with the published numbers marked.

        `path` writes it as .svg or .png; the result has the numbers in its `table`. `release` may be left out
        where only one has what the figure takes. `trajlab figure --list` says what there is.
        """
        from trajlab import figures

        drawn = figures.draw(self, name, release=None if release is None else self._given(release).id)
        if path is not None:
            figures.save(drawn, Path(path))
        return drawn

    def export(
        self,
        folder: str | Path,
        *,
        publishable: bool = False,
        form: str = "parquet",
        release: Release | str | None = None,
        cube: Cube | str | None = None,
        policy: str | Path | Policy | None = None,
        geo: bool = False,
    ) -> Exported:
        """Copy the lab's tables to files; `publishable` only those that hold nobody's trace, of one release.

        `release` says which, where the lab has several: they are never mixed in one folder. `cube` exports one
        instead, without the counts of its release. Beside them, datapackage.json says what they are (Frictionless
        Data Package 2); add `licenses` to it before you publish. `policy` asks `decide`
        first, and nothing is written unless it passes (`RefusedError`). The result is
        the list of files; its `notes` say what was exported and what else must not be published beside it.
        In CSV, text that a spreadsheet would take for a formula begins with an apostrophe; Parquet has it as it is.
        `geo` writes cells, counts, flows and exposure as GeoParquet 1.1, for GIS and kepler.gl: a column `geometry`
        with the outline of the cell, or the line of the flow. `form="multimno"` writes the counts of one release on
        the European grid as Eurostat's pipeline has the present population: grid_id, population and timestamp, in
        folders year=/month=/day=.
        """
        from trajlab.export import export, let_out

        chosen = release if release is None or isinstance(release, str) else self._given(release).id
        of_cube = cube if cube is None or isinstance(cube, str) else cube.id
        decision = None
        if policy is not None:
            if not publishable or cube is not None:
                raise LabError(
                    "a policy decides on a release that is published: give it with publishable, without cube"
                )
            decision = let_out(self, Path(folder), chosen, policy)
            chosen = decision["release_id"]
        return export(
            self._store,
            Path(folder),
            publishable=publishable,
            form=form,
            release=chosen,
            cube=of_cube,
            decision=decision,
            geo=geo,
        )

    def embedded(self, *, memory_limit: str | None = None, threads: int | None = None) -> Lab:
        """The lab on the embedded engine, for what a cluster does not do: its lab is closed, any other stays as it is.

        `lab.embedded().risk(release, "points:4")` reads on this machine what the cluster made.
        """
        return self

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            with translate_errors("looking at the lab"):
                ((people, records, releases),) = self._store.rows(
                    "select (select count(*) from records.person), (select count(*) from records.fix), "
                    "(select count(*) from counts.release)"
                )
        except LabError:
            return f"<Lab {self._store.path}, closed>"
        return f"<Lab {self._store.path}: {people:,} people, {records:,} records, {releases} releases>"
