"""Commands that say what is left of flows when cells are generalised, and what that protects."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trajlab.cli import sentences
from trajlab.cli.terminal import Commands, lab_options, only_release, opened, show, table_option
from trajlab.errors import UtilityError
from trajlab.report import check_form

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.utility.counts import CountUtility


def utility(args: argparse.Namespace) -> None:
    """Ask what generalising a release leaves of the flows between zones (yin2015), or protections of its counts.

    AFTER is what the cells become: an index such as stations:800, square:1000 or h3:8, or the id of
    a release of the same people with larger cells. Movements are counted from the records, converted to
    zones in proportion to area at both ends, and compared: all flows, the largest (pareto), those that stand
    out at one of their ends (backbone), those of busy zones (hotspot), and the common part of commuters;
    raw, and constrained to a plausible time between two records. Losses are in metrics.utility,
    the matrices in metrics.od_flow, their major flows in metrics.major_flow.

    --counts compares the published table itself with the one it was made from, slot by slot: relative
    error, what is hidden, order of the busiest cells, distance on the map. No AFTER is needed;
    the errors are in metrics.count_error, by hour and by cell in metrics.count_error_by_hour and
    metrics.count_error_by_cell.
    """
    if args.counts == bool(args.after):
        raise UtilityError("either AFTER, what the cells become, or --counts, the published table itself, is needed")
    if args.unprotected and not args.counts:
        raise UtilityError("--unprotected is the release that --counts compares with: add --counts")
    with opened(args, must_exist=True) as lab:
        before = only_release(lab, args.release)
        if args.counts:
            _print_counts(lab, lab.count_utility(before, unprotected=args.unprotected), table=args.table)
        for after in args.after:
            found = lab.utility(before, after, zones=args.zones, **_settings(args))
            for note in found.notes:
                print(note)
            print(f"utility {found.id}: release {found.release_id} generalised to {found.after}, between {found.zones}")
            if args.table:
                show(found.losses, "table", 20)
            else:
                for line in sentences.utility(lab, found):
                    print(line)


def _print_counts(lab: Lab, found: CountUtility, *, table: bool) -> None:
    for note in found.notes:
        print(note)
    print(f"the published table {found.release_id} beside the unprotected table {found.unprotected_id}")
    if table:
        show(found.errors.drop("about"), "table", 20)
        return
    for line in sentences.count_errors(lab, found):
        print(line)


def _utility_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("after", nargs="*", metavar="AFTER", help="an index or a release id; several are compared in turn")
    c.add_argument("--counts", action="store_true", help="how far the published table is from the unprotected one")
    c.add_argument(
        "--unprotected",
        metavar="ID",
        help="with --counts: the release to compare with (default: what it was made from)",
    )
    c.add_argument(
        "--release", metavar="ID", help="the release before, or published (default: the only one in the lab)"
    )
    c.add_argument(
        "--zones", help="the lab's zones, a GeoJSON or GeoParquet file, or an index such as h3:7 (default: zones)"
    )
    _flow_options(c)
    table_option(c)


def study_tradeoff(args: argparse.Namespace) -> None:
    """Generalise a release step by step and draw risk against loss of utility (yin2015, figures 4 to 13).

    At each step: how many people are singled out, by what is known of them, and how much of the flows
    between zones is lost. Then the curve loss = -a risk^b + c for every adversary and measure, with standard
    errors, p-values and R², or the reason why there is none. Points are in metrics.tradeoff, curves
    in metrics.tradeoff_fit. Running it again adds only what is missing.
    """
    if args.output:
        check_form(args.output, "tradeoff")
    with opened(args, must_exist=True) as lab:
        found = lab.tradeoff(
            only_release(lab, args.release),
            args.index,
            zones=args.zones,
            knowledge=args.knowledge,
            measures=args.measures,
            flows=args.flows,
            basis=args.basis,
            scope=args.scope,
            seed=args.seed,
            sample=args.sample,
            **_settings(args),
        )
        for note in found.notes:
            print(note)
        print(found)
        print(found.description)
        fitted = found.fits.filter(found.fits["reason"].is_null()).drop("a_error", "c_error", "a_p", "c_p", "reason")
        if len(fitted):
            show(fitted, "table", 200)
        for reason, curves in found.fits.drop_nulls("reason").group_by("reason", maintain_order=True).len().iter_rows():
            print(f"no curve for {curves} of {len(found.fits)} pairs of adversary and measure: {reason}")
        if args.output:
            print(f"wrote {found.save(args.output)}")


def _study_tradeoff_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release to generalise (default: the only one in the lab)")
    c.add_argument(
        "--index",
        nargs="+",
        help="what cells become, step by step (default: stations:200 to stations:2800, or squares of that side)",
    )
    c.add_argument(
        "--zones", nargs="+", help="the lab's zones, files, or indexes such as h3:7, one or more (default: zones)"
    )
    c.add_argument(
        "--knowledge",
        nargs="+",
        default=["top:2", "top:3", "points:4", "points:8"],
        help="adversaries, see trajlab risk --help (default: top:2 top:3 points:4 points:8)",
    )
    c.add_argument(
        "--measures",
        nargs="+",
        default=["all", "pareto", "backbone", "hotspot", "commuters"],
        help="measures of utility (default: all pareto backbone hotspot commuters)",
    )
    c.add_argument("--flows", nargs="+", default=["raw", "constrained"], help="default: raw constrained")
    c.add_argument(
        "--basis",
        default="slots",
        help="what counts as a visit: slots (filled ones too), observed, or records as in yin2015 (default: slots)",
    )
    c.add_argument("--scope", default="all", help="whose risk: all, frequent or frequent_of_all (default: all)")
    c.add_argument("--sample", type=int, help="look for so many people, drawn at random (default: everybody)")
    c.add_argument("--seed", type=int, default=0, help="another number, other points known (default: 0)")
    _flow_options(c)
    c.add_argument("-o", "--output", help="where to draw it: tradeoff.svg, tradeoff.png or tradeoff.html")


def _flow_options(c: argparse.ArgumentParser) -> None:
    c.add_argument("--shortest", type=float, default=5.0, help="least minutes of a constrained movement (default: 5)")
    c.add_argument("--longest", type=float, default=100.0, help="most minutes of one (default: 100)")
    c.add_argument("--pareto", type=float, default=0.8, help="share that the largest flows make up (default: 0.8)")
    c.add_argument("--alpha", type=float, default=0.05, help="significance of the backbone (default: 0.05)")


def _settings(args: argparse.Namespace) -> dict[str, float]:
    return {name: getattr(args, name) for name in ("shortest", "longest", "pareto", "alpha")}


COMMANDS: Commands = {
    utility: _utility_options,
    study_tradeoff: _study_tradeoff_options,
}
