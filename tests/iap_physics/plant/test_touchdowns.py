# SPDX-License-Identifier: BSD-3-Clause
"""Scores of a landing: the speed of a touch, mean forces, and where rotors ended."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_physics.plant.touchdowns import MEAN_TIME, RELEASE_TIME, Touchdown, Touchdowns

HOVER, CLEARANCE = 20.0, 0.1


def row(z=CLEARANCE, v=(0.0, 0.0, 0.0)):
    x = np.zeros(13)
    x[2], x[6], x[7:10] = z, 1.0, v
    return x


@pytest.fixture
def landing():
    return Touchdown(CLEARANCE, HOVER, np.zeros(5))


def test_the_speed_of_a_touch_is_that_of_the_step_before_and_the_largest_counts(landing):
    landing.leave(row(0.3, (0.4, 0.1, -0.2)))
    landing.note(0, row(), force=30.0, thrust=HOVER, apart=3)
    assert landing.touch_speed == pytest.approx(0.2)
    for step in range(1, 5):
        landing.note(step, row(0.12, (0.0, 0.0, -0.05)), force=0.0, thrust=HOVER, apart=3)
    landing.note(5, row(), force=10.0, thrust=HOVER, apart=3)  # another one, slower
    assert landing.touch_speed == pytest.approx(0.2)
    assert landing.force == pytest.approx(30.0 / 5.0)  # mean of the last steps


def test_it_stands_once_its_rotors_have_ended_and_it_is_at_rest(landing):
    landing.leave(row(0.3))
    landing.note(0, row(0.13, (0.0, 0.0, -0.1)), force=0.0, thrust=0.0, apart=3)
    assert landing.cut_height == pytest.approx(0.03)
    assert not landing.stands
    landing.note(1, row(v=(0.0, 0.0, -0.5)), force=50.0, thrust=0.0, apart=3)
    assert not landing.stands  # it slides on
    landing.note(2, row(), force=HOVER, thrust=0.0, apart=3)
    assert landing.stands
    assert landing.record["cut_height_m"] == pytest.approx(0.03)
    landing.note(3, row(), force=HOVER, thrust=HOVER, apart=3)
    assert (landing.stands, landing.cut_height) == (False, None)


def test_who_takes_off_again_or_begins_anew_keeps_nothing_that_it_should_not(landing):
    landing.leave(row(0.3, (0.0, 0.0, -0.2)))
    landing.note(0, row(), force=30.0, thrust=0.0, apart=3)
    landing.leave(row(0.3, (0.0, 0.0, 0.3)))
    assert landing.flies and not landing.stands and not landing.forces.any()
    assert landing.touch_speed == pytest.approx(0.2)
    landing.clear()
    assert (landing.touch_speed, landing.force, landing.flies) == (None, 0.0, False)


@pytest.mark.parametrize("dt", [1e-3, 5e-4, 2e-3])
def test_forces_are_averaged_over_a_time_whatever_the_steps(dt):
    """A force of one step counts by its impulse, and a touch is another one after a time."""
    touchdowns = Touchdowns(None, [], {0: CLEARANCE}, ["a"], [HOVER], dt)
    (landing,) = touchdowns._each.values()
    landing.leave(row(0.3))
    landing.note(0, row(), force=30.0, thrust=HOVER, apart=touchdowns._apart)
    assert landing.force == pytest.approx(30.0 / len(landing.forces))
    assert len(landing.forces) * dt == pytest.approx(MEAN_TIME, abs=0.5 * dt)
    assert touchdowns._apart * dt == pytest.approx(RELEASE_TIME, abs=0.5 * dt)


def test_vehicles_that_may_land_are_looked_at_near_the_ground_once_they_have_flown():
    """The second of two vehicles lands, of two bodies; three rotors' speeds and a coefficient make its thrust."""
    aircraft = SimpleNamespace(rotor=SimpleNamespace(c_f=2e-6))
    vehicles = [
        SimpleNamespace(rows=slice(0, 1)),
        SimpleNamespace(
            rows=slice(1, 3), fleet=[aircraft, SimpleNamespace(rotor=SimpleNamespace(c_f=1e-6))],
            rotors=SimpleNamespace(rpm=np.array([[[1000.0, 2000.0, 0.0], [0.0, 0.0, 3000.0]]])),
        ),
    ]  # fmt: skip
    touch = {
        1: np.array([0.0, 0.0, 30.0, 9.0, 9.0, 9.0]),
        2: np.array([40.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    }
    engine = SimpleNamespace(contact_wrench=touch.__getitem__)
    lands = Touchdowns(engine, vehicles, {1: CLEARANCE}, ["a", "b"], [5.0, HOVER], 1e-3)
    assert lands._thrust(1) == pytest.approx(2e-6 * 5e6 + 1e-6 * 9e6)
    assert lands._force(1) == pytest.approx(50.0)

    def at(z, fall=0.2):
        lands.after_step(np.stack([row(9.0), row(z, (0.0, 0.0, -fall)), row(z)])[None])
        return lands.records

    assert at(CLEARANCE) == {}  # it has not flown yet
    assert at(CLEARANCE + 0.1) == {} == at(CLEARANCE + 0.101)
    landed = at(CLEARANCE + 0.02)
    assert landed["b"]["touch_speed_mps"] == pytest.approx(0.2)
    assert landed["b"]["force_n"] == pytest.approx(50.0 / 5.0)
    assert landed["b"]["cut_height_m"] is None  # its rotors turn with 19 of 20 N
    vehicles[1].rotors.rpm[:] = 0.0
    assert at(CLEARANCE, 0.0)["b"] == {
        "touch_speed_mps": pytest.approx(0.2), "force_n": pytest.approx(20.0),
        "cut_height_m": pytest.approx(0.0), "stands": True,
    }  # fmt: skip
    lands.reset(np.zeros((1, 3, 13)), np.array([0]))
    assert lands.records == {} == at(CLEARANCE)
