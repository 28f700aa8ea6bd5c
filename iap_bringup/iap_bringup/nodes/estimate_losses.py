# SPDX-License-Identifier: BSD-3-Clause
"""Times at which an estimator of nodes is blind, begins anew, or is lost."""

from iap_control.controllers.estimate_failsafe import EstimateFailsafe, Failsafe
from iap_description.signals import EstimateHealth
from iap_estimation.capture.capture_filter import CAPTURE_INERTIAL
from iap_estimation.navigation.vision_log import FEWEST_TRACKS, VisionLog


class EstimateLosses:
    """Log of what an estimator of nodes loses, by what it says of itself.

    Args:
        source: of the vehicle's states.
        spec: when its estimate counts as lost.
    """

    def __init__(self, source: str, spec: Failsafe) -> None:
        self._has_cameras = source != CAPTURE_INERTIAL
        self._vision, self._failsafe = VisionLog(1), EstimateFailsafe(spec)
        self._faults = 0
        self._losses: list[tuple[float, str]] = []

    def note(self, t: float, health: EstimateHealth) -> None:
        """Take its health at a time [s]."""
        if not self._has_cameras or health.tracks >= FEWEST_TRACKS:
            self._vision.see(0, t - health.blind)  # tracks stay those of the last images
        self._vision.note(t)
        if self._failsafe.judge(t, health):
            self._losses.append((t, f"estimate lost, {self._failsafe.reason}"))
        if health.faults > self._faults:
            self._losses.append((t, "began anew"))
        self._faults = health.faults

    @property
    def events(self) -> list[tuple[float, str]]:
        """Times [s] and what happened, in order."""
        return sorted([*self._vision.events, *self._losses])
