# SPDX-License-Identifier: BSD-3-Clause
"""Sensors that fail say nothing or the same with new stamps; the others, and they later, speak as if nothing was."""

import numpy as np
import pytest

from iap_simulation.simulation.simulation import Simulation

SENSORS = {"sensors": "imu,uwb", "duration": 1.0, "seed": 4}
FAULT = {"at": 0.3, "sensor": "imu", "aircraft": 2, "for": 0.2}


def said(*faults, steps=160, resets=0):
    """Values by topic and stamp [ns] that a short hover's sensors say."""
    out = {}
    with Simulation.of("hover", settings={"faults": list(faults)}, **SENSORS) as simulation:
        for _ in range(resets):
            while simulation.t < 0.4:
                simulation.step()
            simulation.reset()
        for _ in range(steps):
            simulation.step()
            for reading in simulation.readings:
                out.setdefault(reading.source.topic, {})[reading.stamp] = value_of(reading)
    return out


def value_of(reading):
    fields = {"imu": "w_WS_S", "mag": "field_S", "uwb": "ranges"}
    return getattr(reading, fields[reading.source.topic.rpartition("/")[2]])


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k], equal_nan=True) for k in a)


@pytest.fixture(scope="module")
def sound():
    return said()


def test_a_silent_unit_says_nothing_and_then_what_it_would_have_said(sound):
    heard = said({**FAULT, "output": "silent"})
    topic = "/iap/drone_2/imu"
    kept = {t: v for t, v in sound[topic].items() if not 300_000_000 <= t < 500_000_000}
    assert len(sound[topic]) - len(kept) == 40
    assert same(heard[topic], kept)
    assert all(same(heard[other], sound[other]) for other in sound if other != topic)


def test_a_frozen_unit_repeats_its_last_sample_with_new_stamps(sound):
    heard = said({**FAULT, "output": "frozen"})["/iap/drone_2/imu"]
    true = sound["/iap/drone_2/imu"]
    assert heard.keys() == true.keys()
    for t in true:
        source = 295_000_000 if 300_000_000 <= t < 500_000_000 else t
        np.testing.assert_array_equal(heard[t], true[source])


def test_without_an_aircraft_the_sensors_of_all_bodies_fail_and_for_good(sound):
    heard = said({"at": 0.3, "sensor": "imu", "output": "silent"})
    for body in ("", "/drone_1", "/drone_2", "/drone_3"):
        assert max(heard[f"/iap{body}/imu"]) == 295_000_000
    assert same(heard["/iap/drone_1/uwb"], sound["/iap/drone_1/uwb"])


@pytest.mark.parametrize("output", ["silent", "frozen"])
def test_after_a_reset_it_fails_as_in_a_first_flight(output):
    fault = {**FAULT, "output": output}
    once, again = said(fault), said(fault, resets=1)
    assert once.keys() == again.keys()
    assert all(same(once[topic], again[topic]) for topic in once)
