# SPDX-License-Identifier: BSD-3-Clause
"""Random streams: one generator for every source of noise, spawned from the run's seed by name."""

import zlib

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers

Pair = tuple[np.uint64, np.uint64]  # a number of 128 bits: its upper half, its lower half

_LOW = np.uint64(0xFFFFFFFF)
# SeedSequence's hash and mix of words of 32 bits, as numpy has them (after M. O'Neill's seed_seq)
_INIT_A, _MULT_A = np.uint32(0x43B0D7E5), np.uint32(0x931E8875)
_INIT_B, _MULT_B = np.uint32(0x8B51F9DD), np.uint32(0x58F38DED)
_MIX_L, _MIX_R = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
# PCG64's multiplier (M. O'Neill, "PCG", HMC-CS-2014-0905)
_PCG_HIGH, _PCG_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)


def stream(seed: int, name: str) -> np.random.Generator:
    """The generator of one noise source; adding a source changes no other stream.

    Args:
        seed: the run's seed.
        name: unique in the run, such as ``iap/state_noise``.
    """
    return np.random.default_rng(
        np.random.SeedSequence(seed, spawn_key=(zlib.crc32(name.encode()),))
    )


def uniforms(seeds: Integers, name: str, count: int) -> Array:
    """The first numbers, even in [-1, 1), of the streams of one name and many seeds.

    They are those of ``stream(seed, name).uniform(-1.0, 1.0, count)``, at a hundredth of the cost: numpy keeps the
    sequences of SeedSequence and PCG64 for good, and a test compares.

    Args:
        seeds: (n,) of runs.
        name: of the source.
        count: numbers of each.

    Returns:
        (n, count).
    """
    out = np.empty((len(seeds), count))
    _fill_uniforms(seeds, np.uint32(zlib.crc32(name.encode())), out)
    return out


@njit(cache=True)
def _fill_uniforms(seeds: Integers, key: np.uint32, out: Array) -> None:
    for i in range(len(seeds)):
        state, increment = _pcg(np.uint64(seeds[i]), key)
        for k in range(out.shape[1]):
            state = _next(state, increment)
            turn = state[0] >> np.uint64(58)
            bits = state[0] ^ state[1]
            bits = (bits >> turn) | (bits << ((np.uint64(64) - turn) & np.uint64(63)))
            out[i, k] = -1.0 + 2.0 * (
                np.float64(bits >> np.uint64(11)) * (1.0 / 9007199254740992.0)
            )


@njit(cache=True)
def _pcg(seed: np.uint64, key: np.uint32) -> tuple[Pair, Pair]:
    """State and increment of the PCG64 of SeedSequence(seed, spawn_key=(key,))."""
    words = _words(_pool(seed, key))
    increment = (
        (words[2] << np.uint64(1)) | (words[3] >> np.uint64(63)),
        (words[3] << np.uint64(1)) | np.uint64(1),
    )
    start = _sum(increment, (words[0], words[1]))  # one step from zero leads to the increment
    return _next(start, increment), increment


@njit(cache=True)
def _pool(seed: np.uint64, key: np.uint32) -> np.ndarray:
    """The four words into which entropy is mixed: two of the seed, two of zeros, one of the key."""
    entropy = np.zeros(5, np.uint32)
    entropy[0], entropy[1] = np.uint32(seed & _LOW), np.uint32(seed >> np.uint64(32))
    entropy[4] = key
    pool, factor = np.empty(4, np.uint32), _INIT_A
    for i in range(4):
        pool[i], factor = _hashed(entropy[i], factor)
    for source in range(4):
        for i in range(4):
            if i != source:
                word, factor = _hashed(pool[source], factor)
                pool[i] = _mixed(pool[i], word)
    for i in range(4):
        word, factor = _hashed(entropy[4], factor)
        pool[i] = _mixed(pool[i], word)
    return pool


@njit(cache=True)
def _words(pool: np.ndarray) -> np.ndarray:
    """Four words of 64 bits of a pool."""
    words, factor = np.empty(4, np.uint64), _INIT_B
    for i in range(4):
        low, high = np.uint32(pool[(2 * i) % 4]), np.uint32(pool[(2 * i + 1) % 4])
        low = np.uint32(low ^ factor)
        factor = np.uint32(factor * _MULT_B)
        low = np.uint32(low * factor)
        low = np.uint32(low ^ (low >> np.uint32(16)))
        high = np.uint32(high ^ factor)
        factor = np.uint32(factor * _MULT_B)
        high = np.uint32(high * factor)
        high = np.uint32(high ^ (high >> np.uint32(16)))
        words[i] = (np.uint64(high) << np.uint64(32)) | np.uint64(low)
    return words


@njit(cache=True)
def _hashed(word: np.uint32, factor: np.uint32) -> tuple[np.uint32, np.uint32]:
    word = np.uint32(word ^ factor)
    factor = np.uint32(factor * _MULT_A)
    word = np.uint32(word * factor)
    return np.uint32(word ^ (word >> np.uint32(16))), factor


@njit(cache=True)
def _mixed(a: np.uint32, b: np.uint32) -> np.uint32:
    word = np.uint32(np.uint32(_MIX_L * a) - np.uint32(_MIX_R * b))
    return np.uint32(word ^ (word >> np.uint32(16)))


@njit(cache=True)
def _next(state: Pair, increment: Pair) -> Pair:
    """The state of a PCG64 after a step."""
    high, low = _product(state[1], _PCG_LOW)
    high += state[0] * _PCG_LOW + state[1] * _PCG_HIGH
    return _sum((high, low), increment)


@njit(cache=True)
def _sum(a: Pair, b: Pair) -> Pair:
    low = a[1] + b[1]
    return a[0] + b[0] + (np.uint64(1) if low < a[1] else np.uint64(0)), low


@njit(cache=True)
def _product(a: np.uint64, b: np.uint64) -> Pair:
    """128 bits of a product."""
    half = np.uint64(32)
    a0, a1, b0, b1 = a & _LOW, a >> half, b & _LOW, b >> half
    lowest, cross_1, cross_2 = a0 * b0, a1 * b0, a0 * b1
    middle = (lowest >> half) + (cross_1 & _LOW) + (cross_2 & _LOW)
    high = a1 * b1 + (cross_1 >> half) + (cross_2 >> half) + (middle >> half)
    return high, (middle << half) | (lowest & _LOW)
