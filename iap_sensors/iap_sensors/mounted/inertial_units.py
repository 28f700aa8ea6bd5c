# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units, magnetometers and attitude estimates of one vehicle."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.random_streams import stream
from iap_description.sensors.inertial_samples import InertialMounts, InertialSamples
from iap_description.sensors.mounts import SensorMount, places, seat, seat_meta
from iap_description.sensors.readings import ImuReading, MagneticReading, Reading, Source
from iap_description.sensors.sensor_info import ImuInfo, MagnetometerInfo
from iap_description.vehicles.assembly import Assembly
from iap_physics.inertial import InertialProbe
from iap_sensors.ahrs import AttitudeFilter
from iap_sensors.imu import Imu
from iap_sensors.magnetometer import Magnetometer
from iap_sensors.mounted.sampling import Sampling, nearest_rate
from iap_sensors.mounted.sensor_presets import Sensors
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec

Array = NDArray[np.float64]
MOUNT = "imu"  # a magnetometer is part of the unit
SURPRISE = 2.0  # first bias over what an attitude filter expects, from which on it is told


class Unit:
    """One inertial unit with what belongs to it.

    Args:
        place: where it sits.
        sensors: what it is.
        rate: of its samples [Hz].
        seed: the run's.
    """

    def __init__(self, place: SensorMount, sensors: Sensors, rate: float, seed: int) -> None:
        assert sensors.imu is not None  # noqa: S101 - nobody makes a unit of nothing
        self.place = place
        self.magnetic = Source(place.source.topic.removesuffix(MOUNT) + "mag", place.source.frame)
        self._imu = Imu(sensors.imu, rate, stream(seed, place.source.topic))
        spec = sensors.magnetometer
        self._magnetometer = (
            None if spec is None else Magnetometer(spec, stream(seed, self.magnetic.topic))
        )
        gains = sensors.attitude
        self.filter = None if gains is None else AttitudeFilter(gains, 1.0 / rate)

    def reset(self, seed: int, q_WS: Array) -> None:
        """Start anew from an attitude (4,)."""
        self._imu.reset(stream(seed, self.place.source.topic))
        if self._magnetometer is not None:
            self._magnetometer.reset(stream(seed, self.magnetic.topic))
        if self.filter is not None:
            self.filter.reset(q_WS)

    def feel(self, t: Array, w_S: Array, f_S: Array) -> list[ImuReading]:
        """Readings of ideal samples: times (S,) [s], angular velocities and specific forces (S, 3)."""
        samples = self._imu(w_S, f_S)
        return [
            ImuReading(self.place.source, float(t[s]), w, f, self._estimate(w, f), b_w, b_f)
            for s, (w, f, b_w, b_f) in enumerate(zip(*samples, strict=True))
        ]

    def _estimate(self, w_S: Array, f_S: Array) -> Array | None:
        return None if self.filter is None else self.filter(w_S, f_S).copy()

    def point(self, t: float, q_WS: Array) -> MagneticReading | None:
        """The magnetometer's reading at an attitude (4,), which corrects the estimate's heading."""
        if self._magnetometer is None:
            return None
        field_S = self._magnetometer.measure(q_WS)
        if self.filter is not None:
            self.filter.correct_heading(field_S)
        return MagneticReading(self.magnetic, t, field_S)


def seats_of(assembly: Assembly) -> list[SensorMount]:
    """Where the units of a vehicle sit: on the centre first, then on every aircraft.

    Raises:
        BadInput: a body has no mount for one.
    """
    bodies = sorted({0, *assembly.aircraft})
    return [seat(assembly, body, MOUNT, MOUNT, key="sensors.imu") for body in bodies]


