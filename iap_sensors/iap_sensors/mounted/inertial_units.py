# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units, magnetometers and attitude estimates of one vehicle."""

from typing import Any

import numpy as np

from iap_description.arrays import Array
from iap_description.math.random_streams import stream
from iap_description.sensors.mounts import (
    IMU,
    SensorMount,
    imu_mounts,
    mount_fields,
    mount_poses,
)
from iap_description.sensors.readings import (
    ImuReading,
    InertialSamples,
    MagneticReading,
    Reading,
    SensorSource,
)
from iap_description.sensors.sensor_info import ImuInfo, MagnetometerInfo
from iap_sensors.inertial.ahrs import AttitudeFilter
from iap_sensors.inertial.imu import Imu
from iap_sensors.inertial.magnetometer import Magnetometer
from iap_sensors.mounted.rig_spec import RigSpec, RigVehicle
from iap_sensors.mounted.sampling import Sampling, nearest_rate
from iap_sensors.mounted.sensor_presets import SensorsSpec

MAX_BIAS_RATIO = 2.0  # of the units' first bias to what an attitude filter expects, without a note


class Unit:
    """One inertial unit with what belongs to it.

    Args:
        mount: where it sits.
        sensors: the records of its parts.
        rate: of its samples [Hz].
        seed: the run's.
        field_rate: of the magnetometer's samples [Hz]; None without one.
    """

    def __init__(
        self,
        mount: SensorMount,
        sensors: SensorsSpec,
        rate: float,
        seed: int,
        field_rate: float | None = None,
    ) -> None:
        assert sensors.imu is not None  # noqa: S101 - nobody makes a unit of nothing
        self.mount = mount
        self.magnetic = SensorSource(
            mount.source.topic.removesuffix(IMU) + "mag", mount.source.frame
        )
        self._imu = Imu(sensors.imu, rate, stream(seed, mount.source.topic))
        spec = sensors.magnetometer
        self._magnetometer = (
            None
            if spec is None
            else Magnetometer(spec, stream(seed, self.magnetic.topic), field_rate)
        )
        gains = sensors.attitude
        self.filter = None if gains is None else AttitudeFilter(gains, 1.0 / rate)

    def reset(self, seed: int, q_WS: Array) -> None:
        """Start anew from an attitude (4,)."""
        self._imu.reset(stream(seed, self.mount.source.topic))
        if self._magnetometer is not None:
            self._magnetometer.reset(stream(seed, self.magnetic.topic))
        if self.filter is not None:
            self.filter.reset(q_WS)

    def measure(self, t: Array, w_S: Array, f_S: Array) -> list[ImuReading]:
        """Readings of ideal samples: times (S,) [s], angular velocities and specific forces (S, 3)."""
        samples = self._imu(w_S, f_S)
        return [
            ImuReading(self.mount.source, float(t[s]), w, f, self._estimate(w, f), b_w, b_f)
            for s, (w, f, b_w, b_f) in enumerate(zip(*samples, strict=True))
        ]

    def _estimate(self, w_S: Array, f_S: Array) -> Array | None:
        return None if self.filter is None else self.filter(w_S, f_S).copy()

    def measure_field(self, t: float, q_WS: Array) -> MagneticReading | None:
        """The magnetometer's reading at an attitude (4,), which corrects the estimate's heading."""
        if self._magnetometer is None:
            return None
        field_S = self._magnetometer.measure(q_WS)
        if self.filter is not None:
            self.filter.correct_heading(field_S)
        return MagneticReading(self.magnetic, t, field_S)


class InertialUnits:
    """All units of one vehicle: on the centre, and on every aircraft.

    Args:
        rig: with the rates of physics steps and of control instants, and the run's seed.
        vehicle: one of the rig's, with an inertial unit among its sensors.

    Attributes:
        units: of each body.
        rate: of their samples [Hz].
        notes: sentences for the user.
    """

    def __init__(self, rig: RigSpec, vehicle: RigVehicle) -> None:
        sensors, assembly = vehicle.sensors, vehicle.assembly
        assert sensors.imu is not None  # noqa: S101 - the caller has looked
        self._imu = sensors.imu
        self.rate, self._every = nearest_rate(sensors.imu.rate, rig.physics_hz)
        self._dt, self._attitude = 1.0 / rig.physics_hz, sensors.attitude
        self._mounts, self._assembly = imu_mounts(assembly), assembly
        spec = self._magnetometer = sensors.magnetometer
        sampling = None if spec is None else Sampling.of(spec.rate, rig.control_hz, "magnetometer")
        self._field_sampling = sampling
        how = (sensors, self.rate, rig.seed, None if sampling is None else sampling.rate)
        self.units = [Unit(mount, *how) for mount in self._mounts]
        self.notes = self._notes()

    def _notes(self) -> list[str]:
        notes = [] if self._field_sampling is None else [self._field_sampling.note]
        requested = self._imu.rate
        if self.rate != requested:
            steps = f"one of every {self._every} physics steps"
            notes.append(f"imu: {self.rate:.4g} Hz instead of {requested:.4g} Hz, {steps}")
        bias, gains = self._imu.gyro.bias, self._attitude
        if gains is not None and bias > MAX_BIAS_RATIO * gains.bias:
            notes.append(
                f"attitude: it expects gyroscopes to begin with a bias of {gains.bias:.2g} rad/s, and imu begins with"
                f" {bias:.2g} (sensors.attitude=mems is for such units)"
            )
        return [note for note in notes if note]

    def reset(self, seed: int, x: Array) -> None:
        """Start anew from the vehicle's rows (bodies, 13)."""
        _, attitudes = mount_poses(self._mounts, x)
        for unit, q_WS in zip(self.units, attitudes, strict=True):
            unit.reset(seed, q_WS)

    def sample(self, k: int, t: float, x: Array, samples: InertialSamples) -> list[Reading]:
        """Readings of the ideal samples since the last control instant, at instant k, time t [s].

        Magnetometers measure in the vehicle's state then, x (bodies, 13).
        """
        times = samples.ticks.astype(np.float64) * self._dt
        out: list[Reading] = []
        for m, unit in enumerate(self.units):
            out += unit.measure(times, samples.w_WS_S[:, m], samples.f_S[:, m])
        if self._field_sampling is not None and self._field_sampling.is_due(k):
            _, attitudes = mount_poses(self._mounts, x)
            fields = (
                unit.measure_field(t, q) for unit, q in zip(self.units, attitudes, strict=True)
            )
            out += [each for each in fields if each is not None]
        return out

    @property
    def infos(self) -> list[ImuInfo | MagnetometerInfo]:
        """Descriptions of the units."""
        out: list[ImuInfo | MagnetometerInfo] = []
        for unit in self.units:
            fields = mount_fields(self._assembly, unit.mount)
            out.append(self._imu_info(unit, fields))
            if self._magnetometer is not None and self._field_sampling is not None:
                fields |= {"topic": unit.magnetic.topic, "rate": self._field_sampling.rate}
                out.append(MagnetometerInfo(**fields, deviation=self._magnetometer.noise))
        return out

    def _imu_info(self, unit: Unit, fields: dict[str, Any]) -> ImuInfo:
        gyro, accel = self._imu.gyro, self._imu.accel
        return ImuInfo(
            **fields,
            rate=self.rate,
            gyro_noise=gyro.noise,
            gyro_walk=gyro.walk,
            accel_noise=accel.noise,
            accel_walk=accel.walk,
            gyro_scale=gyro.relative,
            attitude_deviation=None if unit.filter is None else unit.filter.deviation,
            has_bias=True,
        )
