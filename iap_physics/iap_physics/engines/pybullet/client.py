# SPDX-License-Identifier: BSD-3-Clause
"""PyBullet itself: the only module that imports it (others take `bullet` from here).

It prints, in C, to standard error when imported, and to standard output when a model displeases it:
the first is dropped, the second sent to standard error (`native_output`).
"""

import math
import os
import sys
from tempfile import TemporaryDirectory

from iap_description.errors import BadInput
from iap_description.geometry.shapes import Surface
from iap_description.process.extras import missing
from iap_description.process.native_output import native_output_discarded, native_output_to

try:
    with native_output_discarded():
        import pybullet as bullet
except ModuleNotFoundError as error:
    if sys.version_info >= (3, 12):
        raise BadInput(
            "engine 'pybullet' needs pybullet, which has no wheel for this Python: --engine mujoco flies without it, or"
            f" with a compiler: {sys.executable} -m pip install pybullet"
        ) from error
    raise missing(error.name, "engine 'pybullet' needs", "pybullet") from error

Handle = tuple[int, int]  # PyBullet's body and link; link -1 is the base

MARGIN = 1e-4  # by which hulls are rounded outwards, by default 1 mm [m]
STDERR = 2
SPEED_LIMIT = 1e5  # at which PyBullet clips velocities, by default 100 [m/s, rad/s]


def connect(*, view: bool) -> int:
    """Start PyBullet, with its window or without.

    Raises:
        BadInput: there is no display; PyBullet itself would end the process.
    """
    if not view:
        return bullet.connect(bullet.DIRECT)
    if sys.platform == "linux" and not os.environ.get("DISPLAY"):
        raise BadInput("view: PyBullet's window needs a display, and DISPLAY is not set")
    client = bullet.connect(bullet.GUI)
    bullet.configureDebugVisualizer(bullet.COV_ENABLE_GUI, 0, physicsClientId=client)
    return client


def shut_down(client: int, files: TemporaryDirectory[str]) -> None:
    """End PyBullet and remove what it has read."""
    with native_output_to(STDERR):
        bullet.disconnect(client)
    files.cleanup()


def set_surface(client: int, handle: Handle, surface: Surface) -> None:
    """Friction, restitution and softness of a link.

    PyBullet multiplies the coefficients of bodies in contact, so each gets the root. Stiffnesses it
    combines like springs in series, dampings it adds; rigid bodies count as 1e18 N/m and 0.1 N s/m.
    """
    at = {"physicsClientId": client}
    bullet.changeDynamics(
        *handle,
        lateralFriction=math.sqrt(surface.friction),
        restitution=math.sqrt(surface.restitution),
        **at,
    )
    if surface.stiffness is not None:
        spring = {"contactStiffness": surface.stiffness, "contactDamping": surface.damping}
        bullet.changeDynamics(*handle, **spring, **at)
