# SPDX-License-Identifier: BSD-3-Clause
"""The stage on viser: a server whose pages in browsers draw it."""

import contextlib
import errno
import io
import math
import os
import socket
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from iap_bringup.viewing.stage import Pixels, Rgb
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.process.extras import missing
from iap_description.states import P, Q

try:
    import viser as viser
    from viser import uplot as uplot
    from viser.infra import StateSerializer as StateSerializer
except ModuleNotFoundError as error:
    raise missing(error.name, "the viewer needs", "view") from error

if TYPE_CHECKING:
    from trimesh import Trimesh

SHAFT, HEAD, HEAD_LENGTH = 0.02, 0.06, 0.2  # radii and length of an arrow of 1 m [m]
TEXTURE_SIZE = 256  # largest side of a texture [pixels]
FIRST_PORT, LAST_PORT, TRIED_PORTS = 8080, 65535, 100
SAME_SIZE = 0.01  # relative change of a size that is not sent
ALONE = "127.0.0.1"
GRACE, LINGER_PERIOD = (
    3.0,
    0.1,
)  # in which a page that was closed may return, and between two looks [s]
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")  # variables without which Linux shows nothing

NO_POINT = np.array([[0.0, 0.0, -1000.0]], np.float16)
IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
Vec3 = tuple[float, float, float]
Vec4 = tuple[float, float, float, float]


class Server(viser.ViserServer):
    """A server that stays on this machine: viser's button that opens a tunnel to the internet does nothing."""

    def stop(self) -> None:
        """End, without a word on standard output."""
        with contextlib.redirect_stdout(io.StringIO()):
            super().stop()

    def linger(self, is_over: Callable[[], bool]) -> None:
        """Wait until nobody has looked for `GRACE`, or until a function says that it is over."""
        looked = time.monotonic() if self.get_clients() else -math.inf
        while time.monotonic() < looked + GRACE and not is_over():
            time.sleep(LINGER_PERIOD)
            if self.get_clients():
                looked = time.monotonic()

    def request_share_url(self, verbose: bool = True) -> str | None:  # noqa: ARG002, FBT001, FBT002 - as viser has it
        """No address in the internet."""
        return None


def open_server(host: str = ALONE, port: int = FIRST_PORT, label: str = "iap") -> Server:
    """A server at the first free port.

    Args:
        host: address that it listens at.
        port: the first that is tried; 0 takes any.
        label: title of its panel.

    Raises:
        BadInput: no port is free, or there is no such address.
    """
    free = _free_port(host, port)  # viser waits for ever where there is none
    with contextlib.redirect_stdout(io.StringIO()):
        return Server(host=host, port=free, label=label, verbose=False)


def _free_port(host: str, first: int) -> int:
    """The first free port of an address from one on; 0 stands for any.

    Raises:
        BadInput: no port is free, or this machine has no such address.
    """
    if not 0 <= first <= LAST_PORT:
        raise BadInput(f"port {first}: a number from 0 to {LAST_PORT} is expected")
    for port in range(first, min(first + TRIED_PORTS, LAST_PORT + 1)):
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            with socket.create_server(address, family=family):
                return port
        except UnicodeError:
            raise BadInput(f"host {host}: no address") from None
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                why = str(error.strerror).partition(" (")[0]
                raise BadInput(f"host {host}, port {port}: no pages there, {why}") from None
    raise BadInput(f"port {first}: it is in use, and so are the {TRIED_PORTS - 1} after it")


def open_browser(address: str) -> bool:
    """Open an address in a browser that is there; without a display there is none."""
    if sys.platform.startswith("linux") and not any(os.environ.get(key) for key in DISPLAYS):
        return False
    return webbrowser.open(address)


