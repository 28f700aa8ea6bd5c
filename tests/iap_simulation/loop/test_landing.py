# SPDX-License-Identifier: BSD-3-Clause
"""Landings in PyBullet: how hard the ground is touched, and when rotors end."""

import numpy as np
import pytest
from flying import scenario_of

from iap_control.controllers.land_detector import LandDetector
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, REF_P, REF_Q, REF_V, Level
from iap_simulation.flights.flight import Flight
from iap_simulation.runs.run import score
from iap_simulation.simulation.simulation import Simulation

MAX_TOUCH, MAX_FORCE, MAX_FORCE_JOINED = 0.12, 100.0, 150.0  # [m/s], [N], [N]
STANDING = 0.25  # height of P's origin of three_star on the ground [m]


def landing_of(name, *settings, **options):
    """Key `landing` of a flight from the ground and back to it, and the metrics around it."""
    flight = Flight.of(scenario_of(name, *settings, engine="pybullet", **options))
    with Simulation(flight) as simulation:
        metrics, failure = score(flight, simulation)
    assert not failure
    return metrics["landing"], metrics


def hover(*settings, platform="f450", height=0.6):
    place = f"reference.position=[0.0,0.0,{height}]"
    ground = ("start.mode=ground", "reference.duration=0.5", place)
    return landing_of("hover", *ground, *settings, platform=platform)[0]


def assert_soft(landing, force=MAX_FORCE):
    assert landing["touch_speed_mps"] < MAX_TOUCH
    assert landing["force_n"] < force
    assert landing["stands"]
    assert abs(landing["cut_height_m"]) < 0.005, "rotors end on the ground alone"


@pytest.mark.parametrize("height", [0.22, pytest.param(3.0, marks=pytest.mark.slow)])
def test_a_quadrotor_lands_softly_from_any_height(height):
    assert_soft(hover(height=height))


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["three_star", "star_5", "three_line", "hexa", "beetle"])
def test_platforms_land_softly(platform):
    assert_soft(hover(platform=platform), 150.0 if platform == "three_star" else MAX_FORCE)


@pytest.mark.slow
def test_a_vehicle_that_is_wrong_about_its_height_lands_as_softly():
    assert_soft(hover("state_noise.position_bias=0.08"))


@pytest.mark.slow
def test_a_vehicle_with_noisy_velocities_lands_as_softly():
    assert_soft(hover("state_noise.velocity=0.05", "state_noise.rate_deg=3.0"))


@pytest.mark.parametrize("platform", ["f450", pytest.param("beetle", marks=pytest.mark.slow)])
def test_a_vehicle_that_is_commanded_into_the_ground_touches_it_softly(platform):
    """Its own reference falls from 1.5 m to 1 m below the ground within two seconds."""
    line = (
        "reference={type: line, duration: 2.0, start: [0, 0, 1.5], end: [0, 0, -1.0], yaw_deg: 0}"
    )
    assert_soft(landing_of("hover", "start.mode=ground", line, platform=platform)[0])


@pytest.mark.slow
def test_a_vehicle_lands_in_gusts():
    assert_soft(hover("wind.speed=3.0", "wind.turbulence=7.7"))


@pytest.mark.slow
def test_a_chain_of_four_modules_lands_softly_and_its_neighbours_do_not_collide():
    settings = ("modules.count=4", "vehicles.0.reference.duration=6.0")
    landing, metrics = landing_of("module_hover", *settings)
    assert set(landing["vehicles"]) == {"m1", "m2", "m3", "m4"}
    assert_soft(landing, MAX_FORCE_JOINED)
    assert metrics["collisions"] == []


def test_corners_of_a_structure_that_touch_do_not_collide():
    """Of four modules in a square those across a corner touch, where no joint joins them."""
    with Simulation(
        Flight.of(scenario_of("module_square", engine="pybullet", duration=0.3))
    ) as simulation:
        simulation.fly()
        assert simulation.participants.monitor.collisions == []


# --- the land detector by itself ----------------------------------------------------------------


def reference(z, v=0.0, level=Level.POSE):
    row = np.zeros(REF_FIXED)
    row[REF_P], row[REF_Q] = (0.0, 0.0, z), (0.0, 0.0, 0.0, 1.0)
    row[REF_V] = (0.0, 0.0, v)
    return Reference(row, level)


def state(z, v=0.0):
    return np.array([0.0, 0.0, z, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, v, 0.0, 0.0, 0.0])


