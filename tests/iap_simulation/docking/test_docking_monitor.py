# SPDX-License-Identifier: BSD-3-Clause
"""What a docking's monitor says of a flight whose latch catches, loses, catches again and locks."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_physics.latching.latches import Phase
from iap_simulation.docking.monitor import DockingMonitor
from iap_simulation.docking.pair_laws import docking_limits
from iap_simulation.docking.ports import pair_of

PROBE = SimpleNamespace(depth=0.12, radius=0.01, angle=math.radians(3.0), closing=0.2)


class MadeUpPlant:
    """A pair at its place of reference, with a latch whose phases are set."""

    def __init__(self, scenario: Any) -> None:
        (self.target, self.chaser), self.latch = pair_of(scenario)
        self.t, self.present = 0.0, Phase.OPEN
        self.force = {self.target: 0.0, self.chaser: 0.0}
        self.events: list[Any] = []
        self.x = np.zeros((2, 1, 1, 13))
        self.x[..., 6] = 1.0
        places = docking_limits(scenario).docked_W
        self.x[self.target, 0, 0, :3], self.x[self.chaser, 0, 0, :3] = places

    def state(self, i: int) -> np.ndarray:
        return self.x[i]

    def contact_wrench(self, i: int) -> np.ndarray:
        return np.array([0.0, self.force[i], 0.0, 9e9, 0.0, 0.0])

    def part(self, _: object) -> "MadeUpPlant":
        return self

    def phase(self, latch: str) -> Phase:
        assert latch == self.latch
        return self.present

    def turns(self, t: float, phase: Phase, what: str, latch: str = "") -> None:
        """Let the latch come to a phase at a time."""
        self.t, self.present = t, phase
        self.events.append(SimpleNamespace(t=t, latch=latch or self.latch, what=what, probe=PROBE))


@pytest.fixture
def followed() -> tuple[Any, Any]:
    """A plant, and its monitor."""
    scenario = scenario_of("docking", engine="mujoco")
    monitor = DockingMonitor.of(scenario)
    return MadeUpPlant(scenario), monitor


def test_times_forces_and_events_of_a_docking_are_in_its_figures(
    followed: tuple[Any, Any],
) -> None:
    plant, monitor = followed
    monitor.observe(plant)
    figures = monitor.metrics(plant)
    assert (figures["docked"], figures["latch_time_s"], figures["lock_time_s"]) == ([], None, None)
    assert (figures["docking_time_s"], figures["closing_speed_mps"]) == (None, None)
    plant.turns(1.0, Phase.CAUGHT, "caught")
    plant.force[plant.chaser] = 12.5
    monitor.observe(plant)
    plant.force = {plant.target: 7.5, plant.chaser: 0.0}
    plant.t = 1.1
    monitor.observe(plant)  # the same catch
    assert monitor.docked == [1.0]
    plant.turns(1.2, Phase.OPEN, "lost")
    monitor.observe(plant)
    plant.turns(1.4, Phase.CAUGHT, "caught", latch="another")
    plant.turns(1.5, Phase.CAUGHT, "caught")
    monitor.observe(plant)
    plant.turns(1.6, Phase.LOCKED, "locked")
    while not monitor.is_over:
        monitor.observe(plant)
        plant.t = round(plant.t + 0.1, 9)
    figures = monitor.metrics(plant)
    assert figures["success"] and monitor.failure is None
    assert figures["docked"] == [1.0, 1.5] and figures["latch_time_s"] == 1.5
    assert figures["lock_time_s"] == pytest.approx(1.6)
    assert figures["docking_time_s"] == pytest.approx(
        1.6 + 3.0
    )  # calm for three seconds from the lock on
    assert figures["force_peak_n"] == 12.5
    assert [event["t_s"] for event in figures["events"]] == [1.0, 1.2, 1.4, 1.5, 1.6]
    event = figures["events"][0]
    assert event["what"] == "caught" and event["latch"] == plant.latch
    assert event["angle_deg"] == pytest.approx(3.0)
    assert (event["depth_m"], event["radius_m"], event["closing_mps"]) == (0.12, 0.01, 0.2)
    assert monitor.success.startswith(
        "docked: caught at 1.50 s, locked at 1.60 s, calm from 1.60 s"
    )
    assert monitor.success.endswith("largest force 12 N")
    plant.turns(9.0, Phase.OPEN, "released")
    monitor.observe(plant)  # after its end
    assert monitor.docked == [1.0, 1.5] and monitor.metrics(plant)["success"]


def test_a_latch_that_opens_again_is_not_said_to_have_been_open_all_along(
    followed: tuple[Any, Any],
) -> None:
    plant, monitor = followed
    plant.turns(1.0, Phase.CAUGHT, "caught")
    monitor.observe(plant)
    plant.turns(1.5, Phase.LOCKED, "locked")
    monitor.observe(plant)
    plant.turns(2.0, Phase.OPEN, "released")
    for plant.t in np.arange(2.0, monitor._success.within + 0.5, 0.1).round(9):
        monitor.observe(plant)
    assert monitor.is_over and "was locked at 1.50 s, and open again before" in monitor.failure


def test_a_pair_that_is_never_locked_fails_when_its_time_is_up(followed: tuple[Any, Any]) -> None:
    plant, monitor = followed
    plant.turns(1.0, Phase.CAUGHT, "caught")
    within = monitor._success.within
    for plant.t in np.arange(1.0, within + 0.5, 0.1).round(9):
        monitor.observe(plant)
        assert monitor.is_over == (plant.t > within - 0.05)
    assert f"was not locked within {within:g} s" in monitor.failure
    figures = monitor.metrics(plant)
    assert not figures["success"] and figures["docking_time_s"] is None
