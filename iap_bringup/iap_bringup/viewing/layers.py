# SPDX-License-Identifier: BSD-3-Clause
"""Layers of a viewer's scene: each draws one kind of thing, and puts it where an instant of the flight has it."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from iap_bringup.viewing.scene_notes import SceneNotes
from iap_bringup.viewing.stage import Rgb, Stage
from iap_description.arrays import Array
from iap_description.geometry.tessellation import parts_by_color
from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.signals import Step
from iap_description.states import REF_P, REF_Q, P, Q, resting_state
from iap_description.vehicles.arm_links import ChainState, link_rows
from iap_io.runs.run_meta import RunMeta
from iap_physics.nodes.markers import CONTACT_METRES_PER_NEWTON, Rotors
from iap_sensors.mounted.rig_spec import RigSpec
from iap_sensors.mounted.visible_bodies import TiltingRotors, visible_bodies, visible_objects

THRUST_COLOR: Rgb = (230, 77, 26)
CONTACT_COLOR: Rgb = (230, 26, 153)
GRID_COLOR: Rgb = (190, 196, 204)
LEAST_LENGTH = 0.005  # of an arrow that is drawn [m]
CONTACT_WIDTH = 2.0  # of arrows of contact, which lie along rods of 30 mm and are wider
REFERENCE_AXES = 0.35  # [m]
GRID_REACH, GRID_STEP, GRID_WIDTH = 10.0, 1.0, 0.006  # of the ground's lines [m]

ORIGIN = np.zeros(3)

Steps = Sequence[Step]


class Layer(Protocol):
    """Things of one kind in a scene, below a node of their own."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:
        """Of a flight's vehicles, sensors and world, and of the description of its recording."""

    @property
    def nodes(self) -> Sequence[str]:
        """Nodes that show and hide it."""

    def add(self, stage: Stage) -> None:
        """Add all nodes."""

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Put the nodes where an instant has them: one step of every vehicle, and what is known besides."""


class UnderOneNode:
    """A layer all of whose nodes are below its own."""

    name: str

    @property
    def nodes(self) -> Sequence[str]:
        """Its own node."""
        return (self.name,)


class Ground(UnderOneNode):
    """Lines on the ground, or the scene around the flight."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002 - as all layers are made
        self.name = node
        self._scene = None if rig.world.scene is None else load_scene(rig.world.scene)
        self._is_bare = rig.world.has_ground and self._scene is None

    def add(self, stage: Stage) -> None:
        """Add the lines or the scene."""
        if self._is_bare:
            across = np.arange(-GRID_REACH, GRID_REACH + 0.5 * GRID_STEP, GRID_STEP)
            ends = np.array([-GRID_REACH, GRID_REACH])
            x, s = np.meshgrid(across, ends, indexing="ij")
            lines = np.stack([x, s, 0.0 * x], -1)
            stage.add_lines(
                f"{self.name}/grid",
                np.vstack([lines, lines[..., [1, 0, 2]]]),
                GRID_COLOR,
                GRID_WIDTH,
            )
        if self._scene is not None:
            for i, part in enumerate(self._scene.parts):
                texture = None if part.texture is None else self._scene.textures[part.texture]
                stage.add_part(f"{self.name}/{part.name}_{i}", part, texture)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """It stays as it is."""


class Bodies(UnderOneNode):
    """Bodies of all vehicles with their rotors, and the world's objects."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:
        self.name = node
        self._world, self._rotors = rig.world, TiltingRotors.of(rig)
        names = [f"{v.name}/{body}" for v in meta.vehicles for body in v.bodies]
        count = len(names)
        names += [f"objects/{name}" for name in self._world.objects]
        self._nodes = [f"{self.name}/{each}" for each in names]
        self._level = np.tile(resting_state(ORIGIN, so3.IDENTITY), (count, 1))
        self._nodes += [
            f"{self._nodes[row]}/rotor_{i}" for i, row in enumerate(self._rotors.bodies)
        ]
        self._parts = [*visible_bodies(rig), *visible_objects(rig), *self._rotors.parts]
        self._moving = [item for item in self._world.objects.values()]
        self._count = count

    def add(self, stage: Stage) -> None:
        """Add all bodies with their triangles."""
        for node, parts in zip(self._nodes, self._parts, strict=True):
            stage.add_frame(node)
            for k, part in enumerate(parts):
                stage.add_part(f"{node}/{k}", part)
        for node, item in zip(self._nodes[self._count :], self._moving, strict=False):
            stage.place(node, item.row(0.0)[:7])

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Put bodies, objects that move by themselves, and rotors that tilt where they are."""
        x = np.concatenate([step.x for step in steps])
        for node, row in zip(self._nodes, x, strict=False):
            stage.place(node, row[:7])
        for node, item in zip(self._nodes[self._count :], self._moving, strict=False):
            if item.motion is not None:
                stage.place(node, item.row(steps[0].t)[:7])
        for name, row in notes.objects.items():
            stage.place(f"{self.name}/objects/{name}", row[:7])
        if self._rotors.parts:
            tilts = np.concatenate([_tilts(step) for step in steps])
            poses = self._rotors.poses(self._level, tilts)  # they hang on their bodies
            for node, pose in zip(self._nodes[-len(poses) :], poses, strict=True):
                stage.place(node, pose)


def _tilts(step: Step) -> Array:
    """(N, 4) tilts of a vehicle's rotors, 0 where none tilts [rad]."""
    return np.zeros((len(step.rpm), 4)) if step.tilt is None else step.tilt