def levels(detector, times, heights, references, speeds=None, lift=0.0):
    """Levels of what is tracked at times, by the heights of a vehicle and of its references."""
    speeds = np.zeros(len(times)) if speeds is None else speeds
    rows = zip(times, heights, references, speeds, strict=True)
    wrench = np.array([0.0, 0.0, lift, 0.0, 0.0, 0.0])
    return [detector.reference(t, state(z, v), reference(r), wrench).level for t, z, r, v in rows]


def detector_in_flight():
    detector = LandDetector(STANDING, 2.0)
    detector.reference(-0.005, state(1.0), reference(0.4))
    return detector


TIMES = np.arange(0.0, 4.0, 0.005)
SINKING = np.maximum(0.4 - 0.08 * TIMES, 0.02)


def test_rotors_end_a_second_after_the_touch():
    heights = np.maximum(SINKING, STANDING)
    speeds = np.where(SINKING > STANDING, -0.08, 0.0)
    out = levels(detector_in_flight(), TIMES, heights, SINKING, speeds)
    touch = TIMES[np.argmax(SINKING < STANDING)]
    end = TIMES[out.index(Level.WRENCH)]
    assert touch + 1.0 < end < touch + 1.7
    assert set(out[out.index(Level.WRENCH) :]) == {Level.WRENCH}


def test_rotors_go_on_in_the_air_whatever_a_reference_below_the_ground_asks_for():
    """A vehicle that follows it deeper, one that lags behind and one that a gust stops for half a second."""
    follows = levels(detector_in_flight(), TIMES, SINKING, SINKING, -0.08 * np.ones(800))
    lags = levels(detector_in_flight(), TIMES, SINKING + 0.1, SINKING, -0.08 * np.ones(800))
    stopped = -0.08 * (np.sin(2.0 * np.pi * TIMES) > 0.0)
    gust = levels(detector_in_flight(), TIMES, SINKING + 0.1, SINKING, stopped)
    assert set(follows) == set(lags) == set(gust) == {Level.POSE}


def test_a_vehicle_that_rests_on_something_above_the_ground_keeps_its_rotors():
    above = np.full(800, STANDING + 0.5)
    out = levels(detector_in_flight(), TIMES, above, np.full(800, STANDING + 0.1))
    assert set(out) == {Level.POSE}


def test_a_vehicle_that_feels_the_ground_need_not_be_far_above_its_reference():
    place, short = np.full(800, STANDING - 0.06), np.full(800, STANDING - 0.07)
    assert Level.WRENCH not in levels(detector_in_flight(), TIMES, place, short)
    felt = levels(detector_in_flight(), TIMES, place, short, lift=3.0)
    assert felt[-1] == Level.WRENCH


def test_a_vehicle_that_stands_takes_off_again_when_it_is_asked_to_climb():
    detector = detector_in_flight()
    standing = np.full(800, STANDING)
    assert levels(detector, TIMES, standing, SINKING)[-1] == Level.WRENCH
    climb = np.linspace(0.02, 1.0, 800)
    out = levels(detector, TIMES + 4.0, standing, climb)
    assert out[0] == Level.WRENCH
    assert set(out[100:]) == {Level.POSE}


def test_a_vehicle_that_has_not_flown_yet_keeps_its_rotors():
    detector = LandDetector(STANDING, 2.0)
    out = levels(detector, TIMES, np.full(800, STANDING), np.full(800, STANDING - 0.1))
    assert set(out) == {Level.POSE}


@pytest.mark.parametrize("speed", [0.3, 1.0, 3.0])
def test_whoever_asks_to_come_down_fast_comes_down_slowly_at_the_ground(speed):
    """As a stick or a stream of velocities does: the reference falls at one speed to far below the ground."""
    detector, last, fastest = LandDetector(STANDING, 2.0), 2.0, 0.0
    for t in np.arange(0.0, 12.0, 0.005):
        z = 2.0 - speed * t
        out = detector.reference(t, state(max(z, 2.0)), reference(z, -speed)).row[2]
        if out < STANDING + 0.02:
            fastest = max(fastest, (last - out) / 0.005)
        last = out
    assert 0.07 < fastest < 0.09
    assert STANDING - 0.3 < last < STANDING - 0.1


def test_a_reference_that_can_be_stopped_before_the_ground_is_left_as_it_is():
    detector = LandDetector(STANDING, 2.0)
    for t in np.arange(0.0, 3.0, 0.005):
        asked = reference(1.5 + 0.8 * np.cos(1.5 * t))
        assert detector.reference(t, state(1.5), asked) is asked
