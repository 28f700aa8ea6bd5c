# SPDX-License-Identifier: BSD-3-Clause
"""An inspection promises no use of a log that its command refuses, and says why not in the command's own words."""

import numpy as np
import pytest
from flight_bags import motion
from ulog_writer import flight_log

from iap_bringup.cli.main import main
from iap_bringup.fuzz.made_logs import BOOT_US
from iap_description.frames import swap_world
from iap_io.flight_logs.inspection import Inspection
from iap_io.flight_logs.readers import open_log
from iap_simulation.open_loop.log_trials import trials_of

REPLAYS = {
    "replay of the flown motion": "motion",
    "replay of position set-points": "position",
    "replay of velocity set-points": "velocity",
    "replay of attitude set-points": "attitude",
    "replay of the motors": "motors",
}
POINT = "float[3] position;float[3] velocity"
GONE = (4.0, 7.0)  # times without set-points of positions [s]


@pytest.fixture
def flight():
    return motion(np.arange(0.0, 20.0, 0.01))


def with_setpoints(flight, path, gone):
    made = flight_log(flight)
    rows = [
        (
            BOOT_US + round(1e6 * t),
            *(p if not gone[0] < t < gone[1] else 3 * [np.nan]),
            *3 * [np.nan],
        )
        for t, p in zip(flight.t, swap_world(flight.p), strict=True)
    ]
    made.topic("trajectory_setpoint", POINT, rows)
    return made.write(path)


@pytest.mark.parametrize("gone", [(0.0, 0.0), GONE], ids=["whole", "with a hole"])
def test_what_can_be_replayed_is_replayed_and_what_cannot_is_refused_alike(
    flight, tmp_path, capsys, gone
):
    path = with_setpoints(flight, tmp_path / "flight.ulg", gone)
    log = open_log(path)
    uses = {each.name: each.reason for each in Inspection.of(log, trials_of(log)).uses}
    assert not uses["replay of the flown motion"]
    assert bool(uses["replay of position set-points"]) == (gone == GONE)
    for name, what in REPLAYS.items():
        out = ["--no-plot", "--no-view", "--out", str(tmp_path / what)]
        code = main(["replay", str(path), "--what", what, "--platform", "f450", *out])
        said = capsys.readouterr().err
        assert (code == 0) == (not uses[name]), (name, said)
        if uses[name].startswith("no sample"):
            assert uses[name] in said


def test_without_trials_the_signals_alone_count(flight, tmp_path):
    log = open_log(with_setpoints(flight, tmp_path / "flight.ulg", GONE))
    uses = {each.name: each.reason for each in Inspection.of(log).uses}
    assert not uses["replay of position set-points"]


def test_set_points_that_control_for_longer_count(flight, tmp_path):
    """As of a log whose first topic has set-points for a tenth of the flight alone."""
    made = flight_log(flight)
    us = [BOOT_US + round(1e6 * t) for t in flight.t]
    few = [(t, *(3 * [0.01 * k if k < 200 else np.nan]), 0.0, 0.0, 0.0) for k, t in enumerate(us)]
    made.topic(
        "vehicle_local_position_setpoint",
        "float x;float y;float z;float vx;float vy;float vz",
        few,
    )
    all_along = [(t, *swap_world(p), 0.0, 0.0, 0.0) for t, p in zip(us, flight.p, strict=True)]
    made.topic("trajectory_setpoint", POINT, all_along)
    signals = open_log(made.write(tmp_path / "flight.ulg")).signals
    assert signals["position_setpoint"].source == "trajectory_setpoint.position"
