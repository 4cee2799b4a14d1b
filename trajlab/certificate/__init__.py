"""A decision as a file that others can check: canonical JSON with a schema and a seal, and a sheet of paper.

`write` makes the file and its sheet from a decision in the lab. `check` opens a file and says whether it is whole,
`verify` also holds it against what a lab says now. Between them: `body` (what is certified), `canonical` (one
spelling for each value), `sealing` (the digest), `schema` (what a certificate may hold), `page` (the sheet).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trajlab.certificate.checking import Verification, check_seal, compare, read
from trajlab.errors import LabError

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.store import Store

__all__ = ["Verification", "check", "check_path", "read", "verify", "write"]


def check_path(path: str | Path) -> Path:
    """A path that a certificate can be written to; to be asked before long work."""
    from trajlab.report import check_place

    path = Path(path)
    if path.suffix.lower() != ".json":
        raise LabError(f"{path.name!r} is no .json: name the certificate decision.json; its sheet is written beside it")
    check_place(path, "decision.json")
    check_place(path.with_suffix(".html"), "decision.json")
    return path


def write(store: Store, decision_id: str, path: str | Path) -> list[Path]:
    """Write the certificate of a decision, and its sheet of paper beside it; the same decision gives the same bytes."""
    from trajlab.certificate import body, page, sealing
    from trajlab.report import write_file

    path = check_path(path)
    certified = body.compose(store, decision_id)
    sheet = page.render(certified, sealing.digest(certified), path.name)
    return [write_file(path, sealing.seal(certified)), write_file(path.with_suffix(".html"), sheet)]


def check(path: str | Path) -> Verification:
    """Whether the file is whole, by its seal alone."""
    return check_seal(Path(path))[1]


def verify(lab: Lab, path: str | Path) -> Verification:
    """Whether the file is whole, and says what the lab says when its policy is asked again."""
    from trajlab.certificate.body import compose
    from trajlab.decide.policy import Policy

    certified, sealed = check_seal(Path(path))
    if certified is None:
        return sealed
    policy = Policy.parse(certified["policy"]["text"], "policy of the certificate")
    reasons = {str(rule["position"]): rule["exception"] for rule in certified["results"] if rule["exception"]}
    release = certified["release"]["release_id"]
    decision = lab.decide(release, policy, exceptions=reasons, seed=int(certified["seed"]))
    return compare(certified, compose(lab._store, decision.id))
