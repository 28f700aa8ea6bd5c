# SPDX-License-Identifier: BSD-3-Clause
"""Data sets as estimators take them: aircraft and sensors, measurements, ground truth.

The body B of an aircraft is its inertial unit, B0 the central body, W `map` or the world of the truth.
Times are seconds since the data set's `start_ns`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.virpo.factors.camera import StereoRig
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Inertial, Ranges, Tilt, Tracks

Gray = NDArray[np.uint8]
CENTRE, CENTRE_NAME = -1, "center"  # in place of an aircraft's index and name
# Presets of the front end: for rendered images, and for those that were not, or have noise and blur.
DEFAULT_PRESET, CAMERA_PRESET = "default", "euroc"
SENSOR_GAP = 1.0  # time without messages of a sensor that is reported [s]
# Densities of a small MEMS unit, gyroscope, accelerometer, walks of their biases: some times its data sheet's,
# since scale, misalignment and vibration come on top.
MEMS: tuple[float, float, float, float] = (1.0e-3, 1.0e-2, 1.0e-4, 1.0e-2)
MIN_DENSITIES: Array = np.array([1e-5, 1e-4, 1e-7, 1e-6])  # so that a perfect unit has a weight
MIN_TILT_DEVIATION = 1e-3  # [rad]


@dataclass(frozen=True, eq=False)
class Images:
    """A stereo pair: time [s] and grey levels (h, w) of both."""

    t: float
    left: Gray
    right: Gray


Raw = Inertial | Images | Ranges | Tilt
Seen = Inertial | Tracks | Ranges | Tilt
Event = tuple[int, Raw]  # an aircraft's index or CENTRE, and what it says


@dataclass(frozen=True, eq=False)
class Truth:
    """Ground truth of a body.

    Attributes:
        t: (K,) increasing [s].
        poses: (K, 7) place of its point M [m] and the body's attitude; NaN where that is not known.
        v_W: (K, 3) velocity of M [m/s]; None where it is not known.
        biases: (K, 6) of gyroscope [rad/s] and accelerometer [m/s^2]; None where they are not known.
        p_BM_B: (3,) M [m].
    """

    t: Array
    poses: Array
    v_W: Array | None = None
    biases: Array | None = None
    p_BM_B: Array = field(default_factory=lambda: np.zeros(3))

    @property
    def has_attitude(self) -> bool:
        """Whether attitudes are known."""
        return bool(np.isfinite(self.poses[0, 3:]).all())

    def point(self, poses: Array) -> Array:
        """Places (n, 3) of M for poses (n, 7) of the body [m]."""
        return poses[:, :3] + so3.rotate(
            poses[:, 3:], np.broadcast_to(self.p_BM_B, (len(poses), 3))
        )


@dataclass(frozen=True, eq=False)
class AircraftData:
    """One aircraft.

    Attributes:
        name: such as ``drone_1``.
        calibration: of its stereo pair, on B.
        noise: (4,) densities of its inertial unit: gyroscope, accelerometer, walks of their biases.
        p_BA_B: (3,) place of its UWB antenna [m].
        p_BJ_B: (3,) place of its joint [m].
        truth: of B; None where it is not known.
    """

    name: str
    calibration: StereoCalibration
    noise: Array
    p_BA_B: Array = field(default_factory=lambda: np.zeros(3))
    p_BJ_B: Array = field(default_factory=lambda: np.zeros(3))
    truth: Truth | None = None


@dataclass(frozen=True, eq=False)
class CentreData:
    """The central body.

    Attributes:
        d: (A, 3) places of the aircraft's joints on B0 [m].
        turn_noise: (2,) densities of its gyroscope and of the bias's walk.
        tilt_deviation: of its estimated roll and pitch [rad].
        truth: of B0; None where it is not known.
    """

    d: Array
    turn_noise: Array
    tilt_deviation: float
    truth: Truth | None = None


@dataclass
class Tally:
    """Irregularities of a data set as it was read.

    Attributes:
        unpaired: images without a partner of the same time.
        repeated: messages with the stamp of the one before.
        blind: time at the end with neither images nor ranges, of which most is left out [s].
        gaps: of sensors, in words.
    """

    unpaired: int = 0
    repeated: int = 0
    blind: float = 0.0
    gaps: list[str] = field(default_factory=list)

    def clear(self) -> None:
        """Begin anew."""
        self.unpaired, self.repeated, self.blind = 0, 0, 0.0
        self.gaps.clear()

    def sentences(self) -> list[str]:
        """Sentences for the user."""
        notes = [f"{gap}: estimators start over where they have to" for gap in self.gaps]
        if self.unpaired:
            notes.append(
                f"{self.unpaired} images without a partner of the same time were left out"
            )
        if self.repeated:
            notes.append(
                f"{self.repeated} messages repeated the stamp of the one before: left out"
            )
        if self.blind:
            notes.append(
                f"neither images nor ranges in the last {self.blind:.1f} s: left out but for {SENSOR_GAP:.0f} s"
            )
        return notes


@dataclass(frozen=True, eq=False)
class Dataset:
    """A recording of one aircraft, or of all aircraft of one platform.

    Attributes:
        source: for the user.
        name: of folders.
        aircraft: the aircraft.
        start_ns: stamp at time 0 [ns].
        events: what the sensors say, in order of time; each call reads anew, and raises BadInput on what cannot be.
        tally: of the last reading.
        notes: sentences for the user.
        frontend: preset of the front end for its images.
        centre: None where nothing joins them.
        has_ranges: whether there are UWB tags.
        gravity: [m/s^2].
    """

    source: str
    name: str
    aircraft: tuple[AircraftData, ...]
    start_ns: int
    events: Callable[[], Iterator[Event]]
    tally: Tally
    notes: tuple[str, ...]
    frontend: str
    centre: CentreData | None = None
    has_ranges: bool = False
    gravity: float = GRAVITY

    def fleet(self, pixels: float) -> Fleet:
        """The aircraft as an estimator knows them; `pixels` is the standard deviation of a tracked coordinate."""
        return fleet_of(self.aircraft, self.centre, pixels, self.gravity)

    @property
    def bodies(self) -> dict[str, Truth | None]:
        """All bodies and what is true of them."""
        found = {one.name: one.truth for one in self.aircraft}
        if self.centre is not None:
            found[CENTRE_NAME] = self.centre.truth
        return found


def fleet_of(
    aircraft: Sequence[AircraftData], centre: CentreData | None, pixels: float, gravity: float
) -> Fleet:
    """Aircraft and what joins them as an estimator knows them; see `Dataset.fleet`."""
    each = tuple(_model_of(one, pixels) for one in aircraft)
    if centre is None:
        return Fleet(each, gravity=gravity)
    noise = np.maximum(centre.turn_noise, MIN_DENSITIES[[0, 2]])
    return Fleet(each, centre.d, noise, max(centre.tilt_deviation, MIN_TILT_DEVIATION), gravity)


def _model_of(one: AircraftData, pixels: float) -> AircraftModel:
    pair = one.calibration
    focal = float(pair.left.focal[0])
    rig = StereoRig.of(pair.q_BC, pair.p_BC_B, focal=focal, pixels=pixels)
    noise = np.maximum(one.noise, MIN_DENSITIES)
    return AircraftModel(one.name, rig, noise, one.p_BA_B, one.p_BJ_B)
