# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of those who fly among obstacles: speeds by clearance, ways that are looked at, and pushes of points."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_learning.tasks.kinds.navigate import field as fields
from iap_learning.tasks.kinds.navigate.dynamic_window import Rollout
from iap_learning.tasks.kinds.navigate.potential_field import (
    PotentialField,
    PotentialSettings,
    _follow,
    push_of,
)

FIELD = fields.FieldGuidanceSettings(
    low=(-1.0, -0.5, 1.0), high=(1.0, 0.5, 2.0), spacing=0.5, tight=0.4, open=0.9, cruise=2.0, least=0.1, ahead=0.2,
    back=0.7, turn=1.5,
)  # fmt: skip


def test_candidates_are_every_share_of_the_speed_with_every_turn():
    window = SimpleNamespace(
        turns_deg=(-90.0, 0.0, 60.0), shares=(0.5, 1.0), hold=0.45, horizon=2.0, instants=10, lag=0.3, acceleration=4.0,
        room=0.8, open=0.6, weight=5.0,
    )  # fmt: skip
    found = Rollout.of(window, FIELD)
    half, c = [0.5, 1.0], np.cos(np.pi / 3)
    turns = [(0.0, -1.0), (1.0, 0.0), (c, np.sin(np.pi / 3))]
    np.testing.assert_allclose(
        found.candidates, [[*turn, share] for share in half for turn in turns], atol=1e-12
    )
    assert tuple(found[1:]) == pytest.approx((0.2, 10, 2, 0.3, 4.0, 0.8, 1.2, 2.0, 5.0, 0.5, 0.7))


class Counted(fields.FieldGuidance):
    """A guidance that notes which worlds it surveys."""

    def _survey(self, b):
        self.asked = [*getattr(self, "asked", []), b]


def worlds(count=3, **keys):
    return SimpleNamespace(count=count, episode_seeds=np.array([5, 6, 7][:count]), **keys)


def test_a_field_is_surveyed_once_for_each_seed():
    episodes = worlds()
    guidance = Counted(FIELD, episodes)
    guidance.reset()
    assert guidance.asked == [0, 1, 2]
    guidance.reset([0, 2])
    assert guidance.asked == [0, 1, 2]
    episodes.episode_seeds[1] = 9
    guidance.reset([0, 2])
    guidance.reset([1])
    guidance.reset()
    assert guidance.asked == [0, 1, 2, 1]
    assert guidance.times.shape == guidance.speeds.shape == (3, 5, 3, 3)


def test_speeds_rise_with_the_clearance_from_the_least_to_cruise(monkeypatch):
    """Of a wall at x = -0.6: 0.4 m, 0.6 m and 0.9 m off it the shares are the least, 0.4 and 1."""
    stands = []

    class Wall:
        def __init__(self, each):
            stands.extend(each)

        def distances_of(self, number, points):
            return np.abs(points[:, 0] + 0.6)

    monkeypatch.setattr(fields, "Surroundings", Wall)
    world = SimpleNamespace(with_objects=lambda moving: ("still", moving))
    objects = SimpleNamespace(world=lambda b: world)
    episodes = worlds(1, worlds=SimpleNamespace(objects=objects), goal=np.array([9.0, 0.1, 1.4]))
    guidance = fields.FieldGuidance(FIELD, episodes)
    guidance.reset()
    assert stands == [("still", False)]
    np.testing.assert_allclose(guidance.speeds[0, :, 0, 0], [0.2, 0.2, 0.8, 2.0, 2.0])
    assert guidance.times[0, 4, 1, 1] == 0.0  # the node that is nearest to the goal
    assert guidance.times[0, 3, 1, 1] == pytest.approx(0.25)


NUMBERS = PotentialSettings(
    attraction=0.8, cruise=1.2, repulsion=0.4, reach=2.0, radius=0.3, band=0.5, turn=1.5
)
VALUES = np.array(tuple(NUMBERS.model_dump().values()))


