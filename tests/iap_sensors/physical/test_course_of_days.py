# SPDX-License-Identifier: BSD-3-Clause
"""The light of a scene over a day: it steps once a minute of solar time, and exposure stays that of the start."""

from dataclasses import replace

import numpy as np

from iap_description.scenes.lighting import Lighting, Sun, TimeOfDay
from iap_description.world.world import World
from iap_sensors.physical.day_course import DayCourse


def scene_of(rate, **lighting):
    made = Lighting(**lighting) if lighting else None
    day = TimeOfDay(hour=10.0, rate=rate)
    return replace(World().surroundings(), lighting=made, time_of_day=day)


def test_the_light_steps_once_a_minute_of_solar_time():
    course = DayCourse(scene_of(30.0))
    first = course.environment
    assert [course.advance(t) for t in (0.0, 1.0, 1.99)] == [False] * 3
    assert course.environment is first
    assert course.advance(2.0) and course.environment is not first
    assert course.environment.exposed_for == first.exposed_for
    assert not course.advance(3.9)
    assert course.advance(0.0)  # a flight that begins anew


def test_a_sun_of_its_own_does_not_pass():
    course = DayCourse(scene_of(3600.0, sun=Sun(elevation_deg=40.0, azimuth_deg=10.0)))
    assert not course.advance(1e3)


def test_time_stands_still_without_a_rate():
    course = DayCourse(scene_of(0.0))
    assert not course.advance(1e6) and np.isfinite(course.environment.exposed_for)
