# SPDX-License-Identifier: BSD-3-Clause
"""Method ``joint``: one window over all aircraft and the central body, and a filter for the attitude of this one."""

from dataclasses import replace

from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, Tilt
from iap_estimation.virpo.methods.centre import CentreFilter
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import Estimator, InitialState

TURNS, BIASES = slice(3, 6), slice(9, 12)  # in an estimate's covariance


class JointLocalizer(Estimator):
    """The window of all aircraft; their joints alone drift apart by millimetres, half a degree of the centre.

    Its arguments are those of `make_localizer`.
    """

    def __init__(
        self,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None = None,
    ) -> None:
        super().__init__(fleet, spec, first, deviations=deviations, joined=True)
        self._filter = CentreFilter(fleet, spec)

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        super().tilt(measured)
        self._filter.tilt(measured)

    def centre(self) -> Estimate | None:
        """See `Localizer.centre`: place and velocity are the window's, attitude and bias the filter's."""
        window = super().centre()
        filtered = self._filter.estimate(self.estimates()) if window is not None else None
        if window is None or filtered is None:
            return window
        C = window.covariance.copy()
        for rows in (TURNS, BIASES):
            C[rows, :9], C[:9, rows] = 0.0, 0.0
            C[rows, rows] = filtered.covariance[rows, rows]
        return replace(
            window,
            q_WB=filtered.q_WB,
            gyro_bias=filtered.gyro_bias,
            w_B=filtered.w_B,
            covariance=C,
        )
