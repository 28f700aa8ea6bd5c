# SPDX-License-Identifier: BSD-3-Clause
"""Results of methods on a data set."""

from dataclasses import dataclass, field

from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.evaluation.estimated_trajectory import EstimatedTrajectory
from iap_estimation.navigation.aircraft_frontend import FrontendStats
from iap_estimation.virpo.messages import Ranges
from iap_estimation.virpo.window.estimator import Fault

COMPLETED, LOST = "completed", "lost"
BLIND = ("uwb",)  # methods that need no images
WARM_UP_TIME = 1.0  # of the data, in which code is compiled: its wall time does not count [s]


@dataclass(frozen=True, eq=False)
class MethodResult:
    """Results of one method.

    Attributes:
        outcome: `COMPLETED`, ``restarted N times: ...``, ``lost: ...`` or ``failed: ...``.
        trajectories: by body; none of a method that failed.
        keyframes: updates, of one aircraft or of all at once, after the first second.
        seconds: wall time of taking measurements after it; without the front end, and without asking for covariances.
        faults: why it began anew.
        left_out: since when [s] which aircraft left out which anchor.
    """

    outcome: str
    trajectories: dict[str, EstimatedTrajectory]
    keyframes: int
    seconds: float
    faults: tuple[Fault, ...]
    left_out: tuple[tuple[float, str, int], ...] = ()

    @property
    def has_failed(self) -> bool:
        """True if there is nothing to be judged."""
        return self.outcome.startswith("failed")

    @property
    def is_lost(self) -> bool:
        """True if its estimates are of no use."""
        return self.outcome.startswith(LOST)


@dataclass(frozen=True, eq=False)
class LocalizationResults:
    """Results of all methods.

    Attributes:
        dataset: that they are of.
        methods: by name.
        frontend: what it did.
        duration: of the data [s].
        begins_true: whether the first poses were the truth's.
        rounds: ranges of each aircraft, where a method goes by them alone.
    """

    dataset: SensorDataset
    methods: dict[str, MethodResult]
    frontend: FrontendStats
    duration: float
    begins_true: bool
    rounds: dict[int, list[Ranges]] = field(default_factory=dict)

    def keyframe_ms(self, method: str) -> float | None:
        """Mean wall time of an update [ms]."""
        ran = self.methods[method]
        return 1e3 * ran.seconds / ran.keyframes if ran.keyframes else None

    def real_time_factor(self, method: str) -> float | None:
        """Real-time factor of front end and method after the first second."""
        pairs = sum(self.frontend.seconds)
        share = max(0.0, 1.0 - WARM_UP_TIME / self.duration) if self.duration > 0.0 else 0.0
        spent = share * pairs + self.methods[method].seconds
        return share * self.duration / spent if spent > 0.0 else None
