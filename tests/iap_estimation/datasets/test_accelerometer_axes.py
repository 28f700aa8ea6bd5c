# SPDX-License-Identifier: BSD-3-Clause
"""Gravity stays where it is while a body turns: an accelerometer in other axes than its gyroscope shows."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets import accelerometer_axes as checked
from iap_estimation.datasets.accelerometer_axes import accelerometer_axes, signed_axes
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.virpo.messages import ImuSample

RATE = 0.01  # between samples [s]


def walk(axes: Any = ((1, 0, 0), (0, 1, 0), (0, 0, 1)), tilt: float = 0.5) -> DataSample:
    """Eight seconds of an inertial unit that sways by so much [rad] and accelerates a little."""
    t = np.arange(0.0, 8.0, RATE)
    rpy = np.column_stack([tilt * np.sin(1.1 * t), tilt * np.sin(1.7 * t + 1.0), 0.5 * t])
    R = so3.matrix_from_euler(rpy)
    w = np.zeros_like(rpy)
    w[1:] = so3.log(np.swapaxes(R[:-1], 1, 2) @ R[1:]) / RATE
    a = 0.6 * np.column_stack([np.sin(3.0 * t), np.cos(2.3 * t), np.sin(4.0 * t)])
    f = np.einsum("kji,kj->ki", R, a + [0.0, 0.0, GRAVITY]) @ np.array(axes, float).T
    samples = [ImuSample(*each) for each in zip(t, w, f, strict=True)]
    return DataSample(SimpleNamespace(source="walk.bag"), samples)


def test_gravity_goes_along_with_the_turns_of_the_gyroscope() -> None:
    assert "gravity goes along with its turns" in str(accelerometer_axes(walk()))


@pytest.mark.parametrize(
    ("axes", "text"),
    [
        (((-1, 0, 0), (0, 1, 0), (0, 0, 1)), "its -x, y, z"),
        (((1, 0, 0), (0, 1, 0), (0, 0, -1)), "its x, y, -z"),
        (((0, 1, 0), (1, 0, 0), (0, 0, 1)), "its y, x, z"),
    ],
)
def test_an_axis_of_the_accelerometer_that_is_flipped_or_exchanged_is_named(
    axes: Any, text: str
) -> None:
    with pytest.raises(BadInput, match=f"if x, y, z of the accelerometer were {text}"):
        accelerometer_axes(walk(axes))


def test_a_flight_that_hardly_tilts_is_said_to_leave_them_open() -> None:
    line = accelerometer_axes(walk(((-1, 0, 0), (0, 1, 0), (0, 0, 1)), tilt=0.01))
    assert line is not None and "tilts too little" in line


def test_there_are_23_other_rotations_and_24_reflections() -> None:
    assert sorted(round(np.linalg.det(axes)) for axes in signed_axes()) == [-1] * 24 + [1] * 23


@pytest.mark.parametrize(
    ("tilts", "now", "best", "said"),
    [
        (3.9, 90.0, 1.0, "it tilts too little"),
        (4.1, 5.9, 0.1, "gravity goes along with its turns, within 6 deg"),
        (
            4.1,
            6.1,
            2.2,
            "gravity goes along with its turns, within 6 deg",
        ),  # no other axes are better
        (4.1, 6.1, 2.1, None),
    ],
)
def test_other_axes_are_meant_where_a_third_of_six_degrees_is_left(
    monkeypatch: pytest.MonkeyPatch, tilts: float, now: float, best: float, said: str | None
) -> None:
    class Stub:
        q = np.zeros((10, 4))

        def __init__(self) -> None:
            self.tilts = tilts

        def misses(self, axes: Any = None) -> float:
            return now if axes is None else best

    monkeypatch.setattr(checked, "gravity_of", lambda sample: Stub())
    if said is None:
        with pytest.raises(BadInput, match=r"off by 6 deg\), but would if"):
            accelerometer_axes(walk())
    else:
        assert said in str(accelerometer_axes(walk()))


def test_nine_means_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    few = SimpleNamespace(q=np.zeros((9, 4)), tilts=90.0, misses=lambda axes=None: 0.0)
    monkeypatch.setattr(checked, "gravity_of", lambda sample: few)
    assert accelerometer_axes(walk()) is None
