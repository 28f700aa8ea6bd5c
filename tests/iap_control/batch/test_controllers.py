# SPDX-License-Identifier: BSD-3-Clause
"""The controllers of many worlds: each commands what a controller alone does, bit for bit."""

import numpy as np
import pytest
from flying import DT, controller_of, gains_of, model_of

from iap_control.batch.controllers import Controllers
from iap_control.batch.records import Setpoints
from iap_control.controllers.controller import disturbance_settings
from iap_description.errors import BadInput
from iap_description.math.lanes import LANES
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, Level, resting_state

WORLDS, STEPS = 7, 25
ARRAYS = ("wrench_P", "thrust", "q_WB", "w_WB_B", "rpm", "tilt")


def disturbed_inputs(rng, count, worlds=WORLDS):
    """States and references that differ by more than rotors can answer in some worlds, at all levels."""
    x = resting_state(np.zeros((worlds, 1, 3)), np.array([0.0, 0.0, 0.0, 1.0]))
    x[..., 0:3] = rng.normal(0.0, 0.5, (worlds, 1, 3))
    x[..., 3:7] += rng.normal(0.0, 0.15, (worlds, 1, 4))
    x[..., 3:7] /= np.linalg.norm(x[..., 3:7], axis=-1, keepdims=True)
    x[..., 7:] = rng.normal(0.0, 0.5, (worlds, 1, 6))
    rows = np.zeros((worlds, REF_FIXED + count))
    rows[:, 6] = 1.0
    rows[:, 7:] = rng.normal(0.0, 0.3, (worlds, REF_FIXED + count - 7))
    wrenches = rng.normal(0.0, 2.0, (worlds, 6)) + [0.0, 0.0, 30.0, 0.0, 0.0, 0.0]
    return Setpoints(x, rows, rng.integers(Level.POSE, Level.WRENCH + 1, worlds), wrenches)


@pytest.mark.parametrize("yaw_mode", ["follow", "hold", "reference"])
@pytest.mark.parametrize(
    "platform",
    ["three_star", "two_line", "f450", "three_star_fixed", "beetle", "octo_full", "hexa"],
)
def test_every_world_is_commanded_as_if_it_were_alone(platform, yaw_mode):
    model, rng = model_of(platform), np.random.default_rng(3)
    presets = [gains_of(("default", "paper")[b % 2]) for b in range(WORLDS)]
    together = Controllers(model, presets, batch=WORLDS, dt=DT, yaw_mode=yaw_mode)
    alone = [controller_of(platform, gains, yaw_mode=yaw_mode) for gains in presets]
    saturated = 0
    for _ in range(STEPS):
        given = disturbed_inputs(rng, model.count)
        command = together(given)
        for b, controller in enumerate(alone):
            reference = Reference(given.rows[b], Level(given.levels[b]), given.wrenches_P[b])
            own = controller(given.x[b, 0], reference)
            for name in ARRAYS:
                np.testing.assert_array_equal(getattr(command, name)[b], getattr(own, name))
            saturated += controller.allocator.saturated
    assert 0 < saturated < STEPS * WORLDS


def test_observers_of_disturbances_are_among_them():
    assert any(disturbance_settings(model_of("three_star"), gains_of())[1].bandwidth)


def test_some_worlds_forget_and_others_do_not():
    model, rng = model_of("three_star"), np.random.default_rng(4)
    controllers = Controllers(model, gains_of(), batch=WORLDS, dt=DT)
    first, later = disturbed_inputs(rng, 3), disturbed_inputs(rng, 3)
    command = controllers(later)
    fresh = {name: getattr(command, name).copy() for name in ARRAYS}
    controllers.reset()
    controllers(first)
    kept = controllers.snapshot()
    controllers.reset(np.array([2, 5]))
    again = controllers(later)
    for name in ARRAYS[1:]:
        np.testing.assert_array_equal(getattr(again, name)[[2, 5]], fresh[name][[2, 5]])
    remembered = again.w_WB_B.copy()
    assert not np.array_equal(remembered[0], fresh["w_WB_B"][0])
    controllers.restore(kept)
    straight = controllers(later).w_WB_B
    others = [0, 1, 3, 4, 6]
    np.testing.assert_array_equal(straight[others], remembered[others])


def test_worlds_can_be_shared_out():
    model, batch = model_of("three_star"), LANES + WORLDS
    given = disturbed_inputs(np.random.default_rng(5), 3, batch)
    whole, parts = (Controllers(model, gains_of(), batch=batch, dt=DT) for _ in range(2))
    command = whole(given)
    for worlds in (range(LANES, batch), range(LANES)):
        parts(given, worlds)
    np.testing.assert_array_equal(parts.command.thrust, command.thrust)


def test_gains_for_other_worlds_than_there_are_are_refused():
    with pytest.raises(BadInput, match="gains: 3 are expected, one a world, got 2"):
        Controllers(model_of("three_star"), [gains_of()] * 2, batch=3, dt=DT)
