# SPDX-License-Identifier: BSD-3-Clause
"""A flight on a stage: its layers, and the lines of its paths."""

from collections.abc import Sequence

import numpy as np

from iap_bringup.viewing import layers, note_layers
from iap_bringup.viewing.layers import Layer, Steps
from iap_bringup.viewing.scene_notes import NO_NOTES, Coupling, SceneNotes
from iap_bringup.viewing.stage import Rgb, Stage
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P
from iap_description.world.scene_objects import standing
from iap_io.runs.run_meta import RunMeta
from iap_sensors.mounted.rig_spec import RigSpec

LAYERS = (
    layers.Ground,
    layers.Bodies,
    layers.Arms,
    layers.References,
    layers.Thrusts,
    layers.Contacts,
    note_layers.Ports,
    note_layers.Estimates,
    note_layers.Covariances,
    note_layers.Anchors,
    note_layers.Clouds,
)
JOINTS = "joints"  # layer of a vehicle's joints, and of couplings between vehicles
PATHS = "paths"  # node of the lines of paths
PATH_COLOR: Rgb = (40, 90, 200)
REFERENCE_COLOR: Rgb = (150, 150, 150)
PATH_WIDTH = 0.012  # [m]
VIEW_FROM = np.array([-0.55, -0.75, 0.4])  # direction of a camera from the middle of a flight
VIEW_TURNS_DEG = np.array([0.0, 90.0, -90.0, 45.0, -45.0, 180.0])  # about the vertical
LOWEST_EYE = 0.3  # [m]
VIEW_DISTANCE, MARGIN = 0.7, 0.5  # over the size of a flight with a margin around its path [m]

Vec3 = tuple[float, float, float]


class FlightScene:
    """Parts of a flight that a viewer draws.

    Args:
        rig: vehicles, sensors and world.
        meta: of the flight's recording.
        root: node that everything hangs on.
        couplings: latches, and joints between modules.

    Attributes:
        layers: by their names; each has a node of its name below the root.
        follows: whether the first vehicle stays in its place, and the world moves.
        offset: (3,) of the root, for flights beside each other [m].
        home: (3,) where the first vehicle was first shown [m]; None before.
    """

    def __init__(
        self,
        rig: RigSpec,
        meta: RunMeta,
        root: str = "world",
        couplings: Sequence[Coupling] = (),
    ) -> None:
        self.root, self.follows = root, False
        self.offset = np.zeros(3)
        self.home: Array | None = None
        self.layers: dict[str, Layer] = {
            each.__name__.lower(): each(f"{root}/{each.__name__.lower()}", rig, meta)
            for each in LAYERS
        }
        self.layers[JOINTS] = note_layers.Joints(f"{root}/{JOINTS}", meta, couplings)

    def add(self, stage: Stage) -> None:
        """Add everything to a stage."""
        stage.add_frame(self.root)
        for name, layer in self.layers.items():
            if layer.nodes == (f"{self.root}/{name}",):
                stage.add_frame(f"{self.root}/{name}")
            layer.add(stage)

    def nodes(self, name: str) -> Sequence[str]:
        """Nodes that show and hide a layer, or the paths, by its name."""
        layer = self.layers.get(name)
        return (f"{self.root}/{name}",) if layer is None else layer.nodes

    def update(self, stage: Stage, steps: Steps, notes: SceneNotes = NO_NOTES) -> None:
        """Show an instant: one step of every vehicle, and what is known besides."""
        for layer in self.layers.values():
            layer.update(stage, steps, notes)
        p = steps[0].x[0, P]
        if self.home is None:
            self.home = p.copy()
        shift = self.offset + (self.home - p if self.follows else 0.0)
        stage.place(self.root, np.concatenate([shift, so3.IDENTITY]))


def add_path(stage: Stage, node: str, points: Array, color: Rgb) -> None:
    """Draw a way (n, 3) [m] as a node."""
    if len(points) > 1:
        stage.add_lines(node, np.stack([points[:-1], points[1:]], axis=1), color, PATH_WIDTH)


def add_paths(
    stage: Stage, paths: Sequence[Array], references: Sequence[Array], root: str = "world"
) -> None:
    """Draw the ways of vehicles and of their references, each (n, 3) [m], below a root."""
    stage.add_frame(f"{root}/{PATHS}")
    kinds = (("vehicle", PATH_COLOR, paths), ("reference", REFERENCE_COLOR, references))
    for kind, color, lines in kinds:
        for i, points in enumerate(lines):
            add_path(stage, f"{root}/{PATHS}/{kind}_{i}", points, color)


def initial_view(points: Array, rig: RigSpec) -> tuple[Vec3, Vec3]:
    """Place of a camera that sees a way, and the point that it looks at [m].

    Of several directions it is the first from which objects hide the fewest points.

    Args:
        points: (n, 3) of the way [m].
        rig: whose world's objects may be in the way.
    """
    low, high = points.min(axis=0) - MARGIN, points.max(axis=0) + MARGIN
    middle = 0.5 * (low + high)
    distance = VIEW_DISTANCE * float(np.linalg.norm(high - low))
    objects = standing(rig.world, 0.0)

    def hidden(direction: Array) -> int:
        """Points that something hides from here, or from further back."""
        eyes = [middle + far * distance * direction for far in (1.0, 2.0)]
        hides = [each.hides(points, eye) for each in objects for eye in eyes]
        return int(np.any(hides, axis=0).sum()) if hides else 0

    turns = so3.quaternion_exp(np.deg2rad(VIEW_TURNS_DEG)[:, None] * np.array([0.0, 0.0, 1.0]))
    directions = so3.rotate(turns, VIEW_FROM / np.linalg.norm(VIEW_FROM))
    x, y, z = (middle + distance * min(directions, key=hidden)).tolist()
    return (x, y, max(z, LOWEST_EYE)), tuple(middle.tolist())
