# SPDX-License-Identifier: BSD-3-Clause
"""Dockings of the chaser alone, by its images: the target holds its place, and images are those of a run."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linear_policies import linear_policy

from iap_description.arrays import Array
from iap_description.sensors.readings import Reading
from iap_description.states import P
from iap_learning.learned_agents import pair_pilot
from iap_learning.tasks.kinds.docking.policy_pair import PairInput, PairResponder
from iap_learning.tasks.kinds.registry import agent_of, make_episodes
from iap_physics.latching.latches import Phase
from iap_simulation.docking.pair_pilot import PairMeasurement
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.simulation.simulation import Simulation

PERIOD = 5_000_000  # [ns]
UNSEEN = {"depth": None}


def test_the_target_holds_its_place_while_the_chaser_flies_away() -> None:
    episodes = make_episodes("docking_depth", 2, settings=UNSEEN)
    episodes.reset(seeds=[3, 4])
    assert (episodes.size, episodes.observed) == (3, 9 + 3 + 1 + 3)
    start = episodes.worlds.state.copy()
    for _ in range(30):
        episodes.step(np.full((2, 3), [0.0, -0.5, 0.2]))
    moved = episodes.worlds.state[:, :, P] - start[:, :, P]
    assert np.linalg.norm(moved[:, 0], axis=1).max() < 0.08  # from a tilt of up to 9 degrees
    assert (moved[:, 1, 1] < -0.15).all() and (moved[:, 1, 2] > 0.05).all()


def test_the_script_docks_by_the_chaser_s_actions_alone_as_by_those_of_both() -> None:
    times = []
    for flies in ("chaser", "both"):
        settings = {**UNSEEN, "flies": flies}
        scenario = {"docking.success.calm_time": 0.2}
        episodes = make_episodes("docking_depth", 8, settings=settings, scenario=scenario)
        agent = agent_of("script", episodes)
        success = np.zeros(8, bool)
        for _ in range(episodes.limit):
            success |= episodes.step(agent()).success
        assert success.all()
        times.append(episodes.report()["time"].mean())
    assert times[0] == pytest.approx(times[1], abs=0.2)


def test_what_is_seen_of_the_chaser_is_its_own_attitude_and_rates() -> None:
    terms = {"chaser_attitude": 1.0, "chaser_rates": 1.0, "attitude": 1.0, "rates": 1.0}
    episodes = make_episodes("docking", 2, settings={"observation": terms})
    seen, first, parts = episodes.observe(), 0, {}
    for name, size, _ in episodes.layout:
        parts[name] = seen[:, first : first + size]
        first += size
    np.testing.assert_array_equal(parts["chaser_attitude"], parts["attitude"][:, 9:])
    np.testing.assert_array_equal(parts["chaser_rates"], parts["rates"][:, 3:])


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """Dockings by a policy that sees images and next to nothing moves it."""
    policy = linear_policy(make_episodes("docking_depth", 1), gains={}, drawn=1e-3)
    policy.save(tmp_path / "policy.npz")
    chosen = Options(seed=5, engine="mujoco", assignments=(f"policy={tmp_path / 'policy.npz'}",))
    return resolve("docking_depth", chosen)[0]


class Listener:
    """Keeps the images of the chaser's camera."""

    def __init__(self) -> None:
        self.images: list[Reading] = []

    def receive(self, reading: Reading) -> None:
        if reading.source.topic == "/chaser/depth_camera":
            self.images.append(reading)


def test_images_of_many_worlds_are_those_of_the_single_run(scenario: Scenario) -> None:
    episodes = make_episodes("docking_depth", 2)
    episodes.reset(seeds=[4, 5])
    listener: Any = Listener()
    with Simulation(Flight.of(scenario)) as simulation:
        simulation.begin(sinks=[listener])
        simulation.loop.sense()
        simulation.step()
    (image, *_) = listener.images
    assert image.stamp == 0
    numbers = episodes.camera.of(image.pixels[None].astype(np.float32))[0]
    np.testing.assert_array_equal(episodes.observe()[1, -768:], numbers)
    assert 20 < (numbers > 0.0).sum() < 400  # the other aircraft, and nothing behind it


def test_between_messages_an_action_waits_for_the_image_of_its_instant(scenario: Scenario) -> None:
    pilot = pair_pilot(scenario)()
    responder = PairResponder(lambda: pilot)
    rows = np.zeros((2, 13))
    rows[:, 6], rows[1, 1] = 1.0, -1.4

    def tell(k: int) -> list[Array | None]:
        parts = {
            PairInput.TARGET: rows[0], PairInput.CHASER: rows[1], PairInput.PHASE: Phase.OPEN,
            PairInput.TARGET_WRENCH: np.zeros(6), PairInput.CHASER_WRENCH: np.zeros(6),
        }  # fmt: skip
        return [responder.take(each, k * PERIOD, k, part) for each, part in parts.items()]

    with Simulation(Flight.of(scenario)) as simulation:
        listener: Any = Listener()
        simulation.begin(sinks=[listener])
        simulation.loop.sense()
        for _ in range(5):
            simulation.step()
    first, second = listener.images[:2]
    assert (first.stamp, second.stamp) == (0, 4 * PERIOD)
    assert tell(0) == [None] * 5
    assert responder.take_reading(first) is not None
    for k in (1, 2, 3):  # between two actions
        assert tell(k)[-1] is not None
    assert tell(4) == [None] * 5
    assert responder.take_reading(second) is not None
    assert responder.answered == 5
    assert PairMeasurement(rows, np.zeros((2, 6)), Phase.OPEN).latched is False
