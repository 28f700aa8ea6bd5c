# SPDX-License-Identifier: BSD-3-Clause
"""Method ``drift_filter``: every aircraft's odometry, corrected by one filter."""

from dataclasses import replace

from iap_description.math import so3
from iap_estimation.virpo.drift.filter import DriftFilter
from iap_estimation.virpo.drift.spec import load_spec as load_drift_spec
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, ImuSample, LeftOut, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.vio import VioLocalizer
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import InitialState

ODOMETRY_MEMORY = 5.0  # age of the odometry that a propagated estimate may go back to [s]


class DriftFilterLocalizer(VioLocalizer):
    """Every aircraft's odometry by itself, and a filter that takes the drift out of all: method ``drift_filter``.

    Its arguments are those of `make_localizer`; the filter has settings of its own.
    """

    def __init__(
        self,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None,
    ) -> None:
        super().__init__("vio", fleet, spec, first, deviations)
        self._filter = DriftFilter(fleet, load_drift_spec())
        self._is_new = False  # since ranges or tilts ended its waiting
        self._odometry: dict[tuple[int, int], Estimate] = {}  # odometry by aircraft and time [ms]

    def imu(self, aircraft: int, sample: ImuSample) -> bool:
        """See `Localizer.imu`."""
        return self._news(super().imu(aircraft, sample) and self._take_odometry(aircraft))

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        return self._news(super().tracks(aircraft, tracks) and self._take_odometry(aircraft))

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """See `Localizer.ranges`."""
        self._is_new |= self._filter.ranges(aircraft, measured)

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._is_new |= self._filter.tilt(measured)

    def estimates(self) -> list[Estimate]:
        """See `Localizer.estimates`."""
        return self._filter.estimates()

    def propagated(self, aircraft: int) -> Estimate | None:
        """See `Localizer.propagated`."""
        corrected, propagated = self._filter.estimates(), super().propagated(aircraft)
        if len(corrected) < len(self.aircraft) or propagated is None:
            return None
        return self._corrected(aircraft, corrected[aircraft], propagated)

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`."""
        return self._filter.centre()

    @property
    def left_out(self) -> list[LeftOut]:
        """See `Localizer.left_out`."""
        return self._filter.left_out

    def _take_odometry(self, aircraft: int) -> bool:
        """Pass an aircraft's odometry on to the filter."""
        odometry = self.aircraft[aircraft].estimator.estimates()[0]
        self._odometry[aircraft, round(1e3 * odometry.t)] = odometry
        oldest = odometry.t - ODOMETRY_MEMORY
        self._odometry = {key: one for key, one in self._odometry.items() if one.t > oldest}
        return self._filter.odometry(aircraft, odometry)

    def _news(self, is_new: bool) -> bool:
        """True if there are new estimates, now or from what came before."""
        is_new, self._is_new = is_new or self._is_new, False
        return is_new

    def _corrected(self, aircraft: int, one: Estimate, propagated: Estimate) -> Estimate:
        """The propagated odometry, with the drift taken out that was found when the estimate was made."""
        odometry = self._odometry.get((aircraft, round(1e3 * one.t)))
        if odometry is None:
            return one
        turn = so3.multiply(one.q_WB, so3.conjugate(odometry.q_WB))
        return replace(
            propagated,
            p_WB_W=one.p_WB_W + so3.rotate(turn, propagated.p_WB_W - odometry.p_WB_W),
            q_WB=so3.multiply(turn, propagated.q_WB),
            v_WB_W=so3.rotate(turn, propagated.v_WB_W),
        )
