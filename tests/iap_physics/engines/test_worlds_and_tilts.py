# SPDX-License-Identifier: BSD-3-Clause
"""Worlds of a batch by their numbers, tilts of joints, and models of bodies that fly on their own."""

from types import SimpleNamespace

import numpy as np
import pytest
from docking_pairs import assemblies

from iap_description.errors import BadInput, IapError
from iap_description.math import so3
from iap_physics.engines.engine import world_indices
from iap_physics.engines.joints import tilt_of
from iap_physics.engines.make import BATCHES, ENGINES, is_installed, make_batch, make_engine
from iap_physics.engines.rigid_model import RigidModel
from iap_physics.session.pushes import _push_on


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (None, [0, 1, 2, 3]),
        ([0, 3], [0, 3]),
        ([3, 0, 2], [3, 0, 2]),
        (np.array([3, 1], np.uint8), [3, 1]),
        ([], []),
        (np.zeros(0, np.int64), []),
        ([False, True, False, True], [1, 3]),
    ],
)
def test_worlds_are_given_by_numbers_in_any_order_or_by_a_mask(given, found):
    indices = world_indices(given, 4)
    assert indices.tolist() == found and indices.dtype == np.int64


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0, 4], "indices below 4 or a mask of 4 expected, got"),
        ([4], "indices below 4"),
        ([-1, 2], "indices below 4"),
        ([3, -1], "indices below 4"),
        ([1, 1], "one is given twice"),
        ([2, 0, 2], "one is given twice"),
        ([[0, 1]], "indices below 4"),
        ([0.0, 1.0], "indices below 4"),
        ([True, False, True], "a mask of 4"),
    ],
)
def test_worlds_that_are_none_are_refused(given, said):
    with pytest.raises(BadInput, match=f"^worlds: .*{said}"):
        world_indices(given, 4)


def rows_of(angles):
    """States (2, n, 13) turned about y by angles (2, n) [rad]."""
    x = np.zeros((*angles.shape, 13))
    for index, angle in np.ndenumerate(angles):
        x[index][3:7] = so3.quaternion_exp(np.array([0.0, angle, 0.0]))
    return x


@pytest.mark.parametrize("shape", [(2, 5), (3, 3), (1, 4)])
def test_the_tilt_of_a_joint_is_the_angle_between_both_z_axes_up_to_half_a_turn(shape):
    rng = np.random.default_rng(2)
    parent, child = rng.uniform(-1.0, 1.0, shape), rng.uniform(-1.0, 1.0, shape)
    child.ravel()[0], parent.ravel()[0] = 2.9, 0.0
    joint = SimpleNamespace(q_PJ=so3.quaternion_exp(np.array([0.0, 0.1, 0.0])))
    tilt = tilt_of(joint, rows_of(parent), rows_of(child))
    np.testing.assert_allclose(tilt, np.abs(child - parent - 0.1), atol=1e-9)
    alone = tilt_of(joint, rows_of(parent)[0, 0], rows_of(child)[0, 0])
    assert alone == pytest.approx(2.8)


def test_the_model_of_a_body_that_flies_alone_is_its_own():
    body = assemblies()[0].bodies[0]
    model = RigidModel.of_body(body)
    assert model.mass == body.mass and model.turns.tolist() == [True]
    np.testing.assert_array_equal(model.J, body.inertia[None])
    np.testing.assert_allclose(model.J_inv[0] @ body.inertia, np.eye(3), atol=1e-12)
    assert model.arms.tolist() == [[0.0] * 3] and model.q_PB.tolist() == [[0.0, 0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("bodies", "expected"),
    [
        ((2, 7), (1.0, -2.0, 3.0)),
        ((3, -1), (1.0, -2.0, 3.0)),
        ((7, 2), (-1.0, 2.0, -3.0)),
        ((-1, 3), (-1.0, 2.0, -3.0)),
        ((1, 4), None),
        ((4, -1), None),
    ],
)
def test_a_push_is_what_acts_on_rows_of_the_vehicle(bodies, expected):
    """Of rows 2 and 3; the force of a contact acts on its first body, and the other way on its second."""
    contact = SimpleNamespace(
        body_a=bodies[0],
        body_b=bodies[1],
        force_W=(1.0, -2.0, 3.0),
        position_W=(4.0, 5.0, 6.0),
    )
    found = _push_on(slice(2, 4), contact)
    assert found == (None if expected is None else ((4.0, 5.0, 6.0), expected))


def test_engines_by_name_and_what_they_need():
    assert set(ENGINES) == {"pybullet", "mujoco", "closed_form"}
    assert set(BATCHES) == {"closed_form", "mujoco"}
    assert is_installed("closed_form") and is_installed("an engine of one's own")
    with pytest.raises(BadInput, match="'closed_form' opens no window: --view web"):
        make_engine("closed_form", view=True)
    with pytest.raises(BadInput, match=r"key 'engine\.name'"):
        make_engine("nothing")
    batch = make_batch("closed_form", 3, lambda *_: None)
    assert (batch.batch, batch.raises) == (3, False)


def test_the_closed_form_says_what_it_has_not():
    engine = make_engine("closed_form")
    assert engine.contacts() == [] and not engine.contact_wrench(0).any()
    assert engine.contact_wrench(2).shape == (6,)
    zero = np.zeros(3)
    calls = {
        "has no shapes to cast rays at": lambda: engine.ray_cast(zero[None], zero[None]),
        "cannot add joints in flight": lambda: engine.add_joint(0, 1, zero, zero),
        "cannot remove joints in flight": lambda: engine.remove_joint(0),
        "lets nothing pass in flight": lambda: engine.let_pass(0, 1, passes=True),
        "has no joints added in flight": lambda: engine.joint_wrench(0),
    }
    for said, call in calls.items():
        with pytest.raises(IapError, match=said):
            call()
    engine.close()