def followed(goal_P, depths, ways=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), yaw=0.0, at=(0.1, 0.0, 0.0)):
    out = np.empty((1, 4))
    q = so3.quaternion_exp(np.array([[0.0, 0.0, yaw]]))
    _follow(
        np.array([goal_P]), q, np.array([depths]), np.array(ways), np.array(at), VALUES, out
    )  # fmt: skip
    return out[0]


def test_a_goal_pulls_by_its_distance_up_to_the_speed_of_cruise():
    far = [np.inf, np.inf]
    np.testing.assert_allclose(followed([1.0, 0.5, 0.0], far), [0.8, 0.4, 0.0, 0.0])
    np.testing.assert_allclose(followed([3.0, 4.0, 0.0], far), [0.72, 0.96, 0.0, 0.0])
    turned = followed([1.0, 0.5, 0.0], far, yaw=np.pi / 2)
    np.testing.assert_allclose(turned, [-0.4, 0.8, 0.0, -1.5 * np.pi / 2], atol=1e-12)
    assert np.isfinite(followed([0.0, 0.0, 0.0], far)).all()


def test_a_point_pushes_back_by_its_share_of_the_image_and_its_distance_from_the_aircraft():
    """1 m before a camera that is 0.1 m ahead, 0.3 m of which are the aircraft's own."""
    push = 0.4 / 2.0 * push_of(0.8, 2.0)
    np.testing.assert_allclose(
        followed([1.0, 0.0, 0.0], [1.0, np.inf]), [0.8 - push, 0.0, 0.0, 0.0]
    )
    aside = followed([1.0, 0.0, 0.0], [np.inf, 1.0], at=(0.0, 0.0, 0.0))
    np.testing.assert_allclose(aside, [0.8, -0.4 / 2.0 * push_of(0.7, 2.0), 0.0, 0.0])
    turned = followed([1.0, 0.0, 0.0], [1.0, np.inf], yaw=np.pi / 2)
    np.testing.assert_allclose(turned[:2], [0.0, 0.8 - push], atol=1e-12)


@pytest.mark.parametrize(
    ("height", "pushes"), [(0.49, True), (0.51, False), (-0.49, True), (-0.51, False)]
)
def test_a_point_far_above_or_below_does_not_matter(height, pushes):
    ways = ((0.5, 0.0, height), (0.0, 1.0, 0.0))
    found = followed([1.0, 0.0, 0.0], [1.0, np.inf], ways, at=(0.0, 0.0, 0.0))
    assert (found[0] < 0.8) == pushes


def test_a_point_beyond_reach_does_not_push():
    for depth, pushes in ((2.15, True), (2.25, False)):
        found = followed([1.0, 0.0, 0.0], [depth, np.inf])
        assert (found[0] < 0.8 - 1e-9) == pushes


def test_a_field_reads_the_goal_attitude_and_depths_of_an_observation():
    camera = SimpleNamespace(
        view=SimpleNamespace(ways_B=np.array([[1.0, 0.0, 0.0]]), p_BS_B=np.array([0.1, 0.0, 0.0])),
        depths=lambda numbers: numbers.astype(float) * 10.0, size=1,
    )  # fmt: skip
    columns = {"position_error_P": slice(1, 4), "attitude": slice(4, 8)}
    episodes = SimpleNamespace(
        camera=camera, observer=SimpleNamespace(columns=columns, size=8),
        task=SimpleNamespace(name="t", observation={"position_error_P": 2.0}, history=1),
    )  # fmt: skip
    seen = np.array(
        [
            [9.0, 0.5, 0.25, 0.0, 0.0, 0.0, 0.0, 1.0, 0.1],
            [9.0, 1.5, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0],
        ],
        "f4",
    )
    found = PotentialField(NUMBERS, episodes)(seen)
    push = 0.4 * push_of(0.8, 2.0)
    np.testing.assert_allclose(
        found, [[0.8 - push, 0.4, 0.0, 0.0], [0.72, 0.96, 0.0, 0.0]], rtol=1e-6
    )
    del columns["attitude"]
    with pytest.raises(BadInput, match="^task 't': key 'observation': needs 'attitude' here$"):
        PotentialField(NUMBERS, episodes)
