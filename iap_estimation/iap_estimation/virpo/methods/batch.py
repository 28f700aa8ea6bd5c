# SPDX-License-Identifier: BSD-3-Clause
"""Every aircraft by the whole of its recording: what ``vio`` and ``vio_uwb`` see a second of, at once."""

from collections import deque
from importlib.util import find_spec

from iap_description.process.extras import missing
from iap_estimation.virpo.batch.keyframes import KeyframeLog
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import Estimate, ImuSample, Ranges, Tilt, Tracks
from iap_estimation.virpo.methods.centre import CentreFilter
from iap_estimation.virpo.methods.vio import VioLocalizer
from iap_estimation.virpo.spec import StartDeviations, VirpoSpec
from iap_estimation.virpo.window.buffers import TILT_TOLERANCE
from iap_estimation.virpo.window.estimator import STAMP_TOLERANCE, InitialState


def check_gtsam() -> None:
    """Refuse where gtsam is missing.

    Raises:
        BadInput: saying how to get it.
    """
    if find_spec("gtsam") is None:
        raise missing("gtsam", "method 'batch' needs", "batch")


class BatchLocalizer(VioLocalizer):
    """Method ``batch``: while it listens ``vio_uwb`` or ``vio`` (see `Batch`), whose estimates the search begins at.

    Its arguments are those of `make_localizer`.

    Attributes:
        logs: what each aircraft measured.

    Raises:
        BadInput: gtsam is not installed.
    """

    def __init__(
        self,
        fleet: Fleet,
        spec: VirpoSpec,
        first: InitialState,
        deviations: StartDeviations | None,
    ) -> None:
        check_gtsam()
        super().__init__("vio_uwb" if spec.batch.ranges else "vio", fleet, spec, first, deviations)
        self._fleet, self._spec = fleet, spec
        self._alone = [fleet.alone(a) for a in range(len(fleet.aircraft))]
        self.logs = [KeyframeLog(one, spec) for one in self._alone]
        self._tilts: list[Tilt] = []

    def imu(self, aircraft: int, sample: ImuSample) -> bool:
        """See `Localizer.imu`."""
        self.logs[aircraft].imu(sample)
        return self._noted(aircraft, super().imu(aircraft, sample))

    def tracks(self, aircraft: int, tracks: Tracks) -> bool:
        """See `Localizer.tracks`."""
        self.logs[aircraft].tracks(tracks)
        return self._noted(aircraft, super().tracks(aircraft, tracks))

    def ranges(self, aircraft: int, measured: Ranges) -> None:
        """See `Localizer.ranges`."""
        if self._spec.batch.ranges:
            self.logs[aircraft].ranges(measured)
            super().ranges(aircraft, measured)

    def tilt(self, measured: Tilt) -> None:
        """See `Localizer.tilt`."""
        self._tilts.append(measured)
        super().tilt(measured)

    def smoothed(self) -> tuple[list[list[Estimate]], list[Estimate]]:
        """See `Smoother.smoothed`."""
        # gtsam is no requirement of anything else
        from iap_estimation.virpo.batch.smoothing import smooth

        aircraft = [
            smooth(log.keyframes, alone, self._spec)
            for log, alone in zip(self.logs, self._alone, strict=True)
        ]
        return aircraft, self._centres(aircraft)

    def _noted(self, aircraft: int, is_new: bool) -> bool:
        if is_new:
            self.logs[aircraft].keep(self.estimators[aircraft])
        return is_new

    def _centres(self, aircraft: list[list[Estimate]]) -> list[Estimate]:
        """The central body as ``vio`` has it, filtered, at the times of which there are estimates of all aircraft."""
        if self._fleet.d is None:
            return []
        centre, tilts = CentreFilter(self._fleet, self._spec), deque(self._tilts)
        at = [{round(one.t / STAMP_TOLERANCE): one for one in each} for each in aircraft]
        centres = []
        for stamp in sorted(set.intersection(*map(set, at))):
            estimates = [each[stamp] for each in at]
            while tilts and tilts[0].t <= estimates[0].t + TILT_TOLERANCE:
                centre.tilt(tilts.popleft())
            centres.append(centre.estimate(estimates))
        return [one for one in centres if one is not None]
