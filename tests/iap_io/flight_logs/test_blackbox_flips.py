# SPDX-License-Identifier: BSD-3-Clause
"""Flipped bits in a blackbox: frames without a check sum, of which those that are off are left out and counted."""

from pathlib import Path

import numpy as np
import pytest

from iap_bringup.fuzz.made_blackbox import END, KEYS, NAMES, blackbox, frame
from iap_io.flight_logs import flight_log as names
from iap_io.flight_logs.blackbox_columns import without_flips
from iap_io.flight_logs.readers import open_log

EVERY = int(KEYS["I interval"])
K = np.arange(400)


def rates_of_noise() -> np.ndarray:
    """Rates (K,) that swing by 60 under noise of 6."""
    return np.round(60.0 * np.sin(0.02 * K) + np.random.default_rng(2).normal(0.0, 6.0, len(K)))


def columns(gyro: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of a log with one rate."""
    return {"loopIteration": K.astype(float), "time": 1000.0 * K, "gyroADC[0]": gyro}


@pytest.mark.parametrize("share", [1.0, 2.0 / 3.0])
@pytest.mark.parametrize("at", [EVERY, EVERY + 1, 2 * EVERY - 1])
def test_what_leaps_away_and_back_at_a_whole_frame_is_left_out(at: int, share: float) -> None:
    """From a flip in a frame I or P to the next frame I; two thirds stay where means are guessed."""
    gyro = rates_of_noise()
    gyro[at] += 512.0
    gyro[at + 1 : 2 * EVERY] += 512.0 * share
    sound = without_flips(columns(gyro), EVERY)
    np.testing.assert_array_equal(np.flatnonzero(~sound), np.arange(at, 2 * EVERY))


@pytest.mark.parametrize("back", [2 * EVERY - 1, 2 * EVERY + 3])
def test_a_motion_that_comes_back_at_another_frame_is_one(back: int) -> None:
    gyro = rates_of_noise()
    gyro[EVERY + 5 : back] += 512.0
    assert without_flips(columns(gyro), EVERY).all()


def test_noise_and_steps_that_stay_are_no_flips() -> None:
    gyro = rates_of_noise() + 400.0 * (K >= 3 * EVERY)
    assert without_flips(columns(gyro), EVERY).all()


def test_a_bit_that_flips_in_a_file_is_counted_and_the_rates_are_those_of_the_flight(
    tmp_path: Path,
) -> None:
    gyro = rates_of_noise().astype(int).tolist()
    rows = [
        (k, 1000 * k, x, 0, 0, 0, 0, 2048, 300, 1550, *[630 + k % 10] * 4)
        for k, x in enumerate(gyro)
    ]
    data = bytearray(blackbox(rows))
    k = 3 * EVERY + 7
    whole = frame("P", rows[k], rows[k - 1], rows[k - 2])
    wrong = list(rows[k])
    wrong[NAMES.index("gyroADC[0]")] += 32  # of one byte: 7 bits and the sign
    damaged = frame("P", wrong, rows[k - 1], rows[k - 2])
    at = len(blackbox(rows[:k])) - len(END)
    data[at : at + len(whole)] = damaged
    path = tmp_path / "flight.bbl"
    path.write_bytes(bytes(data))
    log = open_log(path)
    steady = np.median(np.abs(np.diff(gyro)))
    assert 32 < 10 * steady  # within its noise: as it is
    assert not any("flipped" in note for note in log.notes)
    wrong[NAMES.index("gyroADC[0]")] += 4096
    data[at : at + len(damaged)] = frame("P", wrong, rows[k - 1], rows[k - 2])
    path.write_bytes(bytes(data))
    log = open_log(path)
    assert any(note.startswith(f"{EVERY - 7} frames left out") for note in log.notes)
    rates = log.signals[names.GYROSCOPE]
    index = np.round(1000.0 * rates.t).astype(int)
    np.testing.assert_allclose(np.degrees(rates.values[:, 0]), np.array(gyro)[index], atol=1e-9)
