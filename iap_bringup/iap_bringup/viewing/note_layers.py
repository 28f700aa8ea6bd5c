# SPDX-License-Identifier: BSD-3-Clause
"""Layers of what is coupled, estimated and measured: joints, ports, estimates with covariance, anchors, points."""

from collections.abc import Sequence

import numpy as np

from iap_bringup.viewing.layers import Steps, UnderOneNode
from iap_bringup.viewing.scene_notes import Coupling, SceneNotes, has_points
from iap_bringup.viewing.stage import Rgb, Stage
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P
from iap_description.vehicles.latch import PortFrame
from iap_io.runs.run_meta import RunMeta
from iap_sensors.mounted.rig_spec import RigSpec

ANCHOR_COLOR: Rgb = (40, 150, 90)
ESTIMATE_AXES, PORT_AXES = 0.2, 0.12  # [m]
ANCHOR_RADIUS, JOINT_RADIUS, COUPLING_RADIUS = 0.06, 0.018, 0.045  # [m]
JOINT_COLOR: Rgb = (70, 70, 75)
COVARIANCE_COLOR: Rgb = (120, 60, 190)
COVARIANCE_OPACITY = 0.3
DEVIATIONS, LEAST_SIZE = (
    3.0,
    1e-3,
)  # half axes of an ellipsoid over standard deviations; at least [m]
POINT_SIZE = 0.04  # [m]
POINT_COLORS: tuple[Rgb, ...] = ((20, 120, 200), (200, 90, 20), (30, 150, 110), (150, 60, 160))


class Joints:
    """A ball at every joint of a vehicle, and one at every latch or joint between vehicles, coloured by its state.

    Args:
        node: of the layer.
        meta: of the flight.
        couplings: between vehicles.
    """

    def __init__(self, node: str, meta: RunMeta, couplings: Sequence[Coupling]) -> None:
        bodies = f"{node.rpartition('/')[0]}/bodies"
        first = {each.name: f"{bodies}/{each.name}/{each.bodies[0]}" for each in meta.vehicles}
        self._joints = {
            f"{bodies}/{v.name}/{v.bodies[joint.parent]}/joint_{joint.name}": joint.p_PJ_P
            for v in meta.vehicles
            for joint in v.joints
            if joint.p_PJ_P is not None
        }
        self._couplings = {f"{first[each.vehicle]}/{each.name}": each for each in couplings}
        self._states: dict[str, int] = {}

    @property
    def nodes(self) -> Sequence[str]:
        """The balls of vehicles' own joints, and the frames of couplings."""
        return [*self._joints, *self._couplings]

    def add(self, stage: Stage) -> None:
        """Add a ball for each joint, and for each coupling one of each colour of its states."""
        for node, position in self._joints.items():
            stage.add_ball(node, JOINT_RADIUS, JOINT_COLOR)
            stage.place(node, np.concatenate([position, so3.IDENTITY]))
        for node, coupling in self._couplings.items():
            stage.add_frame(node)
            stage.place(node, np.concatenate([coupling.position, so3.IDENTITY]))
            for i, color in enumerate(coupling.colors):
                stage.add_ball(f"{node}/{i}", COUPLING_RADIUS, color)
                stage.show(f"{node}/{i}", visible=False)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:  # noqa: ARG002
        """Show the balls of the present states; none where a state is not known."""
        for node, coupling in self._couplings.items():
            state = notes.couplings.get(coupling.name)
            for i in range(len(coupling.colors)):
                stage.show(f"{node}/{i}", visible=i == state)


