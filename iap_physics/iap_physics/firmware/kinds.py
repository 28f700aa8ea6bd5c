# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of firmware: a new one is a module, its settings, and a line here."""

import numpy as np

from iap_description.config.plugins import load_class
from iap_description.vehicles.aircraft import Aircraft
from iap_physics.firmware.firmware import Firmware
from iap_physics.firmware.settings import FirmwareSettings

KEY = "firmware.name"
FIRMWARES = {
    "betaflight": "iap_physics.firmware.betaflight.betaflight:Betaflight",
    "px4": "iap_physics.firmware.px4.px4:Px4",
    "ardupilot": "iap_physics.firmware.ardupilot.ardupilot:ArduPilot",
    "crazyflie": "iap_physics.firmware.crazyflie.crazyflie:Crazyflie",
}
METHODS = ("begin", "connect", "tell", "ask", "obstacles", "end", "write")


def make_firmware(
    settings: FirmwareSettings, aircraft: Aircraft, number: int, rng: np.random.Generator
) -> Firmware:
    """A firmware that has not begun.

    Args:
        settings: of the vehicle.
        aircraft: that it flies.
        number: of the aircraft among all that firmwares fly in this process.
        rng: of its sensors' noise.

    Raises:
        BadInput: no such firmware, or it cannot fly this aircraft.
    """
    made = load_class(settings.name, METHODS, key=KEY, built_in=FIRMWARES)
    firmware: Firmware = made(settings, aircraft, number, rng)
    return firmware
