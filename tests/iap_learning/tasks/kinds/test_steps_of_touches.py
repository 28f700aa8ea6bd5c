# SPDX-License-Identifier: BSD-3-Clause
"""Steps of tasks that touch: what their actions move, what they reward and what is observed."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import TIP, goals, holes, line, state, yaw

from iap_description.math import so3
from iap_description.states import REF_Q
from iap_learning.tasks.kinds.hinge_turn.arc import Arc
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts, TurnRules
from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.peg_in_hole.counts import PegCounts, PegRules
from iap_learning.tasks.kinds.peg_in_hole.episodes import PegEpisodes
from iap_learning.tasks.kinds.push_object.counts import ShoveCounts, ShoveRules
from iap_learning.tasks.kinds.push_object.episodes import ShoveEpisodes
from iap_learning.tasks.kinds.slide_along_wall.counts import SlideCounts, SlideRules
from iap_learning.tasks.kinds.slide_along_wall.kind import SlideEpisodes

DT, REPEAT = 0.01, 3


class Leads:
    """A reference of tips that notes how it is moved."""

    def __init__(self):
        self.moves, self.flown = [], 0
        self.tip, self.q = (
            np.array([[0.9, 2.3, 3.1], [1.0, 2.0, 3.0]]),
            np.array([yaw(np.pi / 2)] * 2),
        )

    def move(self, velocities_W, turns_P, dt):
        self.moves.append((velocities_W, turns_P, dt))

    def advance(self, worlds):
        self.flown += 1


def touching(**more):
    """Episodes of two worlds, as far as their methods look at them."""
    x = np.array([[state((1.3, 2.2, 3.4), np.pi / 2, (0.1, 0.2, 0.3))], [state((1.0, 2.0, 3.0))]])
    wrenches = np.array([[1.0, -2.0, 3.0, 0, 0, 0], [0.0, -5.0, 0.0, 0, 0, 0]])
    worlds = SimpleNamespace(
        scenario=SimpleNamespace(dt=DT), state=x, contact_wrenches=wrenches, status=np.zeros(2, np.int64),
        object_angles=lambda name: np.array([0.1, 0.2]),
    )  # fmt: skip
    seen = {"laws": [], "looks": 0, "felt": []}
    made = SimpleNamespace(
        count=2, worlds=worlds, status=worlds.status, _reference=Leads(), seen=seen, _action=np.full((2, 3), 0.5),
        _choose=lambda by_law: seen["laws"].append(by_law), _feel=lambda *each: seen["felt"].append(each),
        _forces=np.linalg.norm(wrenches[:, :3], axis=1), _sensors=SimpleNamespace(mean=np.zeros((2, 6))),
    )  # fmt: skip
    made.task = SimpleNamespace(repeat=REPEAT, turned="door", reward=SimpleNamespace())

    def look():
        seen["looks"] += 1

    made._look = look
    for key, each in more.items():
        setattr(made, key, each)
    return made


def check_moves(made, velocities_W, turns_P):
    assert len(made._reference.moves) == made._reference.flown == made.seen["looks"] == REPEAT
    assert made.seen["laws"] == [False]
    for found, turns, dt in made._reference.moves:
        np.testing.assert_allclose(found, velocities_W, atol=1e-12)
        np.testing.assert_allclose(turns, turns_P, atol=1e-12)
        assert dt == DT


THREE = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


def test_actions_of_a_turn_move_the_tip_along_its_arc_and_the_heading():
    polar = SimpleNamespace(vectors=lambda along: 10.0 * along)
    arc = SimpleNamespace(polar=lambda tips: polar)
    made = touching(arc=arc, _tips=None, _heading=np.array([0.0, 1.0]))
    TurnEpisodes._fly(made, THREE)
    check_moves(made, [[1.0, 2.0, 0.0], [4.0, 5.0, 0.0]], [[0.0, 0.0, 0.3], [0.0, 0.0, 0.6]])
    np.testing.assert_allclose(made._heading, [REPEAT * DT * 0.3, 1.0 + REPEAT * DT * 0.6])
    made = touching(arc=arc, _tips=None, _heading=np.zeros(2))
    TurnEpisodes._fly(made, np.column_stack([THREE, [0.7, 0.8]]))
    check_moves(made, 10.0 * THREE, [[0.0, 0.0, 0.7], [0.0, 0.0, 0.8]])


def test_actions_of_a_slide_are_along_the_axes_of_its_wall():
    made = touching(line=line())
    SlideEpisodes._fly(made, THREE)
    check_moves(made, [[-0.2, 0.1, 0.3], [-0.5, 0.4, 0.6]], np.zeros((2, 3)))


def test_actions_of_a_shove_are_level_along_the_axes_of_its_object():
    made = touching(goals=goals(2))
    ShoveEpisodes._fly(made, THREE[:, :2])
    check_moves(made, [[-0.2, 0.1, 0.0], [-0.5, 0.4, 0.0]], np.zeros((2, 3)))


def test_actions_of_a_peg_are_along_the_axes_of_its_reference():
    made = touching()
    PegEpisodes._fly(made, np.column_stack([THREE, [0.7, 0.8], [0.9, 1.0]]))
    check_moves(made, [[-0.2, 0.1, 0.3], [-0.5, 0.4, 0.6]], [[0.0, 0.7, 0.9], [0.0, 0.8, 1.0]])


WAYS = np.array([[3.0, 4.0, 9.0], [0.0, -1.0, 9.0]])


@pytest.mark.parametrize(
    ("episodes", "counts", "rules", "weight", "values", "goal"),
    [
        (TurnEpisodes, {"angle": "now"}, {"angle": 1.0}, "angle", "now", 1.0),
        (PegEpisodes, {"depth": "now"}, {"depth": 0.3}, "depth", "now", 0.3),
        (SlideEpisodes, {"progress": "now"}, {"length": 0.9}, "progress", "now", 0.9),
        (ShoveEpisodes, {"measures": WAYS}, {}, "nearer", [-5.0, -1.0], 0.0),
    ],
)
def test_a_step_is_rewarded_by_what_is_new_and_costs_what_it_has_forced(
    episodes, counts, rules, weight, values, goal
):
    asked = []

    def gains(now, end):
        asked.append((now if isinstance(now, str) else now.tolist(), end))
        return np.array([0.5, 0.25]), np.array([2.0, 3.0])

    found = touching(
        _gains=gains, _counts=SimpleNamespace(**counts), _rules=SimpleNamespace(**rules)
    )
    found.task.reward = SimpleNamespace(**{weight: 4.0, "force": -0.1, "error": -0.1})
    np.testing.assert_allclose(episodes._progress(found), [2.0 - 0.2, 1.0 - 0.3])
    assert asked == [(values, goal)]


def test_a_period_of_a_turn_counts_its_angle_and_force():
    rules = TurnRules(1.0, 20.0, 2, 9, has_latch=False)
    made = touching(_rules=rules, _counts=TurnCounts.of(2))
    TurnEpisodes._look(made)
    np.testing.assert_allclose(made._counts.angle, [0.1, 0.2])
    np.testing.assert_allclose(made._counts.contact.peak, [np.sqrt(14.0), 5.0])
    ((forces, most),) = made.seen["felt"]
    np.testing.assert_allclose(forces, [np.sqrt(14.0), 5.0])
    assert most == 20.0


def test_a_period_of_a_slide_counts_the_force_of_the_wall_and_the_way_along_it():
    rules = SlideRules(5.0, 1.0, 0.2, 1.0, 0.1, 20.0, 1, 6, 1.0, 2)
    made = touching(_rules=rules, _counts=SlideCounts.of(2), line=line())
    made.worlds.state[0, 0, 0] = 0.7  # to the left of the line, by 0.3 m
    SlideEpisodes._look(made)
    np.testing.assert_allclose(made._counts.contact.peak, [2.0, 5.0])
    np.testing.assert_allclose(made._counts.progress[0], 0.3)
    ((errors, most),) = made.seen["felt"]
    np.testing.assert_allclose(errors, [3.0, 0.0])
    assert most == 5.0


def test_a_period_of_a_peg_counts_how_deep_its_tip_is():
    rules = PegRules(0.05, 5.0, 20.0, 2, 5)
    made = touching(_rules=rules, _counts=PegCounts.of(2), holes=holes())
    PegEpisodes._look(made)
    tips = holes().tips(made.worlds.state[:, 0])
    np.testing.assert_allclose(made._counts.depth, [1.0 - tips[0, 0], -tips[1, 1]])
    np.testing.assert_allclose(made._counts.contact.peak, [np.sqrt(14.0), 5.0])
    assert made.seen["felt"][0][1] == 20.0


def test_a_period_of_a_shove_counts_where_its_object_is_and_shows_it_to_the_sensor():
    rules, shown = ShoveRules(0.1, 0.2, 0.1, 0.5, 20.0, 2, 5), []
    objects = np.array([state((1.0, 2.2, 0.5), np.pi / 2), state((1.0, 2.0, 0.4), np.pi / 2)])
    made = touching(
        _rules=rules,
        _counts=ShoveCounts.of(2),
        goals=goals(2),
        _objects=objects,
        _eyes=shown.append,
    )
    ShoveEpisodes._look(made)
    np.testing.assert_allclose(made._counts.measures[:, :2], [[0.3, 0.1], [0.5, 0.1]])
    np.testing.assert_allclose(shown[0], [[1.0, 2.2, 0.0], [1.0, 2.0, 0.0]], atol=1e-12)
    assert made.seen["felt"][0][1] == 20.0
    made.worlds.object_states = np.arange(2 * 3 * 13).reshape(2, 3, 13)
    assert ShoveEpisodes._objects.fget(made)[:, 0].tolist() == [13, 52]


def observed(episodes, made, name="inputs"):
    """Inputs of observations, and those methods that they are made by."""
    made._inputs_about = lambda *each: TurnEpisodes._inputs_about(made, *each)
    made._inputs = lambda *each: episodes._inputs(made, *each)
    return getattr(episodes, name).fget(made)


def test_observations_of_a_slide_are_along_the_axes_of_its_wall():
    made = touching(line=line(), _early=np.array([0.05, 0.0]))
    made._sensors.mean[0, :3] = [1.0, 2.0, 3.0]  # in the body, which looks along the line
    found = observed(SlideEpisodes, made)
    np.testing.assert_allclose(found.force[0], [-1.0, -2.0, -3.0], atol=1e-12)
    np.testing.assert_allclose(found.gap[0], 1.3)
    np.testing.assert_allclose(found.way[0], [-0.3, 0.4], atol=1e-12)
    # the tip is at (1.2, 2.7, 3.6)
    np.testing.assert_allclose(found.lag[0], [0.4, -0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.velocity[0], [0.2, -0.1, 0.3])
    assert found.desired == 5.0 and found.action is made._action
    true = observed(SlideEpisodes, made, "true_inputs")
    np.testing.assert_allclose(true.force[0], [2.0, 1.0, -3.0], atol=1e-12)
    np.testing.assert_allclose(true.gap[0], 1.25)


def test_observations_of_a_shove_are_along_the_axes_of_its_object():
    poses = np.array([[1.0, 2.2, 0.3], [1.0, 2.0, 0.0]])
    made = touching(goals=goals(2), _eyes=SimpleNamespace(known=poses))
    made._objects = np.array([state((1.1, 2.3, 0.5), np.pi / 2 + 0.1)] * 2)
    made._sensors.mean[0, :3] = [1.0, 2.0, 3.0]
    found = observed(ShoveEpisodes, made)
    np.testing.assert_allclose(found.force[0], [1.0, 2.0], atol=1e-12)
    np.testing.assert_allclose(found.left[0], [0.3, 0.1])
    assert found.heading[0] == 0.3
    np.testing.assert_allclose(found.tip[0], [0.5, -0.2])
    np.testing.assert_allclose(found.lag[0], [0.4, -0.3])
    np.testing.assert_allclose(found.velocity[0], [0.2, -0.1])
    true = observed(ShoveEpisodes, made, "true_inputs")
    np.testing.assert_allclose(true.force[0], [-2.0, -1.0])
    np.testing.assert_allclose(true.left[0], [0.2, 0.2])
    assert true.heading[0] == pytest.approx(0.1)


def test_observations_of_a_turn_are_along_its_arc_as_it_is_believed():
    """About z through the origin of (1, 2): a tip at (1.2, 2.7) is 0.7 m along y, and moves along -x."""
    z, believed = np.array([0.0, 0.0, 1.0]), np.array([1.2, 2.0, 0.0])
    points = np.tile([1.2, 1.0, 0.0], (2, 1))
    arc = Arc(TIP, np.array([1.7, 2.0, 3.0]), believed, z, points, np.tile(z, (2, 1)))
    made = touching(arc=arc, _heading=np.array([0.4, 0.5]))
    made._tips = arc.tips(made.worlds.state[:, 0])
    made._sensors.mean[0, :3] = [1.0, 2.0, 3.0]
    found = observed(TurnEpisodes, made)
    np.testing.assert_allclose(found.force[0], [2.0, 1.0, 3.0], atol=1e-12)
    assert found.turn[0] == pytest.approx(np.pi / 2)
    assert found.radius[0] == pytest.approx(0.2) and found.height[0] == pytest.approx(0.6)
    np.testing.assert_allclose(found.lag[0], [-0.3, 0.4], atol=1e-12)
    assert found.sag[0] == pytest.approx(0.5)
    assert found.heading.tolist() == [0.4, 0.5]
    np.testing.assert_allclose(found.velocity[0], [-0.1, 0.2, 0.3], atol=1e-12)
    true = observed(TurnEpisodes, made, "true_inputs")
    np.testing.assert_allclose(true.force[0], [-1.0, -2.0, 3.0], atol=1e-12)
    assert true.radius[0] == pytest.approx(1.7 - np.hypot(0.5, 1.0))
    assert true.turn[0] == pytest.approx(np.arctan2(0.5, 1.0))


def pegs():
    row = np.zeros(19)
    row[REF_Q] = yaw(np.pi / 2)
    made = touching(holes=holes(), _row=row)
    tilted = so3.multiply(yaw(np.pi / 2), so3.quaternion_exp(np.array([0.0, 0.2, 0.0])))
    made._reference.q[0] = tilted
    return made


def test_observations_of_a_peg_are_in_its_own_axes():
    made = pegs()
    made._sensors.mean[0] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    found = observed(PegEpisodes, made)
    np.testing.assert_allclose(found.force_P[0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.torque_P[0], [4.0, 5.0, 6.0] - np.cross(TIP, [1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found.mouth[0], [2.3, -0.9, 3.1], atol=1e-12)
    np.testing.assert_allclose(found.lag_P[0], [0.4, -0.3, 0.5], atol=1e-12)
    np.testing.assert_allclose(found.lean[0], [0.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.velocity_P[0], [0.2, -0.1, 0.3], atol=1e-12)


def test_an_oracle_of_a_peg_sees_ways_and_turns_to_the_axis_of_its_bore():
    """Of a bore along -y whose mouth is the origin; the rod looks along -y."""
    made = pegs()
    made._reference.tip[1] = [0.3, -0.7, 0.2]
    ways, turns = PegEpisodes.off_axis(made)
    np.testing.assert_allclose(ways[1], [0.0, 0.3, -0.2], atol=1e-12)
    np.testing.assert_allclose(turns[1], 0.0, atol=1e-12)
    # the other bore is along -x, a quarter clockwise from where its rod looks
    np.testing.assert_allclose(turns[0], [0.0, 0.0, -1.0], atol=1e-12)
