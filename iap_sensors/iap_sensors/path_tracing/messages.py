# SPDX-License-Identifier: BSD-3-Clause
"""Messages between a renderer and the process that traces paths for it: pickled, one after the other."""

import pickle
from typing import IO, Any, NamedTuple

from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans
from iap_sensors.path_tracing.traced_scene import Singles


class Poses(NamedTuple):
    """Vertices of bodies, the first of which has a number among all: corners (n, 6) in `map`, and hidden ones (n,)."""

    first: int
    corners: Singles
    hidden: Booleans


class LampLevels(NamedTuple):
    """Shares (lamps,) of the light of lamps that shines."""

    levels: Array


class LightRequest(NamedTuple):
    """An image of light.

    Attributes:
        width: [pixels].
        height: [pixels].
        pinhole: focal lengths and centre [pixels].
        R_WC: (3, 3) attitude of the camera.
        p_WC_W: (3,) its place [m].
        near: what is closer along the view is not seen [m].
        spp: paths through each pixel.
        seed: of the paths.
        white: luminance of a white surface that the image is exposed for [kcd/m^2].
        denoised: whether noise is taken out.
    """

    width: int
    height: int
    pinhole: tuple[float, float, float, float]
    R_WC: Array
    p_WC_W: Array
    near: float
    spp: int
    seed: int
    white: float
    denoised: bool


class Answer(NamedTuple):
    """An image of light (h, w, 3), or none, and a fault; empty: there is none."""

    light: NDArray[Any] | None = None
    fault: str = ""


def send(stream: IO[bytes], message: object) -> None:
    """Write a message."""
    pickle.dump(message, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:  # noqa: ANN401 - whatever was sent
    """The next message.

    Raises:
        EOFError: the other side has ended.
    """
    return pickle.load(stream)  # noqa: S301 - between this process and its child alone
