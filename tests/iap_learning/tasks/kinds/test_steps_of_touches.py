# SPDX-License-Identifier: BSD-3-Clause
"""Steps of tasks that touch: what is counted and felt in each period, what they reward, and what oracles see."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.touch_places import goals, holes, line, state, yaw

from iap_description.math import so3
from iap_learning.tasks.kinds.hinge_turn.counts import TurnCounts, TurnRules
from iap_learning.tasks.kinds.hinge_turn.episodes import TurnEpisodes
from iap_learning.tasks.kinds.peg_in_hole.counts import PegCounts, PegRules
from iap_learning.tasks.kinds.peg_in_hole.episodes import PegEpisodes
from iap_learning.tasks.kinds.push_object.counts import ShoveCounts, ShoveRules
from iap_learning.tasks.kinds.push_object.episodes import ShoveEpisodes
from iap_learning.tasks.kinds.slide_along_wall.counts import SlideCounts, SlideRules
from iap_learning.tasks.kinds.slide_along_wall.kind import SlideEpisodes

DT = 0.01


def touching(**more):
    """Episodes of two worlds, as far as their methods look at them."""
    x = np.array([[state((1.3, 2.2, 3.4), np.pi / 2, (0.1, 0.2, 0.3))], [state((1.0, 2.0, 3.0))]])
    wrenches = np.array([[1.0, -2.0, 3.0, 0, 0, 0], [0.0, -5.0, 0.0, 0, 0, 0]])
    worlds = SimpleNamespace(
        scenario=SimpleNamespace(dt=DT), state=x, contact_wrenches=wrenches, status=np.zeros(2, np.int64),
        object_angles=lambda name: np.array([0.1, 0.2]),
    )  # fmt: skip
    felt, known = [], []
    made = SimpleNamespace(
        count=2, worlds=worlds, status=worlds.status, felt=felt, known=known, _action=np.full((2, 3), 0.5),
        _feel=lambda *each: felt.append(each), _forces=np.linalg.norm(wrenches[:, :3], axis=1),
        _force_P=np.array([[3.0, 2.0, 1.0], [6.0, 5.0, 4.0]]),
    )  # fmt: skip
    made.task = SimpleNamespace(turned="door", reward=SimpleNamespace())
    asked = lambda *each: known.append(each) or "inputs"  # noqa: E731
    made.interface = SimpleNamespace(
        tips=holes().tips, inputs_of=asked, inputs_about=asked, look_at_objects=known.append
    )
    for key, each in more.items():
        setattr(made, key, each)
    return made


WAYS = np.array([[3.0, 4.0, 9.0], [0.0, -1.0, 9.0]])


@pytest.mark.parametrize(
    ("episodes", "counts", "rules", "weight", "values", "goal"),
    [
        (TurnEpisodes, {"angle": "now"}, {"angle": 1.0}, "angle", "now", 1.0),
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
        _gains=gains, _counts=SimpleNamespace(**counts), _rules=SimpleNamespace(**rules), dt=0.02
    )
    found.task.reward = SimpleNamespace(
        **{weight: 4.0, "force": -0.1, "error": -0.1, "time": -2.0}
    )
    np.testing.assert_allclose(episodes._progress(found), [1.96 - 0.2, 0.96 - 0.3])
    assert asked == [(values, goal)]


def test_a_peg_pays_once_for_its_largest_force_and_earns_by_its_stay():
    peaks, depths, asked = np.array([7.0, 90.0]), np.array([0.3, 0.2]), []
    found = touching(
        _gains=lambda *each: asked.append(each) or (np.array([0.5, 0.25]), np.array([2.0, 3.0])),
        _counts=SimpleNamespace(depth=depths, contact=SimpleNamespace(peak=peaks)),
        _rules=SimpleNamespace(depth=0.3, peak=60.0),
        _peak=np.array([2.0, 50.0]),
        dt=0.02,
    )
    found.task.reward = SimpleNamespace(depth=4.0, force=-0.1, peak=-0.01, stay=0.5, time=-1.0)
    np.testing.assert_allclose(PegEpisodes._progress(found), [1.78 - 0.05 + 0.01, 0.68 - 0.1])
    peaks[0] = 8.0
    np.testing.assert_allclose(PegEpisodes._progress(found), [1.78 - 0.01 + 0.01, 0.68])
    assert asked[0][0] is depths and asked[0][1] == 0.3


def test_a_period_of_a_turn_counts_its_angle_and_force():
    rules = TurnRules(1.0, 20.0, 2, 9, has_latch=False)
    made = touching(_rules=rules, _counts=TurnCounts.of(2))
    TurnEpisodes._look(made)
    np.testing.assert_allclose(made._counts.angle, [0.1, 0.2])
    np.testing.assert_allclose(made._counts.contact.peak, [np.sqrt(14.0), 5.0])
    ((forces, most),) = made.felt
    np.testing.assert_allclose(forces, [np.sqrt(14.0), 5.0])
    assert most == 20.0


def test_a_period_of_a_slide_counts_the_force_of_the_wall_and_the_way_along_it():
    rules = SlideRules(5.0, 1.0, 0.2, 1.0, 0.1, 20.0, 1, 6, 1.0, 2)
    made = touching(_rules=rules, _counts=SlideCounts.of(2), line=line())
    made.worlds.state[0, 0, 0] = 0.7  # to the left of the line, by 0.3 m
    SlideEpisodes._look(made)
    np.testing.assert_allclose(made._counts.contact.peak, [2.0, 5.0])
    np.testing.assert_allclose(made._counts.progress[0], 0.3)
    ((errors, most),) = made.felt
    np.testing.assert_allclose(errors, [3.0, 0.0])
    assert most == 5.0


def test_a_period_of_a_peg_counts_how_deep_its_tip_is():
    rules = PegRules(0.05, 5.0, 20.0, 2, 5)
    made = touching(_rules=rules, _counts=PegCounts.of(2), holes=holes())
    PegEpisodes._look(made)
    tips = holes().tips(made.worlds.state[:, 0])
    np.testing.assert_allclose(made._counts.depth, [1.0 - tips[0, 0], -tips[1, 1]])
    np.testing.assert_allclose(made._counts.contact.peak, [np.sqrt(14.0), 5.0])
    assert made.felt[0][1] == 20.0


def test_a_period_of_a_shove_counts_where_its_object_is_and_shows_all_to_its_interface():
    rules = ShoveRules(0.1, 0.2, 0.1, 0.5, 20.0, 2, 5)
    objects = np.array([state((1.0, 2.2, 0.5), np.pi / 2), state((1.0, 2.0, 0.4), np.pi / 2)])
    made = touching(_rules=rules, _counts=ShoveCounts.of(2), goals=goals(2), _objects=objects)
    made.worlds.object_states = np.arange(2 * 3 * 13).reshape(2, 3, 13)
    made._feel = lambda *each: made.felt.append((*each, len(made.known)))
    ShoveEpisodes._look(made)
    np.testing.assert_allclose(made._counts.measures[:, :2], [[0.3, 0.1], [0.5, 0.1]])
    (seen,), ((_, most, shown),) = made.known, made.felt
    assert seen is made.worlds.object_states
    assert most == 20.0 and shown == 1  # it looks before it feels
    assert ShoveEpisodes._objects.fget(made)[:, 0].tolist() == [13, 52]


def true_of(episodes, made):
    """What the interface is asked for the true inputs of two worlds, after bodies and actions."""
    assert episodes.true_inputs.fget(made) == "inputs"
    ((x, action, *others),) = made.known
    np.testing.assert_array_equal(x, made.worlds.state[:, 0])
    assert action is made._action
    return others


def test_an_oracle_of_a_slide_knows_the_force_and_how_much_nearer_its_wall_is():
    made = touching(_nearer=np.array([0.05, 0.0]))
    force_W, nearer = true_of(SlideEpisodes, made)
    np.testing.assert_array_equal(force_W, [[1.0, -2.0, 3.0], [0.0, -5.0, 0.0]])
    assert nearer is made._nearer


def test_an_oracle_of_a_shove_knows_the_force_and_where_its_object_is():
    objects = np.array([state((1.1, 2.3, 0.5), np.pi / 2 + 0.1)] * 2)
    force_W, poses = true_of(ShoveEpisodes, touching(goals=goals(2), _objects=objects))
    np.testing.assert_array_equal(force_W, [[1.0, -2.0, 3.0], [0.0, -5.0, 0.0]])
    np.testing.assert_allclose(poses, [[1.1, 2.3, 0.1]] * 2)


def test_an_oracle_of_a_turn_knows_the_force_and_the_true_axes():
    asked = []
    arc = SimpleNamespace(true_polar=lambda tips: asked.append(tips) or "about the true axes")
    made = touching(arc=arc)
    tips, force_P = true_of(TurnEpisodes, made)
    np.testing.assert_allclose(asked[0][0], [1.2, 2.7, 3.6])
    assert tips == "about the true axes" and force_P is made._force_P


def test_an_oracle_of_a_peg_sees_ways_and_turns_to_the_axis_of_its_bore():
    """Of a bore along -y whose mouth is the origin; the rod looks along -y."""
    made = touching(holes=holes())
    tilted = so3.multiply(yaw(np.pi / 2), so3.quaternion_exp(np.array([0.0, 0.2, 0.0])))
    made.interface.reference = SimpleNamespace(
        tip=np.array([[0.9, 2.3, 3.1], [0.3, -0.7, 0.2]]), q=np.array([tilted, yaw(np.pi / 2)])
    )
    ways, turns = PegEpisodes.off_axis(made)
    np.testing.assert_allclose(ways[1], [0.0, 0.3, -0.2], atol=1e-12)
    np.testing.assert_allclose(turns[1], 0.0, atol=1e-12)
    # the other bore is along -x, a quarter clockwise from where its rod looks
    np.testing.assert_allclose(turns[0], [0.0, 0.0, -1.0], atol=1e-12)
