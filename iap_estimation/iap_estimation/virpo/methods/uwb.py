# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft by its ranges and its inertial unit alone, whatever it sees."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import ImuSample, Ranges, Tracks
from iap_estimation.virpo.methods.vio import VioLocalizer
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.estimator import InitialState

GATE = 4.0  # deviations beyond which a range took a detour


class UwbLocalizer(VioLocalizer):
    """Method ``uwb``: ``vio_uwb`` without images, whose keyframes are at rounds of ranges.

    No anchor is left out for long, since without images nothing but ranges says where the window leads to; single
    ranges that took a detour are (see `DetourGate`).
    Its arguments are those of `make_localizer`.
    """

    def __init__(
        self,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None,
    ) -> None:
        blind = replace(fleet, aircraft=tuple(replace(one, rig=None) for one in fleet.aircraft))
        gate = GATE if spec.detour_gate is None else spec.detour_gate
        spec = spec.model_copy(update={"range_gate": None, "detour_gate": gate})
        super().__init__("vio_uwb", blind, spec, first, deviations)
        self._due: list[float | None] = [None for _ in fleet.aircraft]  # rounds to be keyframes

    def imu(self, aircraft: int, sample: ImuSample) -> bool:
        """See `Localizer.imu`."""
        is_new = super().imu(aircraft, sample)
        t = self._due[aircraft]
        if t is None or sample.t < t:
            return is_new
        self._due[aircraft] = None
        return super().tracks(aircraft, _nothing(t)) or is_new

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """Nothing: images do not count."""
        return False

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """See `Localizer.ranges`."""
        super().ranges(aircraft, measured)
        if self._due[aircraft] is None:
            self._due[aircraft] = measured.t


def _nothing(t: float) -> Tracks:
    return Tracks(t, np.zeros(0, dtype=np.int64), np.zeros((0, 4)), np.zeros(0, dtype=bool))


def mean_cost(localizer: UwbLocalizer) -> float:
    """Mean cost of the windows' last updates, infinite once one of them has begun anew."""
    if localizer.faults or not all(one.is_running for one in localizer.estimators):
        return float("inf")
    costs: Sequence[float] = [one.window.chi_square for one in localizer.estimators]
    return float(np.mean(costs))
