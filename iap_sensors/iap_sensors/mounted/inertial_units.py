# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units, magnetometers and attitude estimates of one vehicle."""

import numpy as np
from numpy.typing import NDArray

from iap_description.random_streams import stream
from iap_description.sensors.mounts import (
    IMU,
    SensorMount,
    imu_mounts,
    mount_fields,
    mount_poses,
)
from iap_description.sensors.readings import (
    ImuReading,
    InertialMounts,
    InertialSamples,
    MagneticReading,
    Reading,
    Source,
)
from iap_description.sensors.sensor_info import ImuInfo, MagnetometerInfo
from iap_description.vehicles.assembly import Assembly
from iap_sensors.ahrs import AttitudeFilter
from iap_sensors.imu import Imu
from iap_sensors.magnetometer import Magnetometer
from iap_sensors.mounted.sampling import Sampling, nearest_rate
from iap_sensors.mounted.sensor_presets import Sensors

Array = NDArray[np.float64]
MAX_BIAS_RATIO = 2.0  # of the units' first bias to what an attitude filter expects, without a note


class Unit:
    """One inertial unit with what belongs to it.

    Args:
        mount: where it sits.
        sensors: the records of its parts.
        rate: of its samples [Hz].
        seed: the run's.
    """

    def __init__(self, mount: SensorMount, sensors: Sensors, rate: float, seed: int) -> None:
        assert sensors.imu is not None  # noqa: S101 - nobody makes a unit of nothing
        self.mount = mount
        self.magnetic = Source(mount.source.topic.removesuffix(IMU) + "mag", mount.source.frame)
        self._imu = Imu(sensors.imu, rate, stream(seed, mount.source.topic))
        spec = sensors.magnetometer
        self._magnetometer = (
            None if spec is None else Magnetometer(spec, stream(seed, self.magnetic.topic))
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
        sensors: the vehicle's, an inertial unit among them.
        assembly: its bodies.
        first: row of its central body among all bodies.
        seed: of the run.
        physics_hz: rate of physics steps [Hz].
        control_hz: rate of control instants [Hz].

    Attributes:
        units: of each body.
        mounts: of the units, for those who make their ideal samples.
        every: physics steps between samples.
        sampling: of the ideal samples: means over the interval, or instants.
        notes: sentences for the user.
    """

    def __init__(
        self,
        sensors: Sensors,
        assembly: Assembly,
        first: int,
        *,
        seed: int,
        physics_hz: float,
        control_hz: float,
    ) -> None:
        assert sensors.imu is not None  # noqa: S101 - the caller has looked
        self.rate, self.every = nearest_rate(sensors.imu.rate, physics_hz)
        self.sampling = sensors.imu.sampling
        self._dt, self._sensors = 1.0 / physics_hz, sensors
        mounts = imu_mounts(assembly)
        self.units = [Unit(mount, sensors, self.rate, seed) for mount in mounts]
        self._mounts, self._assembly = mounts, assembly
        self.mounts = InertialMounts(
            np.array([first + mount.body for mount in mounts], dtype=np.int64),
            np.array([mount.p_BS_B for mount in mounts]),
            np.array([mount.q_BS for mount in mounts]),
        )
        self._field_sampling = self._field_sampling_of(control_hz)
        self.notes = self._notes()

    def _field_sampling_of(self, control_hz: float) -> Sampling | None:
        spec = self._sensors.magnetometer
        return None if spec is None else Sampling.of(spec.rate, control_hz, "magnetometer")

    def _notes(self) -> list[str]:
        assert self._sensors.imu is not None  # noqa: S101
        notes = [] if self._field_sampling is None else [self._field_sampling.note]
        wanted = self._sensors.imu.rate
        if self.rate != wanted:
            steps = f"one of every {self.every} physics steps"
            notes.append(f"imu: {self.rate:.4g} Hz instead of {wanted:.4g} Hz, {steps}")
        bias, gains = self._sensors.imu.gyro.bias, self._sensors.attitude
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
        """Readings of the ideal samples that have come by control instant k.

        Args:
            k: the instant.
            t: its time [s].
            x: (bodies, 13) the vehicle's state then, in which magnetometers measure.
            samples: since the last instant.
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
            out.append(self._imu_info(unit))
            if self._field_sampling is not None:
                out.append(self._magnetic_info(unit, self._field_sampling))
        return out

    def _imu_info(self, unit: Unit) -> ImuInfo:
        spec = self._sensors.imu
        assert spec is not None  # noqa: S101
        return ImuInfo(
            **mount_fields(self._assembly, unit.mount),
            rate=self.rate,
            gyro_noise=spec.gyro.noise,
            gyro_walk=spec.gyro.walk,
            accel_noise=spec.accel.noise,
            accel_walk=spec.accel.walk,
            attitude_deviation=None if unit.filter is None else unit.filter.deviation,
            has_bias=True,
        )

    def _magnetic_info(self, unit: Unit, sampling: Sampling) -> MagnetometerInfo:
        spec = self._sensors.magnetometer
        assert spec is not None  # noqa: S101
        return MagnetometerInfo(
            **{**mount_fields(self._assembly, unit.mount), "topic": unit.magnetic.topic},
            rate=sampling.rate,
            deviation=spec.noise,
        )
