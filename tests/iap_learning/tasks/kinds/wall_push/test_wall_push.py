# SPDX-License-Identifier: BSD-3-Clause
"""Pushes on a wall: what is counted, what is observed, who flies, and that every world is alone."""

import numpy as np
import pytest

from iap_description.errors import BadInput, IapError
from iap_description.states import P, Q
from iap_learning.tasks.episodes import step_until_over
from iap_learning.tasks.kinds.registry import agent_of, make_episodes, make_task
from iap_learning.tasks.kinds.wall_push.counts import PushCounts, PushRules, count, measures
from iap_learning.tasks.kinds.wall_push.interface import PushInterface
from iap_learning.tasks.push_line import PushLine
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_physics.engines.make import is_installed
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    BOUNCED,
    FORCE_OFF,
    NEVER_TOUCHED,
    SLIPPED,
    TOO_FORCEFUL,
)

needs_mujoco = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")
DT = 0.005


def outcome_of(forces, places=None, status=RUNNING):
    """Outcome and results of a push by its forces, as if an episode were as long."""
    task = make_task("wall_push")
    rules = PushRules.of(task, 5.0, DT)._replace(last=len(forces), window=len(forces) // 4)
    counts = PushCounts.of(1)
    where = np.zeros((len(forces), 2)) if places is None else np.asarray(places)
    for force, place in zip(forces, where, strict=True):
        count(np.array([force]), place[None].copy(), np.array([status]), rules, counts)
    return int(counts.contact.outcome[0]), measures(rules, counts, DT)


def test_a_push_succeeds_by_the_force_at_its_end_and_tells_when_it_had_it():
    forces = np.full(400, 5.0)
    forces[:100] = 0.0
    outcome, found = outcome_of(forces)
    assert outcome == ARRIVED
    assert found["force_error"][0] == 0.0
    # a first-order lag of 50 ms is within a tenth after 2.3 time constants
    assert found["settling_time"][0] == pytest.approx(100 * DT + 0.05 * np.log(10.0), abs=2 * DT)


@pytest.mark.parametrize(
    ("forces", "outcome"),
    [
        (np.zeros(400), NEVER_TOUCHED),
        (np.full(400, 5.5), FORCE_OFF),
        (np.r_[np.full(200, 5.0), 15.1, np.full(199, 5.0)], TOO_FORCEFUL),
        (np.tile([5.0, 0.0], 200), BOUNCED),
    ],
)
def test_failures_have_names(forces, outcome):
    assert outcome_of(forces)[0] == outcome


def test_a_tip_that_leaves_its_place_on_the_wall_has_slipped_and_a_world_that_ends_tells_why():
    places = np.zeros((400, 2))
    places[300:, 1] = 0.021
    assert outcome_of(np.full(400, 5.0), places)[0] == SLIPPED
    assert outcome_of(np.full(400, 5.0), status=DIVERGED)[0] == DIVERGED


@pytest.mark.slow
@needs_mujoco
def test_hand_written_agents_hold_the_force_on_most_walls_and_the_one_that_knows_them_is_faster():
    times = []
    for name in ("press", "press_oracle"):
        episodes = make_episodes("wall_push", 6)
        observation, agent = episodes.reset(seeds=range(6)), agent_of(name, episodes)
        for _ in step_until_over(episodes, observation, lambda _, act=agent: act()):
            pass
        assert np.count_nonzero(episodes.outcome == ARRIVED) >= 5
        times.append(np.nanmean(episodes.report()["settling_time"]))
    assert times[1] < times[0] - 1.0
    assert times[0] < 4.5


@needs_mujoco
def test_a_tip_touches_where_the_true_gap_is_that_of_its_sphere():
    episodes = make_episodes("wall_push", 8)
    observation = episodes.reset(seeds=range(8))
    gaps = np.full(8, np.nan)
    for _ in step_until_over(episodes, observation, lambda _: np.full((8, 1), 0.2)):
        known = episodes.true_inputs
        touches = (known.force > 0.0) & np.isnan(gaps)
        gaps[touches] = known.gap[touches]
    assert np.ptp(episodes.inputs.gap) > 0.02  # walls are not where they are believed to be
    np.testing.assert_allclose(gaps, 0.03, atol=0.005)


def measured(forces):
    """Measurements of two pushes after some forces (T,), the second without any."""
    task = make_task("wall_push", {"sensor.noise": 0.0, "sensor.bias": 0.0})
    turned = np.array([0.0, 0.0, 0.0, 1.0])
    tip, start, wall = np.zeros(3), np.zeros(3), np.array([0.1, 0.0, 0.0])
    line = PushLine(5.0, np.eye(3), tip, start, turned, tip, wall)
    interface = PushInterface(task, line, dt=DT, batch=2)
    interface.reset(np.arange(2), np.arange(2))
    x, wrenches_W = np.zeros((2, 13)), np.zeros((2, 6))
    x[:, Q] = turned
    for force in forces:
        wrenches_W[0, 0] = -force  # the wall is along x
        interface.measure(x, wrenches_W)
    return interface.inputs(x, np.zeros((2, 1)))


def test_a_late_sensor_tells_of_a_bounce_by_its_largest_force_and_counts_what_is_missing_from_there():
    known = measured([0.0] * 10 + [12.0] + [0.0] * 13)
    assert known.largest.tolist() == [12.0, 0.0]
    assert known.has_felt.tolist() == [True, False]
    # the bounce is known 20 ms later: then 7 N are too much, and 5 N are missing in the 9 periods after it
    np.testing.assert_allclose(known.integral, [DT * (9 * 5.0 - 7.0), 0.0])
    assert known.force[0] == 0.0
    assert known.gap.tolist() == [0.1, 0.1]


def test_a_force_is_the_mean_over_the_last_step_and_not_known_before_its_delay():
    assert measured([8.0] * 4).largest[0] == 0.0
    np.testing.assert_allclose(measured([8.0] * 6).force, [4.0, 0.0])


@pytest.mark.parametrize("rate", [0.0, 2.0])
def test_velocities_lead_along_the_line_and_back_to_it(rate):
    turned = np.array([0.0, 0.0, 0.0, 1.0])
    axes = np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    start = np.array([1.0, 0.0, 2.0])
    line = PushLine(5.0, axes, np.zeros(3), start, turned, np.zeros(3), np.zeros(3))
    x = np.zeros((1, 13))
    x[0, P] = start + np.array([-0.3, 0.1, 0.2])
    x[0, Q] = [0.0, 0.0, np.sin(0.05), np.cos(0.05)]
    ahead = line.velocities(x, np.array([0.25]), rate)
    np.testing.assert_allclose(ahead, [[-0.25, -0.1 * rate, -0.2 * rate, -0.1 * rate]], atol=1e-12)


@needs_mujoco
def test_walls_differ_in_place_and_stiffness_by_their_seeds():
    episodes = make_episodes("wall_push", 16, settings={"seconds": 4.0})
    observation = episodes.reset(seeds=range(16))
    for _ in step_until_over(episodes, observation, lambda _: np.ones((16, 1))):
        pass
    assert np.ptp(episodes.worlds.state[:, 0, 0]) > 0.03
    assert np.ptp(episodes.report()["force_peak"]) > 3.0


@needs_mujoco
def test_actions_and_the_law_do_not_fly_one_episode():
    episodes = make_episodes("wall_push", 2)
    episodes.reset(seeds=[0, 1])
    episodes.step(np.zeros((2, 1)))
    with pytest.raises(IapError, match="one of action and script flies all an episode"):
        episodes.step(None)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"wall": "door"}, "key 'wall': no object 'door' \\(objects: wall\\)"),
        (
            {"scenario": "hover", "settings": {}},
            "needs one vehicle with a tool, and its key 'push'",
        ),
    ],
)
@needs_mujoco
def test_a_task_without_wall_push_or_time_is_refused_in_one_line(settings, why):
    with pytest.raises(BadInput, match=why) as refusal:
        make_episodes("wall_push", 2, settings=settings)
    assert "\n" not in str(refusal.value)
