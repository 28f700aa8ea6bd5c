# SPDX-License-Identifier: BSD-3-Clause
"""Ideal inertial samples as arrays, like the messages of `iap_io.wire.message_views`."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from iap_io.wire.cdr import Layout, message, message_types
from iap_io.wire.message_views import SECOND, Message

Array = NDArray[np.float64]


class InertialMessage(Message):
    """InertialSamples of M units at S instants.

    Attributes:
        frames: (M) the units' frames.
        q_WB: (M, 4) attitudes of their bodies at the header's stamp, xyzw; overwritten by the next message.
        w_S: (S, M, 3) angular velocities [rad/s].
        f_S: (S, M, 3) specific forces [m/s^2].
    """

    TYPE = "iap_msgs/msg/InertialSamples"

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        said: Any = message_types().deserialize_cdr(layout.template.tobytes(), self.TYPE)
        self.frames: list[str] = list(said.frames)
        self._stamps: NDArray[Any] = self._view("stamps")
        self.q_WB: Array = self._view("orientations").reshape(-1, 4)
        shape = (len(self._stamps), len(self.frames), 3)
        self.w_S: Array = self._view("angular_velocities").reshape(shape)
        self.f_S: Array = self._view("specific_forces").reshape(shape)

    @classmethod
    def of(cls, frame_id: str, frames: Sequence[str], instants: int) -> Self:
        """The message of these units at so many instants; `frame_id` is the platform's."""
        store, samples = message_types(), instants * len(frames)
        return cls._of(
            frame_id,
            orientations=[_zero("Quaternion") for _ in frames],
            frames=list(frames),
            stamps=[message(store, "builtin_interfaces/msg/Time") for _ in range(instants)],
            angular_velocities=[_zero("Vector3") for _ in range(samples)],
            specific_forces=[_zero("Vector3") for _ in range(samples)],
        )

    @property
    def stamps(self) -> NDArray[np.int64]:
        """(S,) of the samples [ns]."""
        if not len(self._stamps):
            return np.zeros(0, np.int64)
        return self._stamps["sec"].astype(np.int64) * SECOND + self._stamps["nanosec"]

    def put_samples(self, q_WB: Array, stamps: NDArray[np.int64], w_S: Array, f_S: Array) -> None:
        """Set attitudes (M, 4), stamps (S,) [ns], angular velocities and specific forces (S, M, 3)."""
        self.q_WB[:] = q_WB
        if len(self._stamps):
            self._stamps["sec"], self._stamps["nanosec"] = np.divmod(stamps, SECOND)
        self.w_S[:], self.f_S[:] = w_S, f_S


def _zero(name: str) -> object:
    return message(message_types(), f"geometry_msgs/msg/{name}")
