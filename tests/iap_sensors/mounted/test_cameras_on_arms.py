# SPDX-License-Identifier: BSD-3-Clause
"""Arms and what they carry are in images, labels and clouds, and cameras on their links look where these point."""

import numpy as np
import pytest
from ray_scenes import NOTHING
from touching import world_of

from iap_bringup.pictures.grasp import grasp_of
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.arm_links import ArmLinks, ChainState, link_rows
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body_parts import BODY_LABEL
from iap_description.vehicles.platform import load_platform
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.spec import PRESETS
from iap_sensors.mounted.cameras import MountedCameras, mounted_cameras_of
from iap_sensors.mounted.rig_spec import RigSpec
from iap_sensors.mounted.rig_state import RigState
from iap_sensors.rays.world_rays import Rays
from iap_simulation.runs.run import record
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

JOINTS = ChainState(np.array([0.4, 0.9, 0.5]), np.array([0.3, -0.5, 0.8]))
BASE = np.concatenate(
    [
        [0.0, 0.0, 2.0],
        so3.quaternion_exp(np.array([0.1, -0.2, 0.5])),
        [0.4, -0.3, 0.2],
        [0.5, 0.6, -0.7],
    ]
)
SIGNS = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
EYE = {**PRESETS.tree("vi_g"), "position": [0.6, -1.2, 1.7], "rpy_deg": [0.0, 0.0, 116.0]}


def assembly() -> Assembly:
    return Assembly.of(load_platform("m100_gripper"), "iap")


def test_twists_of_links_are_the_rates_of_their_poses():
    arm, dt = assembly().arm, 1e-6
    ahead = BASE.copy()
    ahead[P] += dt * BASE[7:10]
    ahead[Q] = so3.multiply(so3.quaternion_exp(dt * BASE[10:]), BASE[Q])
    now = link_rows(arm, BASE, JOINTS)
    later = link_rows(arm, ahead, ChainState(JOINTS.q + dt * JOINTS.v, JOINTS.v))
    np.testing.assert_allclose((later[:, P] - now[:, P]) / dt, now[:, 7:10], atol=1e-5)
    turns = so3.multiply(later[:, Q], so3.conjugate(now[:, Q]))
    np.testing.assert_allclose(2.0 * turns[:, :3] / dt, now[:, 10:], atol=1e-4)


def test_every_link_is_seen_under_its_own_label_where_it_is():
    rig = rig_of(cameras={"eye": {**EYE, "outputs": ["segmentation", "depth"]}})
    cameras, renderer = mounted_cameras_of(rig), make_renderer("opengl")
    mounted = MountedCameras(rig, cameras, renderer)
    x = np.array([BASE])
    state = RigState(x, NOTHING, joints=[JOINTS])
    readings = mounted.shoot(cameras, 0.0, state)
    labels, depth = (each.pixels for each in readings)
    renderer.close()
    shot, links = cameras[0].shot(x), ArmLinks.of([assembly()])
    for k, (link, row) in enumerate(
        zip(links.bodies, links.appended(x, [JOINTS])[1:], strict=True)
    ):
        middle_C = so3.rotate(
            so3.conjugate(shot.q_WC), row[P] + so3.rotate(row[Q], link.com) - shot.p_WC_W
        )
        u, v = np.rint(shot.model.project(middle_C[None])[0]).astype(int)
        assert labels[v, u] == BODY_LABEL + links.first + k
        assert 0.0 < middle_C[2] - depth[v, u] < 0.03  # its surface is before its middle


def test_rays_end_on_links():
    rays, links = Rays(world_of(), [assembly()]), ArmLinks.of([assembly()])
    rows = links.appended(np.array([BASE]), [JOINTS])
    rays.follow(rows, NOTHING)
    last = rows[-1]
    middle = last[P] + so3.rotate(last[Q], np.array([0.0925, 0.0, 0.0]))
    across = so3.rotate(last[Q], np.array([0.0, 1.0, 0.0]))
    (share,) = rays.ray_cast((middle + across)[None], (middle - across)[None])
    assert share == pytest.approx((1.0 - 0.012) / 2.0, abs=1e-4)  # a rod of 24 mm
    assert rays.ray_cast((middle + across)[None], (middle - across)[None], world_only=True) == 1.0


def rig_of(**changes) -> RigSpec:
    scenario = resolve("arm_pick", Options())[0]
    tree = {**rig_spec(scenario).model_dump(mode="json"), **changes}
    return validate(RigSpec, {**tree, "world": {"ground": True}}, source="test")


def test_a_camera_on_a_mount_that_the_arm_lacks_is_refused_with_those_there_are():
    with pytest.raises(BadInput, match=r"wrist\.mount.*no mount 'elbow'"):
        resolve_wrist("elbow")


def resolve_wrist(mount: str):
    camera = {**PRESETS.tree("vi_g"), "mount": mount}
    rig = rig_of()
    vehicle = rig.vehicles[0].model_dump(mode="json")
    vehicle["sensors"]["cameras"] = {"wrist": camera}
    return mounted_cameras_of(
        validate(RigSpec, {**rig.model_dump(mode="json"), "vehicles": [vehicle]}, source="test")
    )


@pytest.mark.slow
def test_a_wrist_camera_sees_the_box_where_it_is_before_and_while_it_is_carried(tmp_path):
    record("arm_pick", folder=tmp_path / "run", sensors="wrist", duration=6.5)
    run = load_run(tmp_path / "run")
    (camera,) = mounted_cameras_of(rig_spec(resolve("arm_pick", Options(sensors="wrist"))[0]))
    arm, c, corners = assembly().arm, run.vehicles[0].columns, 0.04 * SIGNS
    seen = {
        round(each.t, 3): each.pixels
        for each in read_sensors(tmp_path / "run" / BAG, run.meta.sensors)
        if each.encoding == "16UC1"
    }
    for t in (3.0, 5.5, 6.4):
        k = int(np.searchsorted(c.t, t - 1e-6))
        links = link_rows(arm, c.x[k, 0], ChainState(c.arm.q[k], c.arm.v[k]))
        shot = camera.shot(np.vstack([c.x[k], links]))
        box = run.objects.at(t)[1]
        corners_W = box[P] + so3.rotate(box[Q], corners)
        pixels = shot.model.project(so3.rotate(so3.conjugate(shot.q_WC), corners_W - shot.p_WC_W))
        rows, columns = np.nonzero(seen[t] == 51)
        found = [columns.min() - 0.5, rows.min() - 0.5, columns.max() + 0.5, rows.max() + 0.5]
        there = [*pixels.min(axis=0), *pixels.max(axis=0)]
        np.testing.assert_allclose(found, np.clip(there, -0.5, [639.5, 479.5] * 2), atol=1.0)
    assert run.objects.rows[-1, 1, 2] > 0.64 + 0.1  # it was lifted
    grasp = grasp_of(resolve("arm_pick", Options())[0], run)
    assert grasp is not None and grasp.object == "box"
    assert grasp.start == pytest.approx(4.0, abs=0.01)
