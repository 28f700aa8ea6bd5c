# SPDX-License-Identifier: BSD-3-Clause
"""Rotors that tilt are drawn as bodies of their own: across their thrust, and where their vehicle is."""

from dataclasses import replace

import numpy as np

from iap_description.math import so3
from iap_description.vehicles.body_parts import BODY_LABEL, body_parts
from iap_description.world.scene_objects import OBJECT_LABEL
from iap_sensors.cameras.renderer import Frame
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.mounted.visible_bodies import TiltingRotors, visible_bodies, visible_objects
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.rig_spec import rig_spec


def rig(**options):
    return rig_spec(resolved("module_hover", {"modules.count": 2}, options)[0])


def states():
    x = np.zeros((2, 13))
    x[:, :3], x[:, 6] = [[1.0, 2.0, 3.0], [2.0, 2.0, 3.0]], 1.0
    x[1, 3:7] = so3.quaternion_exp(np.array([0.2, -0.3, 1.0]))
    return x


def test_each_disc_is_across_its_thrust_and_turns_with_its_module():
    made, x = rig(), states()
    rotors, tilts = TiltingRotors.of(made), np.linspace(-1.0, 1.0, 8).reshape(2, 4)
    poses = rotors.poses(x, tilts)
    assert poses.shape == (8, 7)
    for k, pose in enumerate(poses):
        body, tilt = k // 4, tilts[k // 4, k % 4]
        rotor = made.vehicles[body].assembly.bodies[0].rotors[k % 4]
        thrust_B = np.array([0.0, 0.0, np.cos(tilt)]) + np.sin(tilt) * rotor.sideways
        thrust_W = so3.rotate(x[body, 3:7], thrust_B)
        np.testing.assert_allclose(so3.rotate(pose[3:], np.array([0.0, 0.0, 1.0])), thrust_W)
        off_W = so3.rotate(x[body, 3:7], np.array(rotor.position))
        np.testing.assert_allclose(pose[:3], x[body, :3] + off_W)
    assert {part.label for parts in rotors.parts[4:] for part in parts} == {BODY_LABEL + 1}


def test_no_part_is_drawn_twice_and_upright_ones_stay_with_their_bodies():
    made = rig()
    body = made.vehicles[0].assembly.bodies[0]
    faces = sum(len(part.faces) for part in visible_bodies(made)[0])
    each = sum(len(part.faces) for part in TiltingRotors.of(made).parts[0])
    upright = body_parts(replace(body, tilt=None))
    assert faces + 4 * each == sum(len(part.faces) for part in upright)
    quadrotor = rig_spec(resolved("hover", {}, {"platform": "f450"})[0])
    assert TiltingRotors.of(quadrotor).poses(states()[:1], np.zeros((1, 4))).shape == (0, 7)


def test_bodies_and_objects_have_labels_of_their_own_counted_up():
    surface = {"friction": 0.5, "restitution": 0.0}
    box = {"type": "box", "size": [1.0, 1.0, 1.0], "surface": surface}
    settings = {
        "world.objects": {
            "near": {**box, "position": [4.0, 0.0, 1.0]},
            "far": {**box, "position": [8.0, 0.0, 1.0]},
        }
    }
    made = rig_spec(resolved("hover", settings, {})[0])
    bodies = [{part.label for part in parts} for parts in visible_bodies(made)]
    assert bodies == [{BODY_LABEL + k} for k in range(len(bodies))]
    assert len(bodies) > 2
    objects = [{part.label for part in parts} for parts in visible_objects(made)]
    assert objects == [{OBJECT_LABEL}, {OBJECT_LABEL + 1}]


class Seen:
    """A renderer that keeps what it is to draw."""

    def load(self, scene, bodies):
        self.bodies = bodies

    def render(self, shots, poses):
        self.shots, self.poses = shots, poses
        return [Frame() for _ in shots]


def test_a_camera_sees_no_rotor_of_the_module_that_carries_it():
    made = rig(sensors="capture,stereo")
    seen = Seen()
    cameras = MountedCameras(made, mounted_cameras_of(made), seen)
    due = [each for each in cameras.cameras if each.mount.body == 1][:1]
    cameras.shoot(due, 0.0, RigState(states(), np.zeros((0, 13)), np.full((2, 4), 0.5)))
    assert len(seen.bodies) == len(seen.poses) == 2 + 8
    assert seen.shots[0].hidden == (1, 6, 7, 8, 9)
    cameras.shoot(due, 0.0, RigState(states(), np.zeros((0, 13))))  # upright
    np.testing.assert_allclose(seen.poses[6:, 3:], np.tile(states()[1, 3:7], (4, 1)))
