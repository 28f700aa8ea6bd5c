# SPDX-License-Identifier: BSD-3-Clause
"""A renderer whose images are the bits of poses; in workers it notes what it renders, and one of them dies once."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iap_sensors.cameras.renderer import Frame, Shot

NOTES = "IAP_TEST_NOTES"  # folder of what workers note


class Poses:
    """A renderer whose images are the bits of where their camera was and of where the bodies were."""

    def load(self, *_: Any) -> None:
        """Nothing has to be known."""

    def render(self, shots: Sequence[Shot], poses: np.ndarray) -> list[Frame]:
        """Pixels that nothing but these poses and twists give."""
        frames = []
        for shot in shots:
            numbers = np.concatenate(
                [shot.p_WC_W, shot.q_WC, shot.v_WC_W, shot.w_WC_W, poses.ravel()]
            )
            mono = np.zeros((shot.spec.height, shot.spec.width), np.uint8)
            mono.ravel()[: numbers.nbytes] = numbers.view(np.uint8)
            frames.append(Frame(mono=mono))
        return frames

    def close(self) -> None:
        """Nothing is held."""


class MortalPoses(Poses):
    """The same, noted; the process that is the first to come to its third instant is killed there."""

    def __init__(self) -> None:
        self._instants = 0

    def render(self, shots: Sequence[Shot], poses: np.ndarray) -> list[Frame]:
        """See `Poses`."""
        notes = Path(os.environ[NOTES])
        self._instants += 1
        if self._instants == 3:
            is_first = not (notes / "killed").exists()
            (notes / "killed").touch()
            if is_first:
                os.kill(os.getpid(), signal.SIGKILL)
        with (notes / "rendered").open("a") as file:
            file.write(f"{shots[0].t:.3f}\n")
        return super().render(shots, poses)