class Arms(UnderOneNode):
    """Links of arms."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002
        self.name = node
        self._arms = {
            i: (each.name, each.assembly.arm)
            for i, each in enumerate(rig.vehicles)
            if each.assembly.arm is not None
        }

    def add(self, stage: Stage) -> None:
        """Add all links with their triangles."""
        for name, arm in self._arms.values():
            for k, link in enumerate(arm.links):
                stage.add_frame(f"{self.name}/{name}/{k}")
                for j, part in enumerate(parts_by_color(link.name, link.visual, 0)):
                    stage.add_part(f"{self.name}/{name}/{k}/{j}", part)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Put links where their joints have them."""
        for i, (name, arm) in self._arms.items():
            step = steps[i]
            if step.arm is None:
                continue
            rows = link_rows(arm, step.x[0], ChainState(step.arm.q, step.arm.v))
            for k, row in enumerate(rows):
                stage.place(f"{self.name}/{name}/{k}", row[:7])


class References(UnderOneNode):
    """Axes at the reference of every vehicle."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002
        self.name = node
        self._nodes = [f"{self.name}/{each.name}" for each in meta.vehicles]

    def add(self, stage: Stage) -> None:
        """Add the axes."""
        for node in self._nodes:
            stage.add_frame(node, REFERENCE_AXES)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Put the axes at the references."""
        for node, step in zip(self._nodes, steps, strict=True):
            row = step.reference.row
            stage.place(node, np.concatenate([row[REF_P], row[REF_Q]]))


def _attitude_along(direction: Array) -> Array:
    """(4,) an attitude, xyzw, whose z axis is a direction (3,) of unit length."""
    x, y, z = direction.tolist()
    sine = math.hypot(x, y)
    half = 0.5 * math.atan2(sine, z)
    if sine == 0.0:  # any horizontal axis will do
        return np.array([math.sin(half), 0.0, 0.0, math.cos(half)])
    s = math.sin(half) / sine
    return np.array([-s * y, s * x, 0.0, math.cos(half)])


def _put_arrow(
    stage: Stage, node: str, foot: Array, head: Array, width: float | None = None
) -> None:
    """Put the arrow of a node from a foot to a head, (3,) each [m].

    Args:
        stage: that draws.
        node: above the arrow.
        foot: (3,) of it [m].
        head: (3,) of it [m].
        width: factor on the radii of an arrow of 1 m; None lets them grow with its length.
    """
    along = head - foot
    length = float(np.linalg.norm(along))
    stage.show(f"{node}/arrow", visible=length >= LEAST_LENGTH)
    if length >= LEAST_LENGTH:
        stage.place(node, np.concatenate([foot, _attitude_along(along / length)]))
        size = length if width is None else np.array([width, width, length])
        stage.stretch(f"{node}/arrow", size)


class Thrusts:
    """An arrow along the thrust of every aircraft, which hangs on its body."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:
        bodies = f"{node.rpartition('/')[0]}/bodies"
        self._rotors = [Rotors(each.assembly, each.platform.fleet) for each in rig.vehicles]
        self._aircraft = [list(each.aircraft) for each in meta.vehicles]
        self._arrows = [
            [f"{bodies}/{each.name}/{each.bodies[i]}/thrust" for i in each.aircraft]
            for each in meta.vehicles
        ]

    @property
    def nodes(self) -> Sequence[str]:
        """The frames of all arrows."""
        return [each for arrows in self._arrows for each in arrows]

    def add(self, stage: Stage) -> None:
        """Add the arrows."""
        for node in self.nodes:
            stage.add_frame(node)
            stage.add_arrow(f"{node}/arrow", THRUST_COLOR)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Point the arrows along the thrusts."""
        vehicles = zip(self._rotors, self._aircraft, self._arrows, steps, strict=True)
        for rotors, aircraft, arrows, step in vehicles:
            rotors.tilt[:] = _tilts(step)
            ends = rotors.thrust_arrows(step.x, step.rpm)
            along_B = so3.rotate(so3.conjugate(step.x[aircraft, Q]), ends[:, 1] - ends[:, 0])
            for node, head in zip(arrows, along_B, strict=True):
                _put_arrow(stage, node, ORIGIN, head)


class Contacts(UnderOneNode):
    """An arrow along the force of the environment on every vehicle that measures it, at its tool or its origin."""

    def __init__(self, node: str, rig: RigSpec, meta: RunMeta) -> None:  # noqa: ARG002
        self.name = node
        self._vehicles = [
            (i, f"{self.name}/{each.name}", np.array(each.tool_tip_P or (0.0, 0.0, 0.0)))
            for i, each in enumerate(meta.vehicles)
            if each.feels
        ]

    def add(self, stage: Stage) -> None:
        """Add the arrows."""
        for _, node, _ in self._vehicles:
            stage.add_frame(node)
            stage.add_arrow(f"{node}/arrow", CONTACT_COLOR)

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes) -> None:
        """Point the arrows along the forces."""
        for i, node, tip_P in self._vehicles:
            row, record = steps[i].x[0], steps[i].wrench_record
            if record is not None:
                tip, force = so3.rotate(row[Q], np.stack([tip_P, record.raw_P[:3]]))
                foot = row[P] + tip
                head = foot + CONTACT_METRES_PER_NEWTON * force
                _put_arrow(stage, node, foot, head, CONTACT_WIDTH)
