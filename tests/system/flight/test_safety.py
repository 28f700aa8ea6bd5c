# SPDX-License-Identifier: BSD-3-Clause
"""Flights that fail are ended, with a word and a time."""

import numpy as np
import pytest
from flying import GRAVITY, Loop, scenario_of

from iap_control.controllers.controller import PlatformController
from iap_description.errors import BadInput, FlightFailed
from iap_description.math import so3
from iap_description.states import Q


def hover(*assignments, engine="closed_form", **options):
    return Loop.of(scenario_of("hover", *assignments, engine=engine, **options))


def turned_over(loop, angle):
    """Turn the whole platform about x before the flight."""
    pilot = loop.vehicles[0]
    x, turn = pilot.start.copy(), so3.quaternion_exp(np.array([angle, 0.0, 0.0]))
    x[:, :3] = x[0, :3] + so3.rotate(turn, x[:, :3] - x[0, :3])
    x[:, Q] = so3.multiply(turn, x[:, Q])
    loop.plant.reset(x[None], [pilot.start_rpm], np.random.default_rng(1))
    return loop


def test_a_platform_on_its_back_has_crashed():
    with pytest.raises(FlightFailed, match="upside down") as failed:
        turned_over(hover(), 1.7).fly()
    assert failed.value.outcome == "crashed" and failed.value.t == 0.0


def test_a_platform_that_leans_far_has_not():
    turned_over(hover(duration=0.1), 1.4).fly()


def test_a_platform_ten_metres_from_its_reference_is_lost():
    loop = hover()
    pilot = loop.vehicles[0]
    x = pilot.start.copy()
    x[:, 0] += 10.5
    loop.plant.reset(x[None], [pilot.start_rpm], np.random.default_rng(1))
    with pytest.raises(FlightFailed, match="10 m") as failed:
        loop.fly()
    assert failed.value.outcome == "diverged"


def test_who_touches_the_ground_in_flight_has_crashed():
    loop = hover("model_error.mass=3.0", engine="pybullet")
    with pytest.raises(FlightFailed, match="hit the ground") as failed:
        loop.fly()
    loop.plant.engine.close()
    assert failed.value.outcome == "crashed"
    fall = np.sqrt(2.0 * 1.3 / GRAVITY)
    assert failed.value.t > fall  # no sooner than it can fall


def test_a_platform_that_folds_has_crashed_into_itself(monkeypatch):
    """One aircraft is told to tip over, onto the tube that carries it."""
    fine = PlatformController.__call__

    def tipping(self, *arguments):
        command = fine(self, *arguments)
        command.q_WB[1] = so3.multiply(command.q_WB[1], tip)
        return command

    tip = so3.quaternion_exp(np.array([-1.0, -1.0, 0.0]))

    monkeypatch.setattr(PlatformController, "__call__", tipping)
    loop = hover(engine="pybullet", duration=5.0)
    with pytest.raises(FlightFailed, match="base_link and drone_2 of iap have collided") as failed:
        loop.fly()
    for _ in range(3):  # as nodes, which fly on
        with pytest.raises(FlightFailed, match="have collided"):
            loop.monitor.check_flight(loop.plant)
    loop.plant.engine.close()
    assert failed.value.outcome == "crashed"
    assert loop.monitor.collisions == [(failed.value.t, "iap/base_link", "iap/drone_2")]


def test_a_platform_that_would_start_folded_is_refused():
    """Its reference leans by 75 deg, and its level aircraft would be in its tubes."""
    with pytest.raises(
        BadInput, match=r"starts with drone_\d .* inside base_link.*platform\.joints"
    ):
        hover("reference.rpy_deg=[60.0, 60.0, 0.0]", engine="pybullet")


def test_who_starts_on_the_ground_may_touch_it():
    loop = hover("start.mode=ground", engine="pybullet", duration=0.2)
    loop.fly()
    loop.plant.engine.close()


def test_a_state_that_is_no_number_ends_the_flight():
    loop = hover()
    loop.plant.engine.state()[0, 1, 12] = np.nan
    with pytest.raises(FlightFailed) as failed:
        loop.plant.advance()
    assert failed.value.outcome == "diverged"


def test_progress_is_reported_now_and_then_up_to_the_end():
    times = []
    hover(duration=2.0).fly(times.append)
    assert len(times) >= 4
    assert times == sorted(times) and 1.7 < times[-1] <= 2.0
