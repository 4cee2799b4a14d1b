"""Commands on what is out: the ledger, and what everything together gives away."""

from __future__ import annotations

import argparse

from trajlab.cli.terminal import Commands, lab_options, only_release, opened, show
from trajlab.errors import DifferencingError


def publish(args: argparse.Namespace) -> None:
    """Write down that a release is out, and list what is.

    The ledger (study.published) is what `trajlab differencing` audits a new release beside. What is out stays out:
    its date cannot be changed, and nothing is withdrawn. Without --release and --date, it is only listed, with the
    ε that noisy tables have spent together (report.published).
    """
    if args.date is None and (args.release or args.cube or args.note):
        raise DifferencingError("say since when it is out: --date 2026-11-18")
    if args.release and args.cube:
        raise DifferencingError("give --release or --cube, one at a time")
    with opened(args, must_exist=True) as lab:
        if args.date is not None:
            lab.publish(args.cube or only_release(lab, args.release), args.date, note=args.note)
        ledger = lab.sql(
            "select published_on, published_id, index_name, slot_minutes, days, recipe, epsilon, cumulative_epsilon, "
            "without_noise, note from report.published order by published_on, published_id"
        )
        if len(ledger):
            show(ledger, "table", 60)
        else:
            print("nothing is out yet")


def _publish_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release (default: the only one in the lab)")
    c.add_argument("--cube", metavar="ID", help="a cube instead of a release")
    c.add_argument("--date", help="the day on which it came out, such as 2026-11-18")
    c.add_argument("--note", help="where, to whom, why")


def differencing(args: argparse.Namespace) -> None:
    """Find hidden counts that follow from everything published together.

    The release is taken together with all that is out (`trajlab publish`) and with what --beside names: other cells,
    longer slots, lower thresholds, totals, flows, cubes. Every hidden count that is known exactly, or to less
    than --width people, is listed with the sum that reveals it, and every listed count behind which there are fewer
    than --least different people, whatever number is listed. All of them are in metrics.disclosure.
    """
    with opened(args, must_exist=True) as lab:
        found = lab.differencing(
            only_release(lab, args.release), beside=args.beside, width=args.width, least=args.least
        )
        print(found)
        for note in found.notes:
            print(note)
        if len(found.disclosed):
            rows = lab.sql(
                "select starts, index_name, label, value, how, low::bigint as low, high::bigint as high, derivation "
                "from report.disclosure where differencing_id = $id order by how, release_id, slot, cell",
                id=found.id,
            )
            show(rows if rows["value"].count() else rows.drop("value"), "table", args.rows)


def _differencing_options(c: argparse.ArgumentParser) -> None:
    lab_options(c)
    c.add_argument("--release", metavar="ID", help="the release or cube to publish (default: the only release)")
    c.add_argument("--beside", nargs="+", metavar="ID", help="releases and cubes, besides those that are out already")
    c.add_argument("--width", type=int, default=3, help="an interval narrower than this is disclosure (default: 3)")
    c.add_argument("--least", type=int, default=5, help="counts of fewer people are disclosure (default: 5)")
    c.add_argument("--rows", type=int, default=20, help="disclosed counts to show; -1 for all (default: 20)")


COMMANDS: Commands = {publish: _publish_options, differencing: _differencing_options}
