# SPDX-License-Identifier: BSD-3-Clause
"""Every layer of the scene stands where the step has it, at any step, and hides what is not there."""

import numpy as np
import pytest
from measured_stage import MeasuredStage, moved, scene_of
from recording_stage import RecordingStage
from starting_flight import starting_flight

from iap_bringup.viewing import layers, note_layers
from iap_bringup.viewing.layers import _attitude_along, _put_arrow
from iap_bringup.viewing.scene import FlightScene
from iap_bringup.viewing.scene_notes import SceneNotes, couplings_of
from iap_description.math import so3
from iap_description.signals import WrenchRecord
from iap_description.states import P, Q
from iap_description.vehicles.arm_links import ChainState, link_rows
from iap_description.vehicles.latch import PortFrame
from iap_physics.nodes.markers import CONTACT_METRES_PER_NEWTON, METRES_PER_NEWTON
from iap_simulation.scenario.rig_spec import rig_spec


@pytest.mark.parametrize("name", ["figure_eight", "arm_hover_swing", "docking", "two_platforms"])
def test_an_instant_stands_as_if_it_were_the_first_whatever_was_shown_before(name):
    settings = {"policy": None} if name == "docking" else {}
    flight, steps = starting_flight(name, **settings)
    scene, stage = scene_of(flight)
    before, after = ([moved(step) for step in steps] for _ in range(2))
    scene.update(stage, before)
    between = {node: pose.copy() for node, pose in stage.poses.items()}
    scene.update(stage, after)
    other, fresh = scene_of(flight)
    other.update(fresh, after)
    assert stage.poses.keys() == fresh.poses.keys()
    for node, pose in fresh.poses.items():
        assert stage.poses[node] == pytest.approx(pose), node
        is_fixed = "/objects/" in node or "/port_" in node or "/joint_" in node or node == "world"
        is_fixed |= node.endswith("/thrust")  # rotors do not tilt
        is_fixed |= any(f"/{each.name}" in node for each in couplings_of(flight.scenario))
        assert (stage.poses[node] == pytest.approx(between[node])) == is_fixed, node
    for vehicle, step in zip(flight.meta.vehicles, after, strict=True):
        for body, row in zip(vehicle.bodies, step.x, strict=True):
            assert stage.poses[f"world/bodies/{vehicle.name}/{body}"] == pytest.approx(row[:7])
        assert stage.poses[f"world/references/{vehicle.name}"] == pytest.approx(
            step.reference.row[:7]
        )
        assert stage.axes[f"world/references/{vehicle.name}"] == 0.35
    assert stage.sizes.keys() == fresh.sizes.keys()
    for node, size in fresh.sizes.items():
        assert stage.sizes[node] == pytest.approx(size), node


def test_arrows_of_thrust_hang_on_their_bodies_and_are_as_long_as_their_forces():
    flight, (step,) = starting_flight("figure_eight")
    scene, stage = scene_of(flight)
    step = moved(step)._replace(rpm=np.arange(1.0, 13.0).reshape(3, 4) * 1000.0)
    scene.update(stage, [step])
    for k, body in enumerate(flight.meta.vehicles[0].bodies[1:]):
        node = f"world/bodies/iap/{body}/thrust"
        c_f = flight.meta.vehicles[0].thrust_coefficient
        force = c_f * np.square(step.rpm[k]).sum()
        assert stage.sizes[f"{node}/arrow"] == pytest.approx(METRES_PER_NEWTON * force)
        assert stage.poses[node][P] == pytest.approx(np.zeros(3))
        assert so3.rotate(stage.poses[node][Q], np.array([0.0, 0.0, 1.0])) == pytest.approx(
            [0.0, 0.0, 1.0]
        )
        assert (
            stage.visible[f"{node}/arrow"] and stage.colors[f"{node}/arrow"] == layers.THRUST_COLOR
        )
    scene.update(stage, [step._replace(rpm=np.zeros((3, 4)))])
    assert not any(v for node, v in stage.visible.items() if node.endswith("thrust/arrow"))
    assert set(scene.nodes("thrusts")) == {f"world/bodies/iap/drone_{k}/thrust" for k in (1, 2, 3)}


@pytest.mark.parametrize(
    "way", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (0.6, 0.0, -0.8), (-0.48, 0.64, 0.6)]
)
def test_an_arrow_points_from_its_foot_to_its_head(way):
    way = np.array(way, float)
    assert so3.rotate(_attitude_along(way), np.array([0.0, 0.0, 1.0])) == pytest.approx(way)
    assert np.linalg.norm(_attitude_along(way)) == pytest.approx(1.0)
    stage, foot = RecordingStage(), np.array([1.0, 2.0, 3.0])
    _put_arrow(stage, "a", foot, foot + 0.3 * way, width=2.0)
    assert stage.poses["a"][P] == pytest.approx(foot)
    assert stage.sizes["a/arrow"] == pytest.approx([2.0, 2.0, 0.3]) and stage.visible["a/arrow"]
    _put_arrow(stage, "a", foot, foot + 0.3 * way)
    assert stage.sizes["a/arrow"] == pytest.approx(0.3)
    _put_arrow(stage, "a", foot, foot + 0.0051 * way)
    assert stage.visible["a/arrow"]
    _put_arrow(stage, "a", foot, foot + 0.0049 * way)
    assert not stage.visible["a/arrow"] and stage.sizes["a/arrow"] == pytest.approx(0.0051)


