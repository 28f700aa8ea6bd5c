# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft's odometry, and one filter that takes the drift out of all: method ``drift_filter``."""

from dataclasses import replace

from iap_description import so3
from iap_estimation.virpo.drift.filter import DriftFilter
from iap_estimation.virpo.drift.spec import load_spec as load_drift_spec
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, Inertial, LeftOut, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.vio import Apart
from iap_estimation.virpo.spec import Start, VirpoSpec
from iap_estimation.virpo.window.estimator import Estimator, Fault, First

KEPT = 5.0  # odometry that a head may go back to [s]


class Filtered:
    """Every aircraft's odometry by itself, and a filter that takes the drift out of all: method ``drift_filter``.

    Args:
        fleet: the aircraft.
        spec: of the odometries; the filter has its own.
        first: says where an aircraft is when its first images come.
        begins: how far off that may be.
    """

    def __init__(self, fleet: Fleet, spec: VirpoSpec, first: First, begins: Start | None) -> None:
        self._apart = Apart("vio", fleet, spec, first, begins)
        self._filter = DriftFilter(fleet, load_drift_spec())
        self._is_new = False  # since ranges or tilts ended its waiting
        self._said: dict[tuple[int, int], Estimate] = {}  # odometry by aircraft and time [ms]

    @property
    def estimators(self) -> list[Estimator]:
        """See `Localizer.estimators`."""
        return self._apart.estimators

    def imu(self, aircraft: int, sample: Inertial) -> bool:
        """See `Localizer.imu`."""
        return self._news(self._apart.imu(aircraft, sample) and self._say(aircraft))

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self._news(self._apart.tracks(aircraft, tracks) and self._say(aircraft))

    def ranges(self, aircraft: int, told: Ranges) -> None:
        """See `Localizer.ranges`."""
        self._is_new |= self._filter.ranges(aircraft, told)

    def tilt(self, told: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._is_new |= self._filter.tilt(told)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return self._filter.estimates()

    def propagated(self, aircraft: int) -> Estimate | None:
        """See `Localizer.propagated`."""
        corrected, head = self._filter.estimates(), self._apart.propagated(aircraft)
        if len(corrected) < len(self._apart.crafts) or head is None:
            return None
        return self._carried(aircraft, corrected[aircraft], head)

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`."""
        return self._filter.centre()

    def faults(self) -> list[Fault]:
        """See `Localizer.faults`."""
        return self._apart.faults()

    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return self._filter.left_out

    def _say(self, aircraft: int) -> bool:
        """Tell the filter what an aircraft's odometry says."""
        said = self._apart.crafts[aircraft].estimator.estimates()[0]
        self._said[aircraft, round(1e3 * said.t)] = said
        oldest = said.t - KEPT
        self._said = {key: one for key, one in self._said.items() if one.t > oldest}
        return self._filter.odometry(aircraft, said)

    def _news(self, is_new: bool) -> bool:
        """Whether there are new estimates, now or from what came before."""
        is_new, self._is_new = is_new or self._is_new, False
        return is_new

    def _carried(self, aircraft: int, one: Estimate, head: Estimate) -> Estimate:
        """A head of the odometry, with the drift taken out that was found when the estimate was made."""
        said = self._said.get((aircraft, round(1e3 * one.t)))
        if said is None:
            return one
        turn = so3.multiply(one.q_WB, so3.conjugate(said.q_WB))
        return replace(
            head,
            p_WB_W=one.p_WB_W + so3.rotate(turn, head.p_WB_W - said.p_WB_W),
            q_WB=so3.multiply(turn, head.q_WB),
            v_WB_W=so3.rotate(turn, head.v_WB_W),
        )
