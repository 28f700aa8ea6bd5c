# SPDX-License-Identifier: BSD-3-Clause
"""What confirms the axes of a recording, and what is said where nothing can."""

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, T, samples_of, stamps_of
from numpy.typing import NDArray

from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.tilts import check_tilts

Array = NDArray[np.float64]
RATE = 1.2  # of the sways [rad/s]


def sway(size: float, yaw: float, *, tilts: bool = True) -> tuple[Array, Array]:
    """Positions and attitudes of a multirotor that sways along x and y by so much [m] with one heading."""
    phase = RATE * T[:, None] + [0.0, 1.0]
    xy, a = size * np.sin(phase), -(RATE**2) * size * np.sin(phase)
    p = np.column_stack([xy, 1.5 + 0.0 * T])
    z = np.column_stack([tilts * a, GRAVITY + 0.0 * T])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    y = np.cross(z, [np.cos(yaw), np.sin(yaw), 0.0])
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return p, so3.quaternion_from_matrix(np.stack([np.cross(y, z), y, z], axis=2))


def read(p: Array, q: Array, reading: PoseReading = NOTHING_SAID, **about: str) -> Samples:
    """The samples that tilts do not contradict."""
    return check_tilts(samples_of(p, q, about=about), stamps_of(T), reading)


@pytest.mark.parametrize(
    ("size", "tilts", "reading", "evidence"),
    [
        (0.5, True, {}, "tilts"),
        (0.1, True, {}, "tilts"),  # by up to 1 deg
        (0.5, False, {}, "level"),
        (0.002, False, {}, "still"),
        (0.5, False, {"attitude": "level"}, "level"),
        (0.5, True, {"convention": "enu"}, "option"),
    ],
)
def test_what_confirms_the_axes_or_why_nothing_can_is_kept(
    size: float, tilts: bool, reading: dict[str, str], evidence: str
) -> None:
    samples = read(*sway(size, 0.3, tilts=tilts), PoseReading(**reading))
    assert samples.about.axes_evidence == evidence


def test_an_accelerometer_confirms_what_tilts_cannot() -> None:
    p, q = sway(0.002, 0.3, tilts=False)
    assert read(p, q, axes_evidence="accelerometer").about.axes_evidence == "accelerometer"


def test_axes_that_cannot_be_checked_are_said_to_be_so() -> None:
    about = samples_of(np.zeros((1, 3)), about={"samples": 2, "axes_evidence": "level"}).about
    assert about.lines()[2] == (
        "axes ENU/FLU, unit m; cannot be checked: it does not tilt where it accelerates"
    )


@pytest.mark.parametrize("yaw", [np.pi, 3.1, -3.0])
def test_a_gentle_hover_that_looks_backwards_and_has_w_first_is_refused(yaw: float) -> None:
    """Near a half turn, w first looks like a level body without yaw: tilts of a degree tell them apart."""
    p, q = sway(0.1, yaw)
    assert read(p, q).about.axes_evidence == "tilts"
    with pytest.raises(BadInput, match="--quaternion wxyz"):
        read(p, q[:, [3, 0, 1, 2]])


def test_a_hover_that_turns_far_from_the_origin_is_no_inverse_pose() -> None:
    """Seen from the body, the origin goes round it in a circle, and a constant lean would hold it there."""
    q = so3.quaternion_exp(np.outer(0.4 * T, [0.0, 0.0, 1.0]))
    p = np.tile([1.0, 0.5, 1.5], (len(T), 1)) + 1e-3 * np.sin(T)[:, None]
    assert read(p, q).about.axes_evidence == "still"


@pytest.mark.parametrize(
    ("size", "words"), [(2.0, "2 times as large"), (0.5, "0.5 times as large"), (1.2, "")]
)
def test_accelerations_that_are_not_of_the_size_of_the_tilts_are_refused(
    size: float, words: str
) -> None:
    """No usual unit of length makes it two: a time may, or a model's scale. Drag makes a fifth."""
    p, q = sway(0.5, 0.3)
    if not words:
        assert read(size * p, q).about.axes_evidence == "tilts"
        return
    with pytest.raises(BadInput, match=f"accelerations are {words}.*--convention enu keeps"):
        read(size * p, q)


@pytest.mark.parametrize("signs", [(1.0, -1.0, 1.0), (-1.0, 1.0, 1.0)])
def test_a_roll_or_pitch_of_the_wrong_sense_is_refused_though_the_heading_turns(
    signs: tuple[float, ...],
) -> None:
    """In the world's axes no one map explains it, by the heading it is a reflection."""
    p, q = sway(0.5, 0.0)
    turned = so3.multiply(q, so3.quaternion_exp(np.outer(0.8 * T, [0.0, 0.0, 1.0])))
    rpy = so3.euler_from_matrix(so3.matrix_from_quaternion(turned)) * signs
    with pytest.raises(BadInput, match="mirrored against its attitudes"):
        read(p, so3.quaternion_from_matrix(so3.matrix_from_euler(rpy)))
