# SPDX-License-Identifier: BSD-3-Clause
"""Data sets as estimators take them: aircraft and sensors, measurements, ground truth.

The body B of an aircraft is its inertial unit, B0 the central body, W `map` or the world of the truth.
Times are seconds since the data set's `start_ns`.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.virpo.factors.camera import StereoRig
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.messages import Inertial, Ranges, Tilt, Tracks
from iap_estimation.virpo.spec import UnitErrors, VirpoSpec

Gray = NDArray[np.uint8]
CENTRE, CENTRE_NAME = -1, "center"  # in place of an aircraft's index and name
SENSOR_GAP = 1.0  # time without messages of a sensor that is reported [s]
# Densities of a small MEMS unit, gyroscope, accelerometer, walks of their biases: some times its data sheet's,
# since scale, misalignment and vibration come on top.
MEMS: tuple[float, float, float, float] = (1.0e-3, 1.0e-2, 1.0e-4, 1.0e-2)
MEMS_SCALE = 0.01  # what scale and alignment of such a gyroscope are off, relative
MIN_DENSITIES: Array = np.array([1e-5, 1e-4, 1e-7, 1e-6])  # so that a perfect unit has a weight
ONE_CAMERA = "one camera alone: the scale is the inertial unit's, and comes with motion"
MIN_TILT_DEVIATION = 1e-3  # [rad]
MIN_RANGE_DEVIATION = 1e-3  # so that a perfect tag has a weight [m]


class FrontendChoice(NamedTuple):
    """A preset of the front end, and why it suits images."""

    preset: str
    reason: str


FROM_RENDERER = FrontendChoice("default", "rendered images without noise, blur or distortion")
FROM_CAMERAS = FrontendChoice("euroc", "images of cameras, which have noise, blur or distortion")


@dataclass(frozen=True, eq=False)
class Images:
    """A stereo pair, or the image of one camera alone: time [s] and grey levels (h, w)."""

    t: float
    left: Gray
    right: Gray | None


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
        is_turned: whether its world is turned against that of estimates, which need not share its vertical.
    """

    t: Array
    poses: Array
    v_W: Array | None = None
    biases: Array | None = None
    p_BM_B: Array = field(default_factory=lambda: np.zeros(3))
    is_turned: bool = False

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
        calibration: of its stereo pair, or of its only camera, on B; None where it has none.
        noise: (4,) densities of its inertial unit: gyroscope, accelerometer, walks of their biases.
        p_BA_B: (3,) place of its UWB antenna [m].
        p_BJ_B: (3,) place of its joint [m].
        truth: of B; None where it is not known.
        gyro_scale: relative deviation of its gyroscope's scale and alignment.
    """

    name: str
    calibration: StereoCalibration | None
    noise: Array
    p_BA_B: Array = field(default_factory=lambda: np.zeros(3))
    p_BJ_B: Array = field(default_factory=lambda: np.zeros(3))
    truth: Truth | None = None
    gyro_scale: float = MEMS_SCALE

    @property
    def cameras(self) -> StereoCalibration:
        """The calibration of one that has cameras."""
        assert self.calibration is not None  # noqa: S101 - methods that see are refused without
        return self.calibration


@dataclass(frozen=True, eq=False)
class CentreData:
    """The central body.

    Attributes:
        d: (A, 3) places of the aircraft's joints on B0 [m].
        noise: (4,) densities of its inertial unit: gyroscope, accelerometer, walks of their biases.
        tilt_deviation: of its estimated roll and pitch [rad].
        truth: of B0; None where it is not known.
        gyro_scale: relative deviation of its gyroscope's scale and alignment.
        p_B0I_B0: (3,) place of its inertial unit [m].
    """

    d: Array
    noise: Array
    tilt_deviation: float
    truth: Truth | None = None
    gyro_scale: float = MEMS_SCALE
    p_B0I_B0: Array = field(default_factory=lambda: np.zeros(3))


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
        frontend: the front end for its images.
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
    frontend: FrontendChoice
    centre: CentreData | None = None
    has_ranges: bool = False
    gravity: float = GRAVITY

    def fleet(self, spec: VirpoSpec) -> Fleet:
        """The aircraft as an estimator with these settings knows them."""
        return fleet_of(self.aircraft, self.centre, spec, self.gravity)

    @property
    def has_cameras(self) -> bool:
        """Whether all aircraft see."""
        return all(one.calibration is not None for one in self.aircraft)

    @property
    def bodies(self) -> dict[str, Truth | None]:
        """All bodies and what is true of them."""
        found = {one.name: one.truth for one in self.aircraft}
        if self.centre is not None:
            found[CENTRE_NAME] = self.centre.truth
        return found


def fleet_of(
    aircraft: Sequence[AircraftData], centre: CentreData | None, spec: VirpoSpec, gravity: float
) -> Fleet:
    """Aircraft and what joins them as an estimator knows them; see `Dataset.fleet`."""
    each = tuple(_model_of(one, spec) for one in aircraft)
    if centre is None:
        return Fleet(each, gravity=gravity)
    tilt_deviation = max(centre.tilt_deviation, MIN_TILT_DEVIATION)
    noise = _noise(centre.noise, centre.gyro_scale, spec.inertial)
    turn_noise, force_noise = noise[[0, 2, 4]], noise[[1, 3]]
    place = centre.p_B0I_B0
    return Fleet(each, centre.d, turn_noise, tilt_deviation, gravity, force_noise, place)


def _model_of(one: AircraftData, spec: VirpoSpec) -> AircraftModel:
    pair, rig = one.calibration, None
    if pair is not None:
        focal = float(pair.left.focal[0])
        rig = StereoRig.of(pair.q_BC, pair.p_BC_B, focal=focal, pixels=spec.pixels)
    noise = _noise(one.noise, one.gyro_scale, spec.inertial)
    return AircraftModel(one.name, rig, noise, one.p_BA_B, one.p_BJ_B)


def _noise(densities: Array, gyro_scale: float, given: UnitErrors) -> Array:
    """Noise of a unit as in `AircraftModel`, from what the data say of it and what is given in its place."""
    wanted = (given.gyro_noise, given.accel_noise, given.gyro_walk, given.accel_walk)
    said = [*np.maximum(densities, MIN_DENSITIES), gyro_scale]
    pairs = zip((*wanted, given.gyro_scale), said, strict=True)
    noise = np.array([value if other is None else other for other, value in pairs])
    noise[4] *= math.sqrt(2.0 * given.scale_memory)
    return noise
