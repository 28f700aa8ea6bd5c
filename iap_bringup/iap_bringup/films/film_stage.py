# SPDX-License-Identifier: BSD-3-Clause
"""The stage of a film: nodes of a viewer's scene in rendered pictures, with lines and arrows over them."""

from dataclasses import dataclass, field

import numpy as np

from iap_bringup.films.film_picture import DEPTH_SHRINK, FOCAL, FilmPicture, Picture, View
from iap_bringup.viewing.stage import Rgb
from iap_description.arrays import Array
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.scenes.scene import Fog, Light, Scene, Sky
from iap_description.states import P, Q
from iap_description.world.world import World
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.spec import CameraSpec

Size = tuple[int, int]  # width and height [pixels]

TILES, TILE_PIXELS, GROUND_REACH = (
    8,
    32,
    40.0,
)  # of the chequered ground's texture, and its size [m]
TILE = 1.0  # [m]
TILE_GREYS = 214, 198
HAZE, HORIZON = 0.035, (0.89, 0.91, 0.94)  # [1/m], sRGB
AXIS_COLORS: tuple[Rgb, ...] = ((214, 60, 50), (50, 160, 70), (50, 100, 214))
IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


def studio_scene() -> Scene:
    """A pale chequered ground under a clear sky, for flights whose world names no scene."""
    tiles = np.indices((TILES, TILES)).sum(axis=0) % 2
    greys = np.array(TILE_GREYS, np.uint8)[tiles].repeat(TILE_PIXELS, 0).repeat(TILE_PIXELS, 1)
    corners = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * GROUND_REACH
    ground = MeshPart(
        "ground",
        np.column_stack([corners, np.zeros(4)]).astype(np.float32),
        np.tile(np.array([0.0, 0.0, 1.0], np.float32), (4, 1)),
        (corners / (TILES * TILE)).astype(np.float32),
        np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        "tiles",
        (1.0, 1.0, 1.0, 1.0),
        1,
    )
    return Scene(
        "studio",
        (ground,),
        (),
        {"tiles": np.repeat(greys[..., None], 3, axis=2)},
        Light((0.40, -0.38, 0.84), 0.6, 0.55),
        Fog(HAZE, HORIZON),
        Sky((0.59, 0.72, 0.87), HORIZON),
        {},
    )


@dataclass
class _Node:
    """Parts that hang on a node.

    Attributes:
        pose: (7,) in its parent's frame.
        parts: its triangles.
        axes: length of its axes [m].
        arrow: colour of its arrow.
        length: of the arrow [m].
        ball: radius [m] and colour.
        points: (n, 3) in its frame [m], and their colour.
        visible: False where it is hidden.
    """

    pose: Array = field(default_factory=IDENTITY.copy)
    parts: list[MeshPart] = field(default_factory=list)
    axes: float = 0.0
    arrow: Rgb | None = None
    length: float = 0.0
    ball: tuple[float, Rgb] | None = None
    points: tuple[Array, Rgb] | None = None
    visible: bool = True

    @property
    def has_marks(self) -> bool:
        """True if anything of it is drawn over a picture."""
        marks = (self.arrow, self.ball, self.points)
        return self.axes > 0.0 or any(each is not None for each in marks)


