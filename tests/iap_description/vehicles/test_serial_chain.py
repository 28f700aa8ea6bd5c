# SPDX-License-Identifier: BSD-3-Clause
"""Serial chains: the published arm's closed form, and Jacobians against finite differences."""

import numpy as np
import pytest
from arms import CHAINS, some_poses
from jacobians import numeric

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.arm import ARMS, Arm, load_arm
from iap_description.vehicles.serial_chain import jacobian, tip_pose

EXACT = 1e-9
L1, L2, L3 = 0.190, 0.075, 0.185  # [m] of the published controller


def test_the_published_arm_is_where_equation_3_has_it():
    chain = CHAINS["m100"]
    for p, _, q in some_poses(3):
        psi = q[2] + 0.4
        rho = L2 * np.cos(q[1]) + L3 * np.cos(q[1] + q[2])
        down = L1 + L2 * np.sin(q[1]) + L3 * np.sin(q[1] + q[2])
        expected = p + [np.cos(psi + q[0]) * rho, np.sin(psi + q[0]) * rho, -down]
        R_WP = so3.exp(np.array([0.0, 0.0, psi]))
        np.testing.assert_allclose(tip_pose(chain, p, R_WP, q)[0], expected, atol=EXACT)


@pytest.mark.parametrize("name", CHAINS)
def test_jacobians_agree_with_finite_differences(name):
    chain = CHAINS[name]
    n = len(chain.kinds)
    for p, R_WP, q in some_poses(n):
        p_WE, R_WE = tip_pose(chain, p, R_WP, q)

        def moved(step, p=p, R_WP=R_WP, q=q, p_WE=p_WE, R_WE=R_WE):
            there, R = tip_pose(chain, p + step[:3], so3.exp(step[3:6]) @ R_WP, q + step[6:])
            return np.concatenate([there - p_WE, so3.log(R @ R_WE.T)])

        J = jacobian(chain, R_WP, q)
        assert np.abs(J - numeric(moved, 6 + n)).max() < 1e-6


@pytest.mark.parametrize("name", CHAINS)
def test_attitudes_are_rotations(name):
    chain = CHAINS[name]
    for p, R_WP, q in some_poses(len(chain.kinds)):
        R_WE = tip_pose(chain, p, R_WP, q)[1]
        np.testing.assert_allclose(R_WE @ R_WE.T, np.eye(3), atol=EXACT)
        assert np.linalg.det(R_WE) > 0.0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"axis": (0.0, 0.0, 0.0)}, "axis"),
        ({"limits": (1.0, -1.0)}, "limits"),
        ({"speed": 0.0}, "speed"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_joint_is_refused_with_its_key(change, words):
    tree = load_arm("m100").model_dump()
    tree["joints"] = [{**tree["joints"][0], **change}]
    with pytest.raises(BadInput, match=words):
        validate(Arm, tree, source="arm.yaml")


def test_joints_of_one_name_are_refused():
    tree = load_arm("m100").model_dump()
    tree["joints"] = [tree["joints"][0]] * 3
    with pytest.raises(BadInput, match="names must differ"):
        validate(Arm, tree, source="arm.yaml")


@pytest.mark.parametrize("name", ARMS.names())
def test_shipped_arms_are_named_as_their_files(name):
    assert load_arm(name).name == name
