# SPDX-License-Identifier: BSD-3-Clause
"""Limits beyond which samples of a channel are spikes, frozen or joints of flights, and from which it has an offset."""

import numpy as np
import pytest

from iap_simulation.identification.channel_samples import (
    becalmed,
    command_spikes,
    frozen,
    joints_of_flights,
    repetitions,
    running_median,
    spikes,
)
from iap_simulation.identification.offsets import offset_of

K, DT = 400, 0.1
T = DT * np.arange(K)  # 40 s, 20 blocks


def with_spike(x: np.ndarray, size: float, at: int = 200, lasts: int = 1) -> np.ndarray:
    out = x.copy()
    out[at : at + lasts] += size
    return out


def test_a_median_of_seven_leaves_lines_as_they_are_and_has_no_spike_of_three():
    line = np.linspace(-1.0, 3.0, K)
    np.testing.assert_allclose(running_median(line), line, atol=1e-12)
    for lasts, is_found in ((1, True), (3, True), (4, False)):
        found = np.flatnonzero(spikes(with_spike(line, 2.0, lasts=lasts)))
        assert found.tolist() == ([*range(200, 200 + lasts)] if is_found else [])


ALTERNATING = 0.01 * (-1.0) ** np.arange(K)  # second differences of 0.04: a deviation of 0.0242
BUMPS = np.where(np.arange(K) % 10 == 5, 0.2, 0.0)  # more than one of twenty samples is off by 0.2


@pytest.mark.parametrize(
    ("x", "less", "more"),
    [
        (np.linspace(0.0, 1.0, K), 0.095, 0.105),  # a tenth of the range, of 98 % of the samples
        (ALTERNATING, 0.17, 0.18),  # eight deviations, from the median 0.02 away
        (BUMPS, 0.58, 0.64),  # three times what is usual
    ],
    ids=["range", "noise", "usual sizes"],
)
def test_a_spike_is_beyond_its_limit(x, less, more):
    assert not spikes(with_spike(x, less)).any()
    assert np.flatnonzero(spikes(with_spike(x, more))).tolist() == [200]


def test_a_spike_of_a_command_is_four_times_all_others_and_alone():
    u = np.where(np.arange(K) % 40 < 20, 1.0, -1.0)
    for size, lasts, is_found in (
        (3.8, 1, False),
        (-4.2, 1, True),
        (4.2, 1, True),
        (9.0, 2, False),
    ):
        command = u.copy()
        command[205 : 205 + lasts] = size
        assert np.flatnonzero(command_spikes(command)).tolist() == ([205] if is_found else [])
    assert not command_spikes(with_spike(np.zeros(K), 1.0)).any()  # a pulse of its own size


def test_runs_of_one_number_and_how_long_usual_ones_are():
    edges, usual = repetitions(np.repeat([1.0, 2.0, 3.0, 2.0], [2, 2, 2, 2]))
    assert (edges.tolist(), usual) == ([0, 2, 4, 6, 8], 2.0)
    assert repetitions(np.arange(5.0))[1] == 1.0


@pytest.mark.parametrize(
    ("samples", "dt", "moves", "is_found"),
    [
        (6, 0.1, 1.0, True),  # half a second from the first to the last
        (5, 0.1, 1.0, False),
        (5, 0.2, 1.0, True),
        (4, 0.2, 1.0, False),  # as often as usual ones, four times
        (8, 0.1, 0.11, True),  # of the command's range, until a quarter of a second before its end
        (8, 0.1, 0.095, False),
    ],
)
def test_a_channel_is_frozen_while_its_command_moves_on(samples, dt, moves, is_found):
    t = dt * np.arange(K)
    x, u = np.sin(t), np.zeros(K)
    x[100 : 100 + samples] = x[100]
    u[102] = u[102 + samples :] = moves
    u[-10:] = 1.0
    assert frozen(t, u, x) == ([(100, 100 + samples)] if is_found else [])


@pytest.mark.parametrize(
    ("noise", "samples", "is_found"), [(0.1, 21, True), (0.1, 20, False), (0.0, 21, False)]
)
def test_a_channel_is_frozen_where_its_noise_is_gone(noise, samples, is_found):
    """For two seconds, whatever its command does."""
    t = 0.1 * np.arange(K)
    x = np.sin(t) + np.random.default_rng(3).normal(0.0, noise, K)
    x[100 : 100 + samples] = x[100]
    u = np.where(np.arange(K) < 200, 0.0, 1.0)
    assert frozen(t, u, x) == ([(100, 100 + samples)] if is_found else [])


