# SPDX-License-Identifier: BSD-3-Clause
"""The renderer for every day: OpenGL 3.3 through EGL, on a graphics card or on the CPU.

What a camera can see is picked and sorted here, nearest first, so that hardly a pixel is shaded
twice; images are read back only when others are already being drawn.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Protocol

import moderngl
import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.process.extras import cv2
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.bands import ImageBand
from iap_sensors.cameras.framebuffers import LIGHT, Format, Kind, RenderTarget, Targets
from iap_sensors.cameras.image_noise import Film
from iap_sensors.cameras.mesh_pass import Painter
from iap_sensors.cameras.renderer import Frame, Shot, refuse_physical_light
from iap_sensors.cameras.spec import CameraSpec
from iap_sensors.cameras.view import PinholeView

MAX_PENDING_IMAGES = 12  # images that are drawn before the first of them is read back
PACKAGES = "libegl1 libgl1-mesa-dri"
LIBRARY = "libEGL.so.1"  # gives OpenGL's functions as well, so that no other library is needed
MAX_DEVICES = 16  # devices that are tried


@dataclass(frozen=True, eq=False)
class _Drawing:
    """An image that is being drawn, the film that it is for, which piece of it, and whether it is the film's last."""

    film: Film
    target: RenderTarget
    piece: ImageBand | None
    is_last: bool


class Artist(Protocol):
    """Draws a loaded scene into targets; the context is current in every call."""

    def place(self, poses: Array) -> None:
        """Move the bodies to poses (bodies, 7)."""

    def paint(
        self, target: RenderTarget, shot: Shot, view: PinholeView, place: tuple[Array, Array]
    ) -> None:
        """Draw what a camera sees from a place, p_WC_W (3,) [m] and q_WC (4,)."""

    def luminance(self, shot: Shot) -> float | None:
        """Luminance of light 1 [cd/m^2]; None where it is unknown."""


class OpenGLRenderer:
    """Renders with OpenGL; images are equal from run to run on the same machine.

    Attributes:
        device: what draws, a graphics card, or llvmpipe on the CPU.

    Raises:
        BadInput: the machine has no OpenGL through EGL.
    """

    SAMPLES = True  # whether targets have several samples a pixel where a camera asks for them

    def __init__(self) -> None:
        self._context = _open_context()
        self._context.gc_mode = "context_gc"  # what is no longer used is given back in `load`
        self._targets = Targets(self._context)
        self._painter: Artist | None = None
        with self._context:  # afterwards no thread has it, so that any may render
            self.device = str(self._context.info["GL_RENDERER"])

    def load(self, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> None:
        """Take what is to be drawn, see `Renderer`."""
        with self._context:
            self._painter = None
            self._context.gc()
            self._painter = self._artist(scene, bodies)

    def _artist(self, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> Artist:
        """Painter of a scene."""
        refuse_physical_light(scene, "opengl")
        return Painter(self._context, scene, bodies)

    def render(self, shots: Sequence[Shot], poses: Array) -> list[Frame]:
        """One frame for each shot, see `Renderer`."""
        if self._painter is None:
            raise RuntimeError("nothing is loaded that could be rendered")
        painter, drawings = self._painter, deque[_Drawing]()
        frames = {Film(shot): Frame() for shot in shots}
        with self._context:
            painter.place(np.ascontiguousarray(poses, dtype=float))
            for film in frames:
                for drawing in self._expose(painter, film):
                    drawings.append(drawing)
                    if len(drawings) > MAX_PENDING_IMAGES:
                        self._develop(painter, drawings.popleft(), frames)
            for drawing in drawings:
                self._develop(painter, drawing, frames)
        return list(frames.values())

    def _frame(self, painter: Artist, film: Film) -> Frame:
        """The frame of a film."""
        frame = film.frame()
        if frame.light is None:
            return frame
        light = self._finished_light(frame.light, film.shot.spec)
        return replace(frame, light=light, luminance=painter.luminance(film.shot))

    def _finished_light(
        self,
        light: NDArray[np.float32],
        spec: CameraSpec,  # noqa: ARG002
    ) -> NDArray[np.float32]:
        """An image of light (h, w) or (h, w, 3) of a camera as it comes to its effects."""
        return light

    def _finished(self, image: NDArray[np.uint8], spec: CameraSpec) -> NDArray[np.uint8]:  # noqa: ARG002
        """An image (h, w) or (h, w, 3) of a camera as it is taken."""
        return image

    def close(self) -> None:
        """Give back what the renderer holds."""
        self._painter = None
        self._context.release()

    def _expose(self, painter: Artist, film: Film) -> Iterator[_Drawing]:
        """Begin all images that a film needs, one by one."""
        shot = film.shot
        kinds: list[tuple[Kind, ImageBand | None]] = []
        if film.look is not None:
            look: Kind = LIGHT[film.look] if film.is_light else film.look
            kinds += [(look, piece) for piece in film.pieces]
        if film.needs_range:
            kinds.append(("range", None))
        for k, (kind, piece) in enumerate(kinds, start=1):
            samples = shot.spec.antialiasing if self.SAMPLES and kind != "range" else 1
            view = film.view if piece is None else piece.view
            target = self._targets.take(Format(view.width, view.height, kind, samples))
            if piece is None:
                painter.paint(target, shot, view, (shot.p_WC_W, shot.q_WC))
            else:
                painter.paint(target, replace(shot, t=shot.t + piece.dt), view, piece.place)
            yield _Drawing(film, target, piece, k == len(kinds))

    def _develop(self, painter: Artist, drawing: _Drawing, frames: dict[Film, Frame]) -> None:
        """Read an image, and make the frame of its film if it is the last one; others are drawn meanwhile."""
        film, form = drawing.film, drawing.target.format
        image = drawing.target.read(self._context)
        if form.kind in ("color", "colored_light"):
            image = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGBA2RGB))
        if form.kind != "range" and not form.is_light:
            image = self._finished(image, film.shot.spec)
        film.take(form.kind, image, drawing.piece)
        self._targets.give_back(drawing.target)
        if drawing.is_last:
            frames[film] = self._frame(painter, film)


def _open_context() -> moderngl.Context:
    """An OpenGL 3.3 context on the first device that works; it is current in this thread.

    Raises:
        BadInput: there is no EGL, or no device that works.
    """
    faults: list[str] = []
    for index in range(MAX_DEVICES):
        try:
            return _open(index)
        except Exception as error:  # glcontext raises nothing more specific
            if faults and "device index" in str(error):
                break
            faults.append(str(error))
            if "not loaded" in faults[-1]:
                break
    has_other = find_spec("pybullet") is not None
    other = ", or ask for 'renderer: pybullet', which is slow" if has_other else ""
    raise BadInput(
        f"renderer 'opengl' needs EGL ({faults[0]}): install Debian's packages {PACKAGES}{other}"
    )


def _open(index: int) -> moderngl.Context:
    settings: Any = {"backend": "egl", "libgl": LIBRARY, "libegl": LIBRARY, "device_index": index}
    return moderngl.create_context(require=330, standalone=True, **settings)
