"""A study of a file from end to end: every release of the same people, every question once, all in one table.

`whole_study(lab, "study.toml")` makes what the lab lacks, step by step. Each step is kept as it is done: a study that
was killed goes on from there when it is asked for again, and ends as if it had run through.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from trajlab import attacks, schedule
from trajlab.errors import AttackError, ReleaseError, StudyError
from trajlab.ids import digest
from trajlab.membership import recipe as channels
from trajlab.progress import duration
from trajlab.query import Query
from trajlab.query import step as step_sql
from trajlab.release.grid import records_fingerprint
from trajlab.release.making import make_release
from trajlab.risk import knowledge, traces
from trajlab.risk.run import measure_all
from trajlab.study.cost import Clock, Size, refuse_beyond
from trajlab.study.file import Budget, Design, read_study
from trajlab.study.plan import Plan, Step, make_plan, of_counts, unprotected
from trajlab.study.population import Population, find_population
from trajlab.utility.nesting import nesting_note

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.study.plan import Table

ORDER = ("index_name", "slot_minutes", "recipe", "seed", "result", "metric")


@dataclass(frozen=True, eq=False)
class WholeStudy:
    """The answers of a study; its rows in the lab carry `id` as study_id.

    `table` has the rows of report.study_metric: one for each release, seed and score. `steps` is how many releases,
    attacks and questions it took, `saved` how many sharing them saved, `made` how many were made just now. `notes`
    say what to know of the numbers.
    """

    id: str
    title: str
    table: pl.DataFrame
    notes: tuple[str, ...]
    people: int
    steps: int
    saved: int
    made: int

    def points(self, risk: str | None = None, loss: str | None = None) -> pl.DataFrame:
        """Risk beside loss, a row for each release: what `chart` draws. See `trajlab.study.points`."""
        from trajlab.study.points import points

        return points(self.table, risk, loss)

    def chart(self, risk: str | None = None, loss: str | None = None) -> str:
        """Risk against loss, a labelled point for each release, as the text of an SVG file."""
        from trajlab.report import risk_loss

        return risk_loss.svg(self.title, self.points(risk, loss))

    def save(self, path: str | Path, risk: str | None = None, loss: str | None = None) -> Path:
        """Write the chart: `.svg` or `.png` for the drawing alone, `.html` for a page with its numbers."""
        from trajlab.report import risk_loss, save

        found = self.points(risk, loss)
        return save(
            path,
            "study",
            svg=lambda: risk_loss.svg(self.title, found),
            html=lambda: risk_loss.html(self.title, found, self.notes),
        )

    def __repr__(self) -> str:
        releases = self.table["release_id"].n_unique()
        return (
            f"<WholeStudy {self.id} {self.title!r}: {releases} releases of {self.people:,} people, "
            f"{len(self.table):,} scores in {self.steps} steps, {self.saved:,} saved by sharing>"
        )


def whole_study(
    lab: Lab,
    file: str | Path | Design,
    *,
    yes: bool = False,
    runs: int | None = None,
    minutes: float | None = None,
) -> WholeStudy:
    """Do what the lab lacks of a study, and put all its answers side by side.

    `runs` and `minutes` replace the budget of the file; `yes` goes on beyond it.
    """
    design = file if isinstance(file, Design) else read_study(file)
    budget = Budget(runs or design.budget.runs, minutes or design.budget.minutes)
    plan = make_plan(design)
    _refuse_early(design, plan)
    with lab._store.transaction("the people of a study"):
        population = find_population(
            lab._store,
            [design.settings(table.index, table.slot, table.recipe, table.seed) for table in plan.tables],
            lab._progress,
        )
        study = _Study(lab, design, plan, population)
        if not yes:
            left = study.left()
            refuse_beyond(budget, len(left), study.clock(left).left)
    made = study.go_on()
    return study.collect(made)


def _refuse_early(design: Design, plan: Plan) -> None:
    """Refuse what can be refused before anything is made."""
    for timetable in design.schedule:
        schedule.parse_settings(timetable, (), None)
    for table in plan.tables if design.membership else ():
        per_day = 86_400 // table.slot
        channels.channel(of_counts(table), slots=per_day, slots_per_day=per_day)


@dataclass(frozen=True)
class _Study:
    lab: Lab
    design: Design
    plan: Plan
    population: Population

    @property
    def id(self) -> str:
        return "s" + digest(self.design.text, records_fingerprint(self.lab._store))

    def left(self) -> list[Step]:
        """Steps that are not done yet."""
        done = {
            step
            for (step,) in self.lab._store.rows("select step from study.study_step where study_id = $id", id=self.id)
        }
        return [step for number, step in enumerate(self.plan.steps, start=1) if number not in done]

    def clock(self, steps: list[Step]) -> Clock:
        ((records, days),) = self.lab._store.rows(
            "select count(*), coalesce(date_diff('day', min(ts), max(ts)) + 1, 0) from records.fix"
        )
        return Clock(Size(records, self.population.people, self.design.release.get("days") or days), steps)

    def go_on(self) -> int:
        """Do every step that is not done; returns how many that were."""
        store = self.lab._store
        made: dict[Step, list[str]] = {}
        for (text,), step in zip(
            store.rows("select made_ids from study.study_step where study_id = $id order by step", id=self.id),
            self.plan.steps,
            strict=False,
        ):
            made[step] = text.split()
        left = self.plan.steps[len(made) :]
        clock = self.clock(left)
        self._describe(complete=not left)
        for number, step in enumerate(left, start=len(made) + 1):
            about = f", about {duration(clock.left)} left" if number > 1 else ""
            self.lab._progress.say(f"{number} of {len(self.plan.steps)}: {step}{about}")
            began = time.monotonic()
            made[step] = self._do(step, made)
            row = {"study_id": self.id, "step": number, "result": step.result, "label": str(step)}
            with store.transaction("a step of a study"):
                store.insert("study.study_step", pl.DataFrame([row | {"made_ids": " ".join(made[step])}]))
            clock.done(step, time.monotonic() - began)
        if left:
            with store.transaction("the answers of a study"):
                self._store_answers(made)
                self._describe(complete=True)
        return len(left)

    def _do(self, step: Step, made: dict[Step, list[str]]) -> list[str]:
        if step.result == "release":
            return [self._release(step.table)]
        (release,) = made[Step("release", step.table)]
        ask = {
            "recovery": self._attack,
            "risk": self._risk,
            "membership": self._membership,
            "schedule": self._schedule,
            "flows": self._flows,
            "counts": self._counts,
        }[step.result]
        return ask(step, release, "" if step.of is None else made[step.of][0])

    def _release(self, table: Table) -> str:
        settings = self.design.settings(table.index, table.slot, table.recipe, table.seed)
        release = make_release(self.lab._store, self.population.apply(settings), self.lab._progress)
        for name in self.design.attack:
            try:
                release.require(*attacks.load(name).requires)
            except ReleaseError as error:
                raise AttackError(f"{name} on {table}: {error}") from error
        return release.id

    def _attack(self, step: Step, release: str, _: str) -> list[str]:
        return [self.lab.attack(release, step.question, seed=step.seed, pairing=self.design.pairing).id]

    def _risk(self, step: Step, release: str, run: str) -> list[str]:
        """All adversaries are asked at once, since the traces are read once; the answer is that of this one."""
        store, progress = self.lab._store, self.lab._progress
        known = traces.of_release(store, release, "slots" if run else self.design.basis, progress)
        searched = traces.find(store, run, None, progress) if run else known
        kinds = [knowledge.load(text) for text in self.design.adversary]
        found = measure_all(store, known, searched, kinds, seed=step.seed, sample=self.design.sample, progress=progress)
        return [found[self.design.adversary.index(step.question)].id]

    def _membership(self, step: Step, release: str, _: str) -> list[str]:
        """All recipes are tried on the same groups at once."""
        adversary, _, reference = step.question.partition(":")
        found = self.lab.membership(
            release,
            adversary=adversary,
            reference=reference or None,
            sizes=self.design.sizes,
            targets=self.design.targets,
            groups=self.design.groups,
            recipes=[list(recipe) for recipe in self._recipes(step.table)],
            seed=step.seed,
        )
        return list(found.ids)

    def _recipes(self, table: Table) -> list[tuple[str, ...]]:
        """What is done to the counts of a release in this study."""
        return list(dict.fromkeys(of_counts(each) for each in self.plan.tables if unprotected(each) == table))

    def _schedule(self, step: Step, release: str, _: str) -> list[str]:
        return [
            self.lab.schedule(
                step.question, release, basis=self.design.basis, seed=step.seed, sample=self.design.sample
            ).id
        ]

    def _flows(self, step: Step, release: str, before: str) -> list[str]:
        zones = step.question.partition(":")[2] or None
        return [self.lab.utility(before, release, zones=zones).id]

    def _counts(self, _: Step, release: str, unprotected_id: str) -> list[str]:
        self.lab.count_utility(release, unprotected=unprotected_id or release)
        return [release]

    def _store_answers(self, made: dict[Step, list[str]]) -> None:
        rows = [row for answer in self.plan.answers for row in self._answer_rows(answer, made)]
        self.lab._store.clear(Query.load("study.study_answer"), study_id=self.id)
        frame = pl.DataFrame(rows, schema_overrides={"compared_id": pl.String}).unique(maintain_order=True)
        self.lab._store.insert("study.study_answer", frame)
        self.lab._store.check_grain(Query.load("study.study_answer"), study_id=self.id)

    def _answer_rows(self, answer: Any, made: dict[Step, list[str]]) -> Iterator[dict[str, object]]:
        step, table = answer.step, answer.table
        (release,) = made[Step("release", table)]
        ids = made[step]
        if step.result == "membership":
            recipes = self._recipes(step.table)
            ids = ids[recipes.index(of_counts(table)) :: len(recipes)]
        compared = (made[step.of][0] if step.of is not None else release) if step.result == "counts" else None
        for result_id in ids:
            yield {
                "study_id": self.id,
                "release_id": release,
                "index_name": table.index,
                "slot_minutes": table.slot / 60,
                "recipe": " ".join(table.recipe),
                "seed": answer.seed,
                "result": step.result,
                "result_id": result_id,
                "compared_id": compared,
            }

    def _describe(self, *, complete: bool) -> None:
        row = {
            "study_id": self.id,
            "title": self.design.title,
            "design": self.design.text,
            "population_id": self.population.id,
            "steps": len(self.plan.steps),
            "steps_unshared": self.plan.unshared,
            "complete": complete,
        }
        with self.lab._store.transaction("a study"):
            self.lab._store.clear(Query.load("study.study"), study_id=self.id)
            self.lab._store.insert("study.study", pl.DataFrame([row]))

    def collect(self, made: int) -> WholeStudy:
        table = self.lab.table("report.study_metric", study_id=self.id)
        if not len(table):
            raise StudyError(f"study {self.id} has no answer in this lab: its tables were changed by another program")
        index = {name: n for n, name in enumerate(self.design.index)}
        table = table.sort(
            pl.col("index_name").replace_strict(index, return_dtype=pl.Int64), *ORDER[1:], maintain_order=True
        )
        return WholeStudy(
            self.id,
            self.design.title,
            table,
            tuple(dict.fromkeys(self._notes())),
            self.population.people,
            len(self.plan.steps),
            self.plan.unshared - len(self.plan.steps),
            made,
        )

    def _notes(self) -> Iterator[str]:
        population = self.population
        if population.left_out:
            yield (
                f"every release holds the same {population.people:,} people; {population.left_out:,} whom only some of "
                "the cells and slots cover are left out"
            )
        store = self.lab._store
        for subject, releases, note in store.rows(step_sql("8_study/_notes_of_study"), study_id=self.id):
            number = f"{releases} of {len(self.plan.tables)} releases: " if subject == "filled" else ""
            yield f"{number}{note}"
        for compared in store.rows(step_sql("8_study/_compared_cells"), study_id=self.id):
            if note := nesting_note(store, *compared):
                yield note