class FilmStage:
    """A `Stage` whose pictures are made one by one.

    Args:
        renderer: name of the renderer.
        world: of the flight; one that names no scene is shown on a chequered ground.
        size: of the pictures.

    Raises:
        BadInput: this machine cannot draw.
    """

    def __init__(self, renderer: str, world: World, size: Size) -> None:
        scene = studio_scene() if world.scene is None else load_scene(world.scene)
        self._scene = world.lit(scene)
        small = size[0] // DEPTH_SHRINK, size[1] // DEPTH_SHRINK
        self._spec, self._depth_spec = (
            CameraSpec.for_pictures(pixels, FOCAL, outputs=(output,))
            for pixels, output in ((size, "rgb8"), (small, "depth"))
        )
        self._models = CameraModel.of(self._spec), CameraModel.of(self._depth_spec)
        self._nodes: dict[str, _Node] = {}
        self._ancestors: dict[str, tuple[str, ...]] = {}
        self._meshed: list[str] = []
        self._renderer, self._is_loaded = make_renderer(renderer), False

    def add_frame(self, name: str, axes: float = 0.0) -> None:
        """Add a node, see `Stage`."""
        self._node(name).axes = axes

    def add_part(self, name: str, part: MeshPart, texture: Picture | None = None) -> None:  # noqa: ARG002
        """Add triangles to the parent of a node, see `Stage`; a texture is that of the scene."""
        self._node(name.rpartition("/")[0]).parts.append(part)

    def add_lines(self, name: str, points: Array, color: Rgb, width: float) -> None:
        """Lines are drawn by `draw_path`, since a film's grow."""

    def add_arrow(self, name: str, color: Rgb) -> None:
        """Add an arrow, see `Stage`."""
        self._node(name).arrow = color

    def add_ball(self, name: str, radius: float, color: Rgb, opacity: float = 1.0) -> None:  # noqa: ARG002
        """Add a ball, see `Stage`; in a film it is a disc, which hides what is behind it."""
        self._node(name).ball = (radius, color)

    def add_points(self, name: str, color: Rgb, size: float) -> None:  # noqa: ARG002
        """Add points, see `Stage`; in a film they are pixels."""
        self._node(name).points = (np.zeros((0, 3)), color)

    def scatter(self, name: str, points: Array) -> None:
        """Put a node's points, see `Stage`."""
        old = self._node(name).points
        self._node(name).points = None if old is None else (points, old[1])

    def place(self, name: str, pose: Array) -> None:
        """Put a node, see `Stage`."""
        self._node(name).pose = pose

    def stretch(self, name: str, factor: float | Array) -> None:
        """Scale an arrow along itself, or a ball by its largest factor, see `Stage`."""
        node = self._node(name)
        node.length = float(np.max(factor) if node.arrow is None else np.ravel(factor)[-1])

    def show(self, name: str, *, visible: bool) -> None:
        """Show or hide a node, see `Stage`."""
        self._node(name).visible = visible

    def remove(self, name: str) -> None:
        """Remove a node, see `Stage`; triangles stay once pictures were made."""
        self._nodes[name] = _Node()

    def _node(self, name: str) -> _Node:
        if name not in self._nodes:
            self._nodes[name] = _Node()
        return self._nodes[name]

    def _pose(self, name: str) -> Array:
        """(7,) pose of a node in `map`."""
        if name not in self._ancestors:
            parts = name.split("/")
            names = ("/".join(parts[:n]) for n in range(2, len(parts) + 1))
            self._ancestors[name] = tuple(each for each in names if each in self._nodes)
        pose = IDENTITY
        for each in self._ancestors[name]:
            local = self._nodes[each].pose
            if local is IDENTITY or not (local - IDENTITY).any():
                continue
            if pose is IDENTITY:
                pose = local
                continue
            p = pose[P] + so3.rotate(pose[Q], local[P])
            pose = np.concatenate([p, so3.multiply(pose[Q], local[Q])])
        return pose

    def picture(self, view: View, t: float = 0.0) -> "FilmPicture":
        """The picture from a place at a time [s]."""
        if not self._is_loaded:
            self._meshed = [name for name, node in self._nodes.items() if node.parts]
            self._renderer.load(self._scene, [self._nodes[name].parts for name in self._meshed])
            self._is_loaded = True
        q_WC = so3.quaternion_from_matrix(view.R_WC)
        shots = [
            Shot(model, spec, view.p_WC_W, q_WC, t=t)
            for model, spec in zip(self._models, (self._spec, self._depth_spec), strict=True)
        ]
        poses = np.array([self._pose(name) for name in self._meshed]).reshape(-1, 7)
        image, depth = self._renderer.render(shots, poses)
        assert image.rgb is not None and depth.depth is not None  # noqa: S101, PT018 - as asked for
        return FilmPicture(image.rgb, depth.depth.astype(float), self._models[0], view)

    def draw_marks(self, picture: "FilmPicture") -> None:
        """Draw axes, balls, points and arrows over a picture."""
        for name, node in self._nodes.items():
            if not node.visible or not node.has_marks:
                continue
            pose = self._pose(name)
            if node.points is not None:
                points, color = node.points
                picture.draw_points(pose[P] + so3.rotate(pose[Q], points), color)
            if node.axes > 0.0:
                ends = pose[P] + so3.rotate(pose[Q], node.axes * np.eye(3))
                for end, color in zip(ends, AXIS_COLORS, strict=True):
                    picture.draw_line(np.stack([pose[P], end]), color)
            if node.ball is not None:
                picture.draw_ball(pose[P], *node.ball)
            if node.arrow is not None and node.length > 0.0:
                head = pose[P] + so3.rotate(pose[Q], np.array([0.0, 0.0, node.length]))
                picture.draw_arrow(pose[P], head, node.arrow)

    def close(self) -> None:
        """Give back what the renderer holds."""
        self._renderer.close()