def test_the_force_of_the_environment_is_drawn_at_the_tip_of_the_tool():
    flight, (step,) = starting_flight("wall_push")
    scene, stage = scene_of(flight)
    force, zero = np.array([3.0, -4.0, 12.0, 9.0, 9.0, 9.0]), np.zeros(6)
    step = moved(step)._replace(
        wrench_record=WrenchRecord(force, zero, zero, step.reference, None)
    )
    scene.update(stage, [step])
    row, node = step.x[0], "world/contacts/iap"
    tip = row[P] + so3.rotate(row[Q], np.array(flight.meta.vehicles[0].tool_tip_P))
    assert stage.poses[node][P] == pytest.approx(tip)
    along = so3.rotate(stage.poses[node][Q], np.array([0.0, 0.0, 1.0]))
    assert along == pytest.approx(so3.rotate(row[Q], force[:3] / 13.0))
    assert stage.sizes[f"{node}/arrow"] == pytest.approx(
        [2.0, 2.0, 13.0 * CONTACT_METRES_PER_NEWTON]
    )
    none = step._replace(wrench_record=WrenchRecord(zero, force, force, step.reference, None))
    scene.update(stage, [none])
    assert not stage.visible[f"{node}/arrow"]
    scene.update(stage, [moved(step)._replace(wrench_record=None)])
    assert stage.poses[node][P] == pytest.approx(tip)  # nothing is known: it stays


def test_links_of_an_arm_stand_where_their_joints_have_them():
    flight, (step,) = starting_flight("arm_hover_swing")
    scene, stage = scene_of(flight)
    step = moved(step)
    scene.update(stage, [step])
    arm = flight.spec.vehicles[0].assembly.arm
    rows = link_rows(arm, step.x[0], ChainState(step.arm.q, step.arm.v))
    for k, row in enumerate(rows):
        assert stage.poses[f"world/arms/iap/{k}"] == pytest.approx(row[:7])
    parts = {node.rpartition("/")[0] for node in stage.parts if node.startswith("world/arms")}
    assert parts == {f"world/arms/iap/{k}" for k in range(len(rows))}
    before = stage.poses["world/arms/iap/0"]
    scene.update(stage, [moved(step)._replace(arm=None)])
    assert stage.poses["world/arms/iap/0"] == pytest.approx(before)


def test_the_ground_is_a_grid_of_metres_or_the_scene_or_nothing():
    flight, _ = starting_flight("hover")
    _, stage = scene_of(flight)
    grid = stage.lines["world/ground/grid"]
    assert grid.shape == (42, 2, 3) and not grid[..., 2].any()
    along_y, along_x = grid[:21], grid[21:]
    assert along_y[:, 0, 0].tolist() == along_y[:, 1, 0].tolist() == list(range(-10, 11))
    assert along_x[:, 0, 1].tolist() == along_x[:, 1, 1].tolist() == list(range(-10, 11))
    for lines, axis in ((along_y, 1), (along_x, 0)):
        assert (lines[:, 0, axis] == -10.0).all() and (lines[:, 1, axis] == 10.0).all()
    assert stage.widths["world/ground/grid"] == 0.006
    rig = rig_spec(flight.scenario)
    bare = rig.model_copy(update={"world": rig.world.model_copy(update={"ground": False})})
    for spec, nodes in (
        (bare, 0),
        (
            rig.model_copy(update={"world": rig.world.model_copy(update={"scene": "open_field"})}),
            None,
        ),
    ):
        stage, layer = MeasuredStage(), layers.Ground("g", spec, flight.meta)
        layer.add(stage)
        assert not stage.lines
        assert (len(stage.parts) == nodes) if nodes is not None else len(stage.parts) > 0
        for name, part in stage.parts.items():
            assert (stage.textures[name] is None) == (part.texture is None)


