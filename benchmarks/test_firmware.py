# SPDX-License-Identifier: BSD-3-Clause
"""Speed of f450 in the loop of servers for autopilots, by programs that speak their messages at 1 kHz."""

import sys
from pathlib import Path

import pytest

from iap_bringup.experiments.firmware import FirmwareCase, fly

CASE = FirmwareCase("f450, hover", "f450", "hover", 10.0, None, None)
SEED, ROUNDS, BAR = 0, 3, 5.0  # seed, flights, times real time
RATE = 1000.0  # of the exchange [Hz]


@pytest.mark.parametrize("server", ["HIL", "JSON"])
def test_server(benchmark, figure, server):
    """Ten seconds of hover; the program's own loop in Python is part of the time."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
    from firmwares import ARDUPILOT_PORT, PX4_PORT, fake_ardupilot, fake_px4

    fakes = {"HIL": fake_px4(port=PX4_PORT), "JSON": fake_ardupilot(port=ARDUPILOT_PORT)}
    firmware = {**fakes[server], "rate_hz": RATE}
    flights = []
    benchmark.pedantic(
        lambda: flights.append(fly(CASE, SEED, firmware)), rounds=ROUNDS, warmup_rounds=1
    )
    speeds = sorted(each.speed for each in flights[1:])
    name = f"f450 by the {server} server at 1 kHz"
    figure(name, speeds[len(speeds) // 2], f"x real time (median of {ROUNDS})", 1, bar=BAR)
    differing = len({each.digest for each in flights}) - 1
    figure(f"{name}, flights that differ when repeated", differing, "", bar=0)
