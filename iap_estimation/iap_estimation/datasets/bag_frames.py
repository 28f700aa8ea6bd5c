# SPDX-License-Identifier: BSD-3-Clause
"""Fixed frames of a bag: ``/tf_static`` as a tree."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description import so3
from iap_description.errors import BadInput
from iap_io.euroc.euroc_text import transform
from iap_io.trajectories.messages import xyz

Array = NDArray[np.float64]


class FixedFrames:
    """Frames that do not move against each other.

    Args:
        source: to name in errors.
        messages: of type tf2_msgs/TFMessage.
    """

    def __init__(self, source: str, messages: Iterable[Any]) -> None:
        self._source = source
        self._parents: dict[str, tuple[str, Array]] = {}
        for message in messages:
            for each in message.transforms:
                p, q = each.transform.translation, each.transform.rotation
                turn = so3.normalized(np.array([q.x, q.y, q.z, q.w]))
                T = transform(np.array(xyz(p)), turn)
                self._parents[_plain(each.child_frame_id)] = _plain(each.header.frame_id), T

    def between(self, base: str, frame: str) -> Array:
        """Place (4, 4) of a frame in a base.

        Raises:
            BadInput: nothing joins them.
        """
        root, T_RB = self._from_root(_plain(base))
        other, T_RF = self._from_root(_plain(frame))
        if root != other:
            raise BadInput(
                f"{self._source}: /tf_static does not say where frame '{frame}' is in '{base}';"
                " give --calibration LEFT RIGHT"
            )
        T_BF: Array = np.linalg.inv(T_RB) @ T_RF
        return T_BF

    def _from_root(self, frame: str) -> tuple[str, Array]:
        """The frame that a frame hangs from in the end, and its place (4, 4) in that."""
        T, passed = np.eye(4), {frame}
        while frame in self._parents:
            frame, T_PF = self._parents[frame]
            if frame in passed:
                raise BadInput(f"{self._source}: /tf_static has a circle through frame '{frame}'")
            passed.add(frame)
            T = T_PF @ T
        return frame, T


def _plain(frame: str) -> str:
    """A frame's name without the slash that ROS 1 allowed before it."""
    return frame.removeprefix("/")
