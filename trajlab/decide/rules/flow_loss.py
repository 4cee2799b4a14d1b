"""flow_loss: how much of the flows between zones the table no longer shows (a floor of usefulness)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from trajlab import utility
from trajlab.decide import SHARE, TABLE, UTILITY, Finding, Unanswerable
from trajlab.decide._published import beside_everything, check_name
from trajlab.errors import UtilityError

if TYPE_CHECKING:
    from trajlab.lab import Lab
    from trajlab.release import Release


@dataclass(frozen=True, slots=True)
class FlowLoss:
    """Loss of flows (yin2015) between the records as they are and what is published, for one `measure`.

    `zones` are cells of an index, such as square:2000, or where it is empty the lab's own.
    """

    concern: ClassVar[str] = UTILITY
    about: ClassVar[str] = TABLE
    unit: ClassVar[str] = SHARE
    limit: ClassVar[str] = "at_most"

    measure: str = "all"
    zones: str = "square:2000"

    def __post_init__(self) -> None:
        check_name("measure of flows", self.measure, utility.MEASURES)

    def answer(self, lab: Lab, release: Release, limit: float, seed: int) -> Finding:
        with beside_everything(lab, release) as (everything, published):
            try:
                found = lab.utility(everything, published, zones=self.zones or None)
            except UtilityError as error:
                raise Unanswerable(str(error)) from error
        loss = found.loss(self.measure)
        if loss is None:
            raise Unanswerable(f"no pair of zones counts for {self.measure}: use larger cells as zones")
        return Finding(
            loss,
            f"of {self.measure} flows between zones, the table loses or misplaces",
            note="what is told in a wrong place is lost and invented, so that 200 % is the most",
        )


RULE = FlowLoss
