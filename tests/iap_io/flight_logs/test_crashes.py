# SPDX-License-Identifier: BSD-3-Clause
"""Flights of a log end before the blow with which a vehicle crashes, and say so."""

import numpy as np
import pytest
from flight_bags import motion
from ulog_writer import flight_log

from iap_io.flight_logs.crashes import RISE, before_crash
from iap_io.flight_logs.flight_log import SPECIFIC_FORCE
from iap_io.flight_logs.flight_times import InTheAir
from iap_io.flight_logs.readers import open_log
from iap_io.trajectories.logged_poses import flight_samples
from iap_io.trajectories.pose_reading import PoseReading


@pytest.fixture
def log(tmp_path):
    return open_log(flight_log(motion(np.arange(0.0, 10.0, 0.01))).write(tmp_path / "a.ulg"))


def struck(log, seconds, axis):
    """The log with a blow that begins at a time of the flight, along an axis of the body."""
    force = log.signals[SPECIFIC_FORCE]
    blow = (force.t > log.begin + seconds) & (force.t < log.begin + seconds + 0.3)
    values = force.values.copy()
    values[blow, axis] += 200.0
    return log.with_signal(SPECIFIC_FORCE, type(force)(force.t, values, "imu", "m/s^2"))


def test_a_blow_across_the_rotors_ends_the_flight(log):
    whole = InTheAir(log.begin, log.end)
    assert before_crash(struck(log, 7.0, 0), whole) == pytest.approx(
        log.begin + 7.0 - RISE, abs=0.1
    )
    for harmless in (log, struck(log, 7.0, 2)):  # rotors push along z
        assert before_crash(harmless, whole) == log.end
    later = InTheAir(log.begin + 8.0, log.end)  # what was before it does not count
    assert before_crash(struck(log, 7.0, 0), later) == log.end


def test_what_is_flown_of_a_crash_ends_before_it_and_says_so(log):
    samples = flight_samples(struck(log, 7.0, 1), PoseReading())
    end = samples.header_ns[-1] * 1e-9 - log.begin
    assert end == pytest.approx(6.9, abs=0.1)
    assert any("with which it crashes" in note for note in samples.about.notes)
