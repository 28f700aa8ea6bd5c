# SPDX-License-Identifier: BSD-3-Clause
"""Sensors that fall silent or freeze: which readings are left, with which stamps, and of which sensors."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.sensors.readings import ImuReading, SensorSource
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.faults import SensorFault
from iap_description.vehicles.platform import load_platform
from iap_sensors.mounted.faulty_sensors import FaultySensors

ASSEMBLY = Assembly.of(load_platform("three_star"), "iap")
TOPICS = ["/iap/imu", *(f"/iap/drone_{k}/imu" for k in (1, 2, 3))]


def made(**fault):
    faults = (
        [SensorFault.model_validate({"at": 1.0, "sensor": "imu", "for": 1.0, **fault})]
        if fault
        else []
    )
    vehicle = SimpleNamespace(assembly=ASSEMBLY, faults=faults)
    return FaultySensors(SimpleNamespace(vehicles=[vehicle]))


def reading(t, topic="/iap/drone_1/imu"):
    source = SensorSource(topic, topic.strip("/"))
    return ImuReading(source, t, np.full(3, t), np.zeros(3))


def said(faulty, times, topic="/iap/drone_1/imu"):
    """Stamps and contents of what is left of readings."""
    return [(each.t, float(each.w_WS_S[0])) for each in faulty([reading(t, topic) for t in times])]


TIMES = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]


def test_without_faults_readings_are_handed_on_as_they_are():
    readings = [reading(0.0)]
    assert made()(readings) is readings


def test_a_silent_sensor_says_nothing_and_a_frozen_one_the_last_with_new_stamps():
    plain = [(t, t) for t in TIMES]
    silent = [pair for pair in plain if not 1.0 <= pair[0] < 2.0]
    frozen = [(t, 0.5 if 1.0 <= t < 2.0 else t) for t in TIMES]
    assert said(made(output="silent"), TIMES) == silent
    assert said(made(output="frozen"), TIMES) == frozen
    assert said(made(output="frozen", sensor="mag"), TIMES) == plain


def test_what_froze_in_another_flight_is_not_said_again():
    faulty = made(output="frozen")
    said(faulty, [0.0, 0.9])
    assert said(faulty, [1.2]) == [(1.2, 0.9)]
    later = made(output="frozen")
    said(later, [2.5])
    assert said(later, [1.5]) == []  # the time has begun anew


@pytest.mark.parametrize(("aircraft", "struck"), [(None, TOPICS), (2, TOPICS[2:3])])
def test_a_fault_strikes_the_sensors_of_its_name_on_one_aircraft_or_on_all_bodies(
    aircraft, struck
):
    fault = (
        {"output": "silent"} if aircraft is None else {"output": "silent", "aircraft": aircraft}
    )
    faulty = made(**fault)
    assert [topic for topic in TOPICS if not said(faulty, [1.5], topic)] == struck
