# SPDX-License-Identifier: BSD-3-Clause
"""Sensors that PX4 flies by, as HIL messages have them: inertial unit, magnetometer, barometer, satellite receiver.

PX4's world axes are north, east, down, and its body axes forward, right, down. Every channel has noise, since PX4 takes
a sensor whose value stands still for a broken one.
"""

import math

import numpy as np

from iap_description.math import so3
from iap_description.math.atmosphere import standard_pressure
from iap_description.math.geodesy import Geodetic, geodetic
from iap_physics.firmware.firmware import AircraftMotion
from iap_physics.firmware.px4.mavlink import HIL_GPS, HIL_SENSOR, Sender
from iap_physics.firmware.sensor_noise import SensorNoise
from iap_physics.firmware.settings import Px4Settings

IMU, MAGNETOMETER, BAROMETER = 0x3F, 0x1C0, 0x1A00  # bits of fields_updated
MAGNETOMETER_HZ, BAROMETER_HZ, GPS_HZ = 100.0, 50.0, 5.0
GAUSS, HECTOPASCAL = 1e-4, 100.0  # [T], [Pa]
TEMPERATURE = 25.0  # [deg C]
FIX_3D, SATELLITES, ACCURACY_CM = 3, 12, 30


class HilSensors:
    """The sensors of one aircraft.

    Args:
        settings: of the firmware.
        rng: of their noise.
    """

    def __init__(self, settings: Px4Settings, rng: np.random.Generator) -> None:
        self._settings, self._rng, self._imu = settings, rng, SensorNoise(settings, rng)
        self._field_W = np.array(settings.magnetic_field)
        self._datum = Geodetic(settings.latitude_deg, settings.longitude_deg, settings.altitude)
        rates = (MAGNETOMETER_HZ, BAROMETER_HZ, GPS_HZ)
        self._every = [max(1, round(settings.rate_hz / rate)) for rate in rates]
        self._slow = (
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        )  # magnetometer [gauss], pressure [hPa], its altitude
        self._count = 0

    def frames(self, sender: Sender, stamp_us: int, motion: AircraftMotion) -> bytes:
        """The messages of one exchange: the inertial unit's each time, the others' at their rates."""
        settings, every, count = self._settings, self._every, self._count
        updated, out, self._count = IMU, b"", count + 1
        if count % every[0] == 0:
            updated |= MAGNETOMETER
            self._slow = (*self._magnetometer(motion), *self._slow[3:])
        if count % every[1] == 0:
            updated |= BAROMETER
            height = settings.altitude + motion.p_WB_W[2]
            pressure = float(standard_pressure(height))
            off = settings.barometer_noise * float(self._rng.standard_normal())
            altitude = height - off / 12.0  # [m] per Pa near the ground
            self._slow = (*self._slow[:3], (pressure + off) / HECTOPASCAL, altitude)
        if count % every[2] == 0:
            out = self._fix(sender, stamp_us, motion)
        noisy = self._imu(motion)
        (p, q, r), (a, b, c) = noisy.w_WB_B, noisy.f_B
        *field, pressure, altitude = self._slow
        inertial = (a, -b, -c, p, -q, -r)
        values = (*inertial, *field, pressure, 0.0, altitude, TEMPERATURE)
        return out + sender.frame(HIL_SENSOR, stamp_us, *values, updated, 0)

    def _magnetometer(self, motion: AircraftMotion) -> tuple[float, float, float]:
        """The field in axes forward, right, down [gauss]."""
        field_B = so3.rotate(so3.conjugate(np.array(motion.q_WB)), self._field_W)
        noise = self._settings.magnetometer_noise * self._rng.standard_normal(3)
        x, y, z = ((field_B + noise) / GAUSS).tolist()
        return x, -y, -z

    def _fix(self, sender: Sender, stamp_us: int, motion: AircraftMotion) -> bytes:
        settings, off = self._settings, self._rng.standard_normal(6)
        p_W = np.array(motion.p_WB_W) + settings.position_noise * off[:3]
        east, north, up = (np.array(motion.v_WB_W) + settings.velocity_noise * off[3:]).tolist()
        place = geodetic(p_W, self._datum)
        course = math.degrees(math.atan2(east, north)) % 360.0
        speed = math.hypot(east, north)
        return sender.frame(
            HIL_GPS,
            stamp_us,
            round(place.latitude * 1e7),
            round(place.longitude * 1e7),
            round(place.altitude * 1e3),
            ACCURACY_CM,
            ACCURACY_CM,
            round(100.0 * speed),
            round(100.0 * north),
            round(100.0 * east),
            round(-100.0 * up),
            round(100.0 * course) % 36_000,
            FIX_3D,
            SATELLITES,
            0,
            0,
        )