def test_ports_and_joints_of_docking_hang_on_their_bodies_with_their_colours():
    flight, steps = starting_flight("docking", policy=None)
    scene, stage = scene_of(flight)
    rig = rig_spec(flight.scenario)
    for vehicle, its in zip(rig.vehicles, flight.meta.vehicles, strict=True):
        for name, port in vehicle.platform.ports.items():
            node = f"world/bodies/{its.name}/{its.bodies[0]}/port_{name}"
            assert stage.poses[node][P] == pytest.approx(
                PortFrame.of(port, vehicle.assembly.p_FP_F).position
            )
            assert so3.matrix_from_quaternion(stage.poses[node][Q]) == pytest.approx(
                port.R_BT, abs=1e-9
            )
            assert stage.axes[node] == 0.12 and node in scene.nodes("ports")
        for joint in its.joints:
            node = f"world/bodies/{its.name}/{its.bodies[joint.parent]}/joint_{joint.name}"
            assert (
                stage.poses[node][P] == pytest.approx(joint.p_PJ_P) and stage.sizes[node] == 0.018
            )
            assert node in scene.nodes("joints")
    (coupling,) = couplings_of(flight.scenario)
    (first,) = [its for its in flight.meta.vehicles if its.name == coupling.vehicle]
    node = f"world/bodies/{first.name}/{first.bodies[0]}/{coupling.name}"
    assert stage.poses[node][P] == pytest.approx(coupling.position) and node in scene.nodes(
        "joints"
    )
    balls = [f"{node}/{i}" for i in range(len(coupling.colors))]
    assert [stage.colors[ball] for ball in balls] == list(coupling.colors)
    assert not any(stage.visible[ball] for ball in balls) and stage.sizes[balls[0]] == 0.045
    for state in range(len(balls)):
        scene.update(stage, steps, SceneNotes(couplings={coupling.name: state}))
        assert [stage.visible[ball] for ball in balls] == [i == state for i in range(len(balls))]


def test_estimates_and_their_covariances_are_of_bodies_that_are_estimated():
    flight, (step,) = starting_flight("hover", sensors="stereo")
    meta = flight.meta.vehicles[0].model_copy(update={"state_source": "virpo"})
    rig, run = rig_spec(flight.scenario), flight.meta.model_copy(update={"vehicles": (meta,)})
    scene, stage, step = FlightScene(rig, run), MeasuredStage(), moved(step)
    scene.add(stage)
    balls = [f"world/covariances/iap/{body}/ball" for body in meta.bodies]
    assert [(stage.sizes[each], stage.visible[each]) for each in balls] == [(1.0, False)] * 4
    covariances = {f"iap/{body}": np.diag([0.01, 0.04, 0.09]) for body in meta.bodies}
    scene.update(stage, [step], SceneNotes(covariances={**covariances, "other/body": np.eye(3)}))
    for row, body in zip(step.estimated, meta.bodies, strict=True):
        assert stage.poses[f"world/estimates/iap/{body}"] == pytest.approx(row[:7])
        assert stage.axes[f"world/estimates/iap/{body}"] == 0.2
        ball = f"world/covariances/iap/{body}"
        assert stage.poses[ball][P] == pytest.approx(row[P]) and stage.visible[f"{ball}/ball"]
        assert sorted(stage.sizes[f"{ball}/ball"]) == pytest.approx([0.3, 0.6, 0.9])
        assert (
            stage.colors[f"{ball}/ball"] == note_layers.COVARIANCE_COLOR
            and stage.opacities[f"{ball}/ball"] == 0.3
        )
    blind = step.estimated.copy()
    blind[0, 3], blind[1, 0] = np.nan, np.nan
    scene.update(stage, [step._replace(estimated=blind)], SceneNotes(covariances=covariances))
    assert stage.poses[f"world/estimates/iap/{meta.bodies[0]}"] == pytest.approx(
        step.estimated[0, :7]
    )
    shown = [stage.visible[f"world/covariances/iap/{body}/ball"] for body in meta.bodies]
    assert shown == [True, False, True, True]
    unknown = {**covariances, f"iap/{meta.bodies[2]}": np.full((3, 3), np.nan)}
    scene.update(stage, [step], SceneNotes(covariances=unknown))
    assert [stage.visible[f"world/covariances/iap/{body}/ball"] for body in meta.bodies] == [
        True,
        True,
        False,
        True,
    ]
    scene.update(stage, [step._replace(estimated=None)], SceneNotes(covariances=covariances))
    assert not any(stage.visible[f"world/covariances/iap/{body}/ball"] for body in meta.bodies)
    anchors = flight.scenario.vehicles[0].sensors.uwb.anchors
    for each in anchors:
        assert stage.poses[f"world/anchors/{each.id}"][P] == pytest.approx(each.position)
        assert stage.sizes[f"world/anchors/{each.id}"] == 0.06
        assert stage.colors[f"world/anchors/{each.id}"] == note_layers.ANCHOR_COLOR
    assert not scene_of(flight)[1].frames & {f"world/estimates/iap/{body}" for body in meta.bodies}


def test_an_ellipsoid_is_never_flat_and_never_mirrored():
    stage = RecordingStage()
    note_layers.put_ellipsoid(stage, "e", np.ones(3), np.diag([0.04, -1e-12, 0.0]))
    assert sorted(stage.sizes["e/ball"]) == pytest.approx([1e-3, 1e-3, 0.6])
    for angles in ([0.3, 1.2, -2.0], [2.9, -1.0, 0.4], [0.0, 0.0, 0.0]):
        R = so3.matrix_from_euler(np.array(angles))
        note_layers.put_ellipsoid(stage, "e", np.ones(3), R @ np.diag([0.01, 0.04, 0.09]) @ R.T)
        turned = so3.matrix_from_quaternion(stage.poses["e"][Q])
        assert turned @ np.diag((stage.sizes["e/ball"] / 3.0) ** 2) @ turned.T == pytest.approx(
            R @ np.diag([0.01, 0.04, 0.09]) @ R.T, abs=1e-9
        )