class ViserStage:
    """A `Stage` of a server.

    Args:
        server: whose pages draw.

    Attributes:
        opacity: factor on that of all triangles without texture that are added.
    """

    same_pose = 1e-6  # change of a pose that is not sent [m]

    def __init__(self, server: viser.ViserServer) -> None:
        self._server, self.opacity = server, 1.0
        self._nodes: dict[str, Any] = {}
        self._poses: dict[str, Array] = {}
        self._sizes: dict[str, float | Array] = {}
        self._visible: dict[str, bool] = {}

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Let pages draw all changes within this context together."""
        with self._server.atomic():
            yield

    def add_frame(self, name: str, axes: float = 0.0) -> None:
        """Add a node that others hang on, see `Stage`."""
        self._nodes[name] = self._server.scene.add_frame(
            name, show_axes=axes > 0.0, axes_length=axes, axes_radius=0.04 * axes
        )

    def add_part(self, name: str, part: MeshPart, texture: Pixels | None = None) -> None:
        """Add triangles, see `Stage`."""
        scene = self._server.scene
        if texture is not None:
            mesh = _textured(part, texture)
            self._nodes[name] = scene.add_mesh_trimesh(name, mesh, cast_shadow=False)
            return
        *color, opacity = part.color
        opacity *= self.opacity
        self._nodes[name] = scene.add_mesh_simple(
            name,
            part.vertices,
            part.faces,
            color=_bytes(color),
            opacity=None if opacity >= 1.0 else opacity,
            cast_shadow=False,
            receive_shadow=False,
        )

    def add_lines(self, name: str, points: Array, color: Rgb, width: float) -> None:
        """Add line segments, see `Stage`."""
        self._nodes[name] = self._server.scene.add_line_segments(
            name, np.asarray(points, np.float32), np.array(color, np.uint8), thickness=width
        )

    def add_arrow(self, name: str, color: Rgb) -> None:
        """Add an arrow of 1 m along z, hidden until it is shown."""
        self._nodes[name] = self._server.scene.add_arrows(
            name,
            np.array([[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]], np.float32),
            color,
            shaft_radius=SHAFT,
            head_radius=HEAD,
            head_length=HEAD_LENGTH,
            visible=False,
        )

    def add_ball(self, name: str, radius: float, color: Rgb, opacity: float = 1.0) -> None:
        """Add a sphere, see `Stage`."""
        self._nodes[name] = self._server.scene.add_icosphere(
            name,
            radius=radius,
            color=color,
            subdivisions=2,
            opacity=None if opacity >= 1.0 else opacity,
            cast_shadow=False,
        )

    def add_points(self, name: str, color: Rgb, size: float) -> None:
        """Add points, see `Stage`; one far below the ground stands for none."""
        self._nodes[name] = self._server.scene.add_point_cloud(
            name, NO_POINT, color, point_size=size, point_shape="circle", point_shading="flat"
        )

    def scatter(self, name: str, points: Array) -> None:
        """Put a node's points, see `Stage`."""
        self._nodes[name].points = points.astype(np.float16) if len(points) else NO_POINT

    def place(self, name: str, pose: Array) -> None:
        """Put a node at a pose, unless it stands there already."""
        last = self._poses.setdefault(name, IDENTITY.copy())
        changes = np.abs(pose - last) >= self.same_pose
        if changes[P].any():
            last[P] = pose[P]
            x, y, z = pose[P].tolist()
            self._move(name, (x, y, z))
        if changes[Q].any():
            last[Q] = pose[Q]
            qx, qy, qz, qw = pose[Q].tolist()
            self._turn(name, (qw, qx, qy, qz))

    def _move(self, name: str, position: Vec3) -> None:
        """Send a position [m]."""
        self._nodes[name].position = position

    def _turn(self, name: str, wxyz: Vec4) -> None:
        """Send an attitude."""
        self._nodes[name].wxyz = wxyz

    def stretch(self, name: str, factor: float | Array) -> None:
        """Scale what a node draws, unless it has about that size already."""
        last = self._sizes.get(name, 0.0)
        if np.any(np.abs(np.subtract(factor, last)) >= SAME_SIZE * np.asarray(factor)):
            self._sizes[name] = factor
            if isinstance(factor, float):
                self._scale(name, factor)
            else:
                x, y, z = factor.tolist()
                self._scale(name, (x, y, z))

    def _scale(self, name: str, scale: float | Vec3) -> None:
        """Send a size."""
        self._nodes[name].scale = scale

    def show(self, name: str, *, visible: bool) -> None:
        """Show or hide a node, unless it is so already."""
        if self._visible.get(name) is not visible:
            self._visible[name] = visible
            self._reveal(name, visible=visible)

    def _reveal(self, name: str, *, visible: bool) -> None:
        """Send whether a node is shown."""
        self._nodes[name].visible = visible

    def remove(self, name: str) -> None:
        """Remove a node that nothing hangs on."""
        self._nodes.pop(name).remove()
        for known in (self._poses, self._sizes, self._visible):
            known.pop(name, None)


def _bytes(color: list[float]) -> Rgb:
    red, green, blue = (round(255.0 * each) for each in color)
    return red, green, blue


def _textured(part: MeshPart, texture: Pixels) -> "Trimesh":
    """A part with its texture, which is brought to `TEXTURE_SIZE`."""
    from trimesh import Trimesh  # takes half a second, and few flights have textures
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    image = Image.fromarray(texture)
    image.thumbnail((TEXTURE_SIZE, TEXTURE_SIZE))
    *color, opacity = part.color
    material = PBRMaterial(
        baseColorTexture=image,
        baseColorFactor=[*_bytes(color), round(255.0 * opacity)],
        metallicFactor=0.0,
        roughnessFactor=1.0,
    )
    return Trimesh(
        part.vertices,
        part.faces,
        vertex_normals=part.normals,
        visual=TextureVisuals(uv=part.uv, material=material),
        process=False,
    )
