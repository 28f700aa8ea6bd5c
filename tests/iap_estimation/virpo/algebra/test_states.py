# SPDX-License-Identifier: BSD-3-Clause
"""Steps in the states of a window."""

import numpy as np
import pytest
from jacobians import some_states

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States, difference, retract

SHAPES = [(3, 1, 0, False), (2, 3, 0, True), (4, 1, 2, True), (2, 2, 1, False)]


def states_of(shape: tuple) -> States:
    frames, aircraft, neighbours, centre = shape
    return some_states(frames, aircraft, neighbours=neighbours, centre=centre)


@pytest.mark.parametrize("shape", SHAPES)
def test_difference_tells_the_step_that_was_taken(shape):
    base = states_of(shape)
    step = 0.3 * np.random.default_rng(1).normal(size=base.size)
    there, told = base.copy(), np.empty(base.size)
    retract(there, step)
    difference(there, base, told)
    assert np.allclose(told, step, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_difference_leads_from_one_to_the_other(shape):
    base, goal = states_of(shape), states_of(shape)
    retract(goal, np.random.default_rng(2).normal(size=base.size))
    step = np.empty(base.size)
    difference(goal, base, step)
    retract(base, step)
    for mine, theirs in zip(base, goal, strict=True):
        assert np.allclose(np.abs(mine), np.abs(theirs), atol=1e-12)
    again = np.empty(base.size)
    difference(goal, base, again)
    assert np.abs(again).max() < 1e-12


def test_a_rotation_turns_in_the_body():
    states = states_of((1, 1, 0, False))
    before = states.x[0, 0, 3:7].copy()
    step = np.zeros(states.size)
    step[3:6] = 0.1, -0.2, 0.3
    retract(states, step)
    turned = so3.multiply(before, so3.quaternion_exp(step[3:6]))
    assert np.allclose(states.x[0, 0, 3:7], turned, atol=1e-14)


def test_places_are_in_the_order_that_the_docstring_says():
    states = states_of((2, 2, 1, True))
    assert states.stride == 2 * 15 + 4 + 6
    assert states.size == 2 * states.stride + 2 * 4
    places = {
        0: states.x[0, 0, 0:1],
        15 + 6: states.x[0, 1, 7:8],
        states.stride + 9: states.x[1, 0, 10:11],
        states.stride + 15 + 12: states.x[1, 1, 13:14],
        30: states.drift[0, 0, 0:1],
        states.stride + 34 + 3: states.centre[1, 0, 4:5],
        2 * states.stride + 4 + 3: states.alignment[1, 3:4],
    }
    for place, view in places.items():
        step = np.zeros(states.size)
        step[place] = 0.25
        before = view.copy()
        retract(states, step)
        assert np.allclose(view - before, 0.25), place


def test_longer_states_are_compared_over_what_both_have():
    long = states_of((4, 1, 1, True))
    base = long.first(2).copy()
    step = 0.1 * np.random.default_rng(3).normal(size=base.size)
    retract(long.first(2), step)
    told = np.empty(base.size)
    difference(long, base, told)
    assert np.allclose(told, step, atol=1e-12)


def test_the_first_keyframes_are_views_and_copies_are_not():
    states = states_of((3, 2, 0, True))
    states.first(2).x[1, 1, 0] = 7.0
    assert states.x[1, 1, 0] == 7.0
    states.copy().x[0, 0, 0] = 9.0
    assert states.x[0, 0, 0] != 9.0


def test_without_a_keyframe_the_others_move_up():
    states = states_of((3, 2, 1, True))
    left = states.without(1)
    for mine, theirs in zip(left[:3], states[:3], strict=True):
        assert np.array_equal(mine, theirs[[0, 2]])
    assert np.array_equal(left.alignment, states.alignment)
    left.alignment[:] = 0.0
    assert states.alignment.any()


def test_values_are_taken_over_in_place():
    states, other = (
        states_of((2, 1, 1, True)),
        some_states(2, 1, neighbours=1, centre=True, seed=5),
    )
    view = states.first(1)
    states.assign(other)
    assert np.array_equal(view.x[0], other.x[0])