@pytest.mark.parametrize(
    ("moves", "share", "is_found"), [(0.5, 0.3, True), (0.05, 0.3, False), (0.5, 0.6, False)]
)
def test_a_channel_is_becalmed_where_it_stays_within_its_noise_while_its_command_moves(
    moves, share, is_found
):
    """Not where the command moves by less than a tenth of its range, nor a channel that hardly ever answers."""
    t = 0.05 * np.arange(400)
    still = (t >= 5.0) & (t < 5.0 + share * t[-1])
    u = np.where(np.floor(t) % 2 == 0, 1.0, -1.0)
    u[still] = moves * u[still]
    x = np.where(still, 0.3, np.sin(3.0 * t)) + np.random.default_rng(4).normal(0.0, 0.01, 400)
    spans = becalmed(t, u, x)
    assert bool(spans) == is_found
    if is_found:
        assert abs(spans[0][0] - np.argmax(still)) <= 5


@pytest.mark.parametrize(
    ("channels", "at", "size", "is_found"),
    [
        (2, 200, 0.5, True),
        (1, 200, 0.5, False),
        (2, 200, 0.12, True),  # a twentieth of the range, which is two
        (2, 200, 0.08, False),
        (2, 19, 0.5, False),  # in the first two seconds, and in the last
        (2, 22, 0.5, True),
        (2, 381, 0.5, False),
        (2, 378, 0.5, True),
    ],
)
def test_flights_are_joined_where_two_channels_leap_and_stay(channels, at, size, is_found):
    v = np.stack([np.sin(0.02 * np.pi * T), np.cos(0.02 * np.pi * T), np.sin(0.05 * T)], axis=1)
    v *= 2.0 / np.ptp(v, axis=0)
    v[at:, :channels] += size * np.where(v[at, :channels] > 0.0, -1.0, 1.0)
    assert joints_of_flights(T, v).tolist() == ([at] if is_found else [])


def found_in(off, sound=None, smallest=0.1):
    sound = np.ones(len(off), np.bool_) if sound is None else sound
    return offset_of(T[: len(off)], off, sound, "m/s", smallest)


def test_a_level_is_an_offset_from_its_smallest_size_on_over_six_blocks():
    found = found_in(np.full(K, 0.11))
    assert found.text == "lies 0.11 m/s off its free run all along"
    np.testing.assert_allclose(found.profile, 0.11)
    assert found_in(np.full(K, 0.09)) is None and found_in(np.full(K, -0.11)) is not None
    assert found_in(np.full(115, 0.2)) is not None  # of the sixth block, more than half
    assert found_in(np.full(105, 0.2)) is None


def test_a_level_is_five_standard_errors_of_the_blocks_or_none():
    """Neighbours differ by two: a deviation of 2.1, five of whose standard errors are 2.34."""
    scatter = 0.1 * (-1.0) ** np.arange(20).repeat(20)
    assert found_in(scatter + 0.22, smallest=0.0) is None
    assert found_in(scatter + 0.25, smallest=0.0) is not None


def test_samples_that_do_not_count_are_in_no_mean():
    off, sound = np.full(K, 0.2), np.ones(K, np.bool_)
    sound[::3] = False
    off[::3] = 50.0
    assert found_in(off, sound).text.startswith("lies 0.2 m/s")
    sound[:] = np.arange(K) % 20 < 9  # fewer than half of each block
    assert found_in(np.full(K, 0.2), sound) is None


@pytest.mark.parametrize(("at", "is_step"), [(173, True), (41, True), (360, True), (19, False)])
def test_a_step_lasts_two_blocks_on_both_sides_and_has_its_sample(at, is_step):
    off = np.where(np.arange(K) < at, -0.1, 0.3)
    found = found_in(off)
    assert found.text.startswith("steps by") == is_step
    if is_step:
        assert f"m/s at t = {T[at]:.4g} s, from" in found.text
        np.testing.assert_allclose(
            np.ptp(found.profile), 0.4, rtol=0.05
        )  # of a block both are half
        assert (np.diff(found.profile) != 0.0).nonzero()[0].tolist() == [at - 1]
    else:
        np.testing.assert_allclose(found.profile, 0.3)


def test_a_drift_is_a_line_of_twice_the_smallest_size():
    found = found_in(0.01 * (T - 20.0))
    assert found.text == "drifts by 0.399 m/s over 39.9 s against its free run"
    np.testing.assert_allclose(found.profile, 0.01 * (T - 20.0), atol=1e-9)
    assert found_in(0.0052 * (T - 20.0)) is not None
    assert found_in(0.0048 * (T - 20.0)) is None