class InertialUnits:
    """All units of one vehicle: on the centre, and on every aircraft.

    Args:
        scenario: what is flown.
        vehicle: whose units; it must have some.
        assembly: its bodies.
        first: row of its central body among all bodies.

    Attributes:
        units: of each body.
        probe: of their ideal samples, for the plant.
        notes: sentences for the user.
    """

    def __init__(
        self, scenario: Scenario, vehicle: VehicleSpec, assembly: Assembly, first: int
    ) -> None:
        sensors = vehicle.sensors
        assert sensors.imu is not None  # noqa: S101 - the caller has looked
        rates = scenario.rates
        self.rate, every = nearest_rate(sensors.imu.rate, rates.physics_hz)
        self._dt, self._sensors = 1.0 / rates.physics_hz, sensors
        seats = seats_of(assembly)
        self.units = [Unit(place, sensors, self.rate, scenario.seed) for place in seats]
        self._seats, self._assembly = seats, assembly
        self.probe = InertialProbe(
            _mounts(seats, first),
            physics_hz=rates.physics_hz,
            every=every,
            sampling=sensors.imu.sampling,
            gravity=scenario.world.gravity,
        )
        self._pointing = self._pointing_of(rates.control_hz)
        self.notes = self._notes(every, rates.physics_hz)

    def _pointing_of(self, control_hz: float) -> Sampling | None:
        spec = self._sensors.magnetometer
        return None if spec is None else Sampling.of(spec.rate, control_hz, "magnetometer")

    def _notes(self, every: int, physics_hz: float) -> list[str]:
        assert self._sensors.imu is not None  # noqa: S101
        notes = [] if self._pointing is None else [self._pointing.note]
        wanted = self._sensors.imu.rate
        if self.rate != wanted:
            steps = f"one of every {every} physics steps"
            notes.append(f"imu: {self.rate:.4g} Hz instead of {wanted:.4g} Hz, {steps}")
        bias, gains = self._sensors.imu.gyro.bias, self._sensors.attitude
        if gains is not None and bias > SURPRISE * gains.bias:
            notes.append(
                f"attitude: it expects gyroscopes to begin with a bias of {gains.bias:.2g} rad/s, and imu begins with"
                f" {bias:.2g} (sensors.attitude=mems is for such units)"
            )
        return [note for note in notes if note]

    def reset(self, seed: int, x: Array) -> None:
        """Start anew from the vehicle's rows (bodies, 13)."""
        _, attitudes = places(self._seats, x)
        for unit, q_WS in zip(self.units, attitudes, strict=True):
            unit.reset(seed, q_WS)

    def look(self, k: int, t: float, x: Array, samples: InertialSamples) -> list[Reading]:
        """Readings of the ideal samples that have come by control instant k.

        Args:
            k: the instant.
            t: its time [s].
            x: (bodies, 13) the vehicle's state then, at which magnetometers point.
            samples: of the probe since the last instant.
        """
        times = samples.ticks.astype(np.float64) * self._dt
        out: list[Reading] = []
        for m, unit in enumerate(self.units):
            out += unit.feel(times, samples.w_WS_S[:, m], samples.f_S[:, m])
        if self._pointing is not None and self._pointing.is_due(k):
            _, attitudes = places(self._seats, x)
            pointed = (unit.point(t, q) for unit, q in zip(self.units, attitudes, strict=True))
            out += [each for each in pointed if each is not None]
        return out

    @property
    def metas(self) -> list[ImuInfo | MagnetometerInfo]:
        """What a recording says of the units."""
        out: list[ImuInfo | MagnetometerInfo] = []
        for unit in self.units:
            out.append(self._imu_meta(unit))
            if self._pointing is not None:
                out.append(self._magnetic_meta(unit, self._pointing))
        return out

    def _imu_meta(self, unit: Unit) -> ImuInfo:
        spec = self._sensors.imu
        assert spec is not None  # noqa: S101
        return ImuInfo(
            **seat_meta(self._assembly, unit.place),
            rate=self.rate,
            gyro_noise=spec.gyro.noise,
            gyro_walk=spec.gyro.walk,
            accel_noise=spec.accel.noise,
            accel_walk=spec.accel.walk,
            attitude_deviation=None if unit.filter is None else unit.filter.deviation,
            has_bias=True,
        )

    def _magnetic_meta(self, unit: Unit, pointing: Sampling) -> MagnetometerInfo:
        spec = self._sensors.magnetometer
        assert spec is not None  # noqa: S101
        return MagnetometerInfo(
            **{**seat_meta(self._assembly, unit.place), "topic": unit.magnetic.topic},
            rate=pointing.rate,
            deviation=spec.noise,
        )


def _mounts(seats: Sequence[SensorMount], first: int) -> InertialMounts:
    return InertialMounts(
        np.array([first + place.body for place in seats], dtype=np.int64),
        np.array([place.p_BS_B for place in seats]),
        np.array([place.q_BS for place in seats]),
    )
