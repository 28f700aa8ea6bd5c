# SPDX-License-Identifier: BSD-3-Clause
"""Terms of observations of every kind of tasks: their order and sizes, and that each shows its own input."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.math import so3
from iap_learning.tasks.kinds.registry import make_episodes

SIZES = {
    "wall_push": "force:1 largest:1 force_error:1 integral:1 gap:1 velocity:3 drift:2 action:0",
    "peg_in_hole": "force:3 torque:3 mouth:3 lag:3 lean:2 velocity:3 action:0",
    "module_docking": "offset:3 angles:3 filtered_offset:3 filtered_angles:3 closing:3 velocity:3 rates:3 up:3"
    " action:0",
    "arm_pick": "force:3 load:1 held:1 object:3 goal:3 lag:3 velocity:3 joints:3 joint_rates:3 action:0",
    "arm_reach": "error:3 tip:3 tip_velocity:3 joints:3 velocity:3 rates:4 action:0",
    "perch_on_wall": "range:1 closing:1 tilt:2 rates:3 held:1 action:0",
    "hinge_turn": "force:3 turn:1 radius:1 lag:2 heading:1 velocity:3 height:1 sag:1 action:0",
    "docking": "position_error:6 velocity:6 attitude:18 rates:6 chaser_attitude:9 chaser_rates:3"
    " wrench:6 latched:1 tip:3 tip_velocity:3"
    " estimated_error:6 estimated_velocity:6 estimated_tip:3 estimated_tip_velocity:3 disturbance:6 action:0"
    " actions_before:0",
    "push_object": "force:2 left:2 heading:1 tip:2 lag:2 velocity:2 action:0",
    "slide_along_wall": "force:3 force_error:1 gap:1 way:2 lag:3 velocity:3 action:0",
}  # fmt: skip
# inputs (B,) of one number
FLAT = {"turn", "radius", "heading", "height", "sag", "gap", "load", "held"}


def terms_of(kind):
    return import_module(f"iap_learning.tasks.kinds.{kind}.observations").TERMS


@pytest.mark.parametrize("kind", SIZES)
def test_terms_have_their_sizes_and_those_of_actions_as_many_numbers_as_an_action(kind):
    terms = terms_of(kind)
    assert " ".join(f"{name}:{term.size}" for name, term in terms.items()) == SIZES[kind]
    observer = terms.observer(dict.fromkeys(terms, 2.0), 4)
    sizes = [term.size or 4 * term.actions for term in terms.values()]
    assert observer.layout == tuple((n, k, 2.0) for n, k in zip(terms, sizes, strict=True))
    assert observer.size == sum(sizes)


@pytest.mark.parametrize("kind", ["arm_pick", "hinge_turn", "push_object", "slide_along_wall"])
def test_every_term_of_a_touch_shows_its_own_input_over_its_scale(kind):
    terms, rng = terms_of(kind), np.random.default_rng(1)
    names = [name for name in terms if name != "force_error"]
    wanted, inputs = {}, SimpleNamespace()
    for name in names:
        wanted[name] = rng.uniform(-9.0, 9.0, (3, terms[name].size or 4))
        setattr(inputs, name, wanted[name][:, 0] if name in FLAT else wanted[name])
    chosen = np.array([2, 0])
    observer = terms.observer({name: 1.0 + k for k, name in enumerate(names)}, 4)
    shown = observer(inputs, chosen)
    expected = np.hstack([wanted[name][chosen] / (1.0 + k) for k, name in enumerate(names)])
    np.testing.assert_allclose(shown, expected, rtol=1e-6)


def test_targets_of_an_arm_are_spread_over_their_box_about_where_its_tip_begins():
    episodes = make_episodes("arm_reach", 60)
    low, high = np.array(episodes.task.target.low), np.array(episodes.task.target.high)
    yaw = episodes.worlds.plants.pose[:, 3]
    q = np.column_stack([np.zeros((60, 2)), np.sin(0.5 * yaw), np.cos(0.5 * yaw)])
    away = so3.rotate(q, episodes._tips.error_H)
    assert (away > low - 1e-9).all() and (away < high + 1e-9).all()
    share = (away - low) / (high - low)
    np.testing.assert_allclose(share.mean(axis=0), 0.5, atol=0.15)
    assert (np.ptp(share, axis=0) > 0.8).all()
