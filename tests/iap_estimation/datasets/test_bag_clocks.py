# SPDX-License-Identifier: BSD-3-Clause
"""Sensors of a bag that were stamped by several clocks, or by none, come to be of one."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from resting_pair import PairBag

from iap_bringup.fuzz.made_bags import FORMATS
from iap_bringup.fuzz.made_recordings import IMAGE_STEP, IMU_STEP, resting
from iap_description.errors import BadInput
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.datasets.understanding import Corrections, understand
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import ImuSample

DRIVER = 0.02  # by which the driver of the cameras is late [s]


def _stamped(folder: Path, kind: str, *, images: float = 0.0, imu: float | None = 0.0) -> Path:
    """A bag whose cameras' and inertial unit's clocks are ahead [s]; None are not set."""
    pair = resting()
    ahead = [round(1e9 * images)] * 2
    stamps = [
        [stamp + shift for stamp in side] for side, shift in zip(pair.stamps, ahead, strict=True)
    ]
    own = [0 if imu is None else stamp + round(1e9 * imu) for stamp in pair.imu_stamps]
    return PairBag(kind).write(folder, replace(pair, stamps=stamps, imu_stamps=own))


def _check_times(dataset: SensorDataset, late: float) -> None:
    """Images come at their rate, `late` after the inertial samples of their time."""
    events = [measured for _, measured in dataset.events()]
    times = np.array([each.t for each in events if isinstance(each, Images)])
    np.testing.assert_allclose(times, np.arange(len(times)) * 1e-9 * IMAGE_STEP + late, atol=1e-6)
    samples = np.array([each.t for each in events if isinstance(each, ImuSample)])
    np.testing.assert_allclose(np.diff(samples), 1e-9 * IMU_STEP, atol=1e-6)
    assert len(times) > 2


@pytest.mark.parametrize(
    ("kind", "ahead"), [("ros1", 41.3), ("sqlite3", 0.7), ("mcap", -1_400_000_000.0)]
)
def test_cameras_by_another_clock_get_the_inertial_units(
    tmp_path: Path, kind: str, ahead: float
) -> None:
    dataset = open_dataset(_stamped(tmp_path, kind, images=ahead))
    _check_times(dataset, DRIVER)
    assert any("at the same times of reception: taken out" in note for note in dataset.notes)


@pytest.mark.parametrize("kind", ["ros1", "mcap"])
def test_stamps_that_are_not_set_give_way_to_the_times_of_reception(
    tmp_path: Path, kind: str
) -> None:
    dataset = open_dataset(_stamped(tmp_path, kind, imu=None))
    _check_times(dataset, DRIVER)
    assert any("are not set" in note for note in dataset.notes)


@pytest.mark.slow
def test_images_that_may_be_late_or_of_another_clock_are_asked_about(tmp_path: Path) -> None:
    dataset = open_dataset(_stamped(tmp_path, FORMATS[-1], images=-0.6))
    with pytest.raises(BadInput, match=r"comes 0\.6\d s later .* --image-delay 0 .*-0\.6"):
        understand(dataset, Corrections())
    _check_times(understand(dataset, Corrections(image_delay=-0.615)).dataset, DRIVER)
    _check_times(understand(dataset, Corrections(image_delay=0.0)).dataset, 0.005 - 0.6)


def test_a_drivers_delay_is_no_other_clock(tmp_path: Path) -> None:
    dataset = open_dataset(_stamped(tmp_path, FORMATS[-1]))
    _check_times(dataset, 0.005)
    assert not any("reception" in note for note in dataset.notes)
