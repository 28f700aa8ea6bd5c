# SPDX-License-Identifier: BSD-3-Clause
"""Aircraft and the central body with their sensors, as a data set or a rig describes them, and as estimators know them.

The body B of an aircraft is its inertial unit, B0 the central body.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from iap_description.arrays import Array
from iap_estimation.evaluation.truth import Truth
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.virpo.factors.camera import StereoRig
from iap_estimation.virpo.fleet import AircraftModel, Fleet
from iap_estimation.virpo.spec import UnitErrors, VirpoSpec

# Densities of a small MEMS unit, gyroscope, accelerometer, walks of their biases: some times its data sheet's,
# since scale, misalignment and vibration come on top.
MEMS: tuple[float, float, float, float] = (1.0e-3, 1.0e-2, 1.0e-4, 1.0e-2)
MEMS_SCALE = 0.01  # what scale and alignment of such a gyroscope are off, relative
MIN_DENSITIES: Array = np.array([1e-5, 1e-4, 1e-7, 1e-6])  # so that a perfect unit has a weight
ONE_CAMERA = "one camera alone: the scale is the inertial unit's, and comes with motion"
MIN_TILT_DEVIATION = 1e-3  # [rad]
MIN_RANGE_DEVIATION = 1e-3  # so that a perfect tag has a weight [m]


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


def fleet_of(
    aircraft: Sequence[AircraftData], centre: CentreData | None, spec: VirpoSpec, gravity: float
) -> Fleet:
    """Aircraft and what joins them as an estimator knows them; see `SensorDataset.fleet`."""
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


def _noise(densities: Array, gyro_scale: float, errors: UnitErrors) -> Array:
    """Noise of a unit as in `AircraftModel`, from what the data say of it and what is given in its place."""
    specified = (errors.gyro_noise, errors.accel_noise, errors.gyro_walk, errors.accel_walk)
    measured = [*np.maximum(densities, MIN_DENSITIES), gyro_scale]
    pairs = zip((*specified, errors.gyro_scale), measured, strict=True)
    noise = np.array([value if other is None else other for other, value in pairs])
    noise[4] *= math.sqrt(2.0 * errors.scale_memory)
    return noise