class Ports:
    """Axes at the docking ports of vehicles, which hang on their bodies."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:
        bodies = f"{node.rpartition('/')[0]}/bodies"
        self._poses: dict[str, Array] = {}
        for vehicle, its in zip(rig.vehicles, meta.vehicles, strict=True):
            for name, port in vehicle.platform.ports.items():
                p = PortFrame.of(port, vehicle.assembly.p_FP_F).position
                pose = np.concatenate([p, so3.quaternion_from_matrix(port.R_BT)])
                self._poses[f"{bodies}/{its.name}/{its.bodies[0]}/port_{name}"] = pose

    @property
    def nodes(self) -> Sequence[str]:
        """All axes."""
        return list(self._poses)

    def add(self, stage: Stage) -> None:
        """Add the axes."""
        for node, pose in self._poses.items():
            stage.add_frame(node, PORT_AXES)
            stage.place(node, pose)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """They stay on their bodies."""


class Estimates(UnderOneNode):
    """Axes at the estimated pose of every body of vehicles that go by an estimate."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002
        self.name = node
        self._nodes = {
            i: [f"{self.name}/{each.name}/{body}" for body in each.bodies]
            for i, each in enumerate(meta.vehicles)
            if each.is_estimated
        }

    def add(self, stage: Stage) -> None:
        """Add the axes."""
        for node in (each for nodes in self._nodes.values() for each in nodes):
            stage.add_frame(node, ESTIMATE_AXES)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Put the axes at the estimates that are numbers."""
        for i, nodes in self._nodes.items():
            rows = steps[i].estimated
            if rows is None:
                continue
            for node, row in zip(nodes, rows, strict=True):
                if np.isfinite(row[:7]).all():
                    stage.place(node, row[:7])


class Anchors(UnderOneNode):
    """A ball at every anchor of the ranges."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002
        self.name = node
        self._positions = {
            anchor.id: np.array(anchor.position)
            for each in rig.vehicles
            if each.sensors.uwb is not None
            for anchor in each.sensors.uwb.anchors
        }

    def add(self, stage: Stage) -> None:
        """Add the balls."""
        for name, position in self._positions.items():
            node = f"{self.name}/{name}"
            stage.add_ball(node, ANCHOR_RADIUS, ANCHOR_COLOR)
            stage.place(node, np.concatenate([position, so3.IDENTITY]))

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """They stay where they are."""


class Covariances(UnderOneNode):
    """An ellipsoid of three standard deviations around the estimated position of every aircraft."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002
        self.name = node
        self._nodes = {
            f"{each.name}/{body}": (f"{node}/{each.name}/{body}", i, k)
            for i, each in enumerate(meta.vehicles)
            if each.is_estimated
            for k, body in enumerate(each.bodies)
        }

    def add(self, stage: Stage) -> None:
        """Add a ball for each body, hidden until its covariance is known."""
        for node, _, _ in self._nodes.values():
            stage.add_frame(node)
            stage.add_ball(f"{node}/ball", 1.0, COVARIANCE_COLOR, COVARIANCE_OPACITY)
            stage.show(f"{node}/ball", visible=False)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Give the balls the sizes and axes of the covariances."""
        for name, covariance in notes.covariances.items():
            if name not in self._nodes:
                continue
            node, i, k = self._nodes[name]
            rows = steps[i].estimated
            position = np.full(3, np.nan) if rows is None else rows[k, P]
            is_known = bool(np.isfinite(position).all() and np.isfinite(covariance).all())
            stage.show(f"{node}/ball", visible=is_known)
            if is_known:
                put_ellipsoid(stage, node, position, covariance)


def put_ellipsoid(stage: Stage, node: str, position: Array, covariance: Array) -> None:
    """Put the ball of a node at a position (3,) [m] as the ellipsoid of a covariance (3, 3) [m^2]."""
    squares, axes = np.linalg.eigh(covariance)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    half = np.maximum(DEVIATIONS * np.sqrt(np.maximum(squares, 0.0)), LEAST_SIZE)
    stage.place(node, np.concatenate([position, so3.quaternion_from_matrix(axes)]))
    stage.stretch(f"{node}/ball", half)


class Clouds(UnderOneNode):
    """Points that lidars and depth cameras have measured last, each where it was measured."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002
        self.name = node
        topics = [each.topic for each in meta.sensors if has_points(each)]
        self._nodes = {topic: f"{node}/{topic.strip('/').replace('/', '_')}" for topic in topics}
        self._shown: dict[str, Array] = {}

    def add(self, stage: Stage) -> None:
        """Add the points of each sensor, none yet."""
        for i, node in enumerate(self._nodes.values()):
            stage.add_points(node, POINT_COLORS[i % len(POINT_COLORS)], POINT_SIZE)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:  # noqa: ARG002
        """Draw those points that are new."""
        for topic, points in notes.clouds.items():
            if topic in self._nodes and self._shown.get(topic) is not points:
                self._shown[topic] = points
                stage.scatter(self._nodes[topic], points)
