# SPDX-License-Identifier: BSD-3-Clause
"""Motions of an arm's joints: velocities and accelerations are those of the coordinates, which begin at home."""

import numpy as np
import pytest

from iap_control.arm.arm_spec import ArmSpec
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.vehicles.arm import load_arm

ARM = load_arm("m100").model_copy(update={"home": (0.1, 0.2, -0.3)})
MOTIONS = {
    "hold": {"type": "hold", "joints": [0.5, 1.0, -0.5]},
    "swing": {"type": "swing", "joint": "q2", "middle": 0.8, "amplitude": 0.5, "frequency": 0.7},
    "trajectory": {
        "type": "trajectory",
        "points": [
            {"t": 1.0, "q": [0.3, 0.9, 0.0], "v": [0.1, -0.2, 0.4]},
            {"t": 2.5, "q": [0.0, 1.5, 0.2]},
        ],
    },
}


def motion_of(tree):
    """A motion of the scenario's key `arm`."""
    spec = {"motion": tree, "feed_forward": "inertia", "holding": True}
    return validate(ArmSpec, spec, source="test", prefix="arm").motion


@pytest.mark.parametrize("name", MOTIONS)
def test_rates_are_those_of_the_coordinates_and_all_begins_at_home_at_rest(name):
    t, motion = np.linspace(-0.5, 4.0, 4501), motion_of(MOTIONS[name])
    q, v, a = np.moveaxis(motion.targets(t, ARM), 1, 0)
    dt = t[1] - t[0]
    np.testing.assert_allclose(np.gradient(q, dt, axis=0)[1:-1], v[1:-1], atol=2e-4)
    np.testing.assert_allclose(np.gradient(v, dt, axis=0)[1:-1], a[1:-1], atol=2e-2)
    np.testing.assert_allclose(q[t <= 0.0], np.broadcast_to(ARM.home_pose, q[t <= 0.0].shape))
    assert not v[t <= 0.0].any()


def test_a_trajectory_goes_through_its_points_and_stays_at_the_last():
    points = MOTIONS["trajectory"]["points"]
    out = motion_of(MOTIONS["trajectory"]).targets(np.array([1.0, 2.5, 9.0]), ARM)
    np.testing.assert_allclose(out[0, :2], [points[0]["q"], points[0]["v"]])
    np.testing.assert_allclose(out[1:, 0], [points[1]["q"]] * 2)
    np.testing.assert_allclose(out[1:, 1], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("tree", "key"),
    [
        ({**MOTIONS["swing"], "joint": "q9"}, "arm.motion.joint': no joint 'q9'"),
        ({"type": "hold", "joints": [0.0]}, "arm.motion.joints': 3 joints"),
        ({"type": "trajectory", "points": [{"t": 0.0, "q": [0.0]}]}, "points"),
        ({"type": "dance"}, "arm.motion"),
    ],
)
def test_what_no_arm_can_do_is_refused_with_its_key(tree, key):
    with pytest.raises(BadInput, match=key):
        motion_of(tree).targets(np.zeros(1), ARM)
