# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of a run, each source by its seed and its name: values that are drawn once, and noise.

What a run draws once (starts, masses, mounts) is counted: number k of a source is a function of seed, name and k
(`uniforms`), so that no draw depends on others, on the batch, on threads or on shards. Noise runs on in time from a
generator of its own (`stream`). One more source changes no other.
"""

import math
import zlib

import numpy as np
from numba import njit

from iap_description.arrays import Array, Integers

Block = tuple[np.uint64, np.uint64, np.uint64, np.uint64]
Four = tuple[float, float, float, float]

# Philox 4x64-10: multipliers of the rounds, and what is added to the key after each
# (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011)
_ROUNDS = 10
_FACTOR_0, _FACTOR_1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_WEYL_0, _WEYL_1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
_WORD_MASK, _WORD_BITS = np.uint64(0xFFFFFFFF), np.uint64(32)
_UNIT = 2.0**-53  # between neighbouring numbers of 53 bits in [0, 1)


def stream(seed: int, name: str) -> np.random.Generator:
    """The generator of one noise source; adding a source changes no other stream.

    Args:
        seed: the run's seed.
        name: unique in the run, such as ``iap/state_noise``.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_number(name),)))


def uniform(seed: int, name: str, count: int) -> Array:
    """Numbers (count,), even in [-1, 1), that one seed draws; `uniforms` of it alone."""
    return np.asarray(uniforms(np.array([seed]), name, count)[0])


def uniforms(seeds: Integers, name: str, count: int) -> Array:
    """Numbers, even in [-1, 1), that many seeds draw for one source.

    They are those of Philox 4x64-10 with a key of the seed and the CRC-32 of the name, in numpy's order:
    ``Generator(Philox(key=seed + (crc32 << 64))).uniform(-1.0, 1.0, count)`` at a hundredth of the cost.

    Args:
        seeds: (n,) of runs.
        name: of the source, unique in the run, such as ``iap/start``.
        count: numbers of each.

    Returns:
        (n, count).
    """
    out = np.empty((len(seeds), count))
    _fill_uniforms(seeds, np.uint64(_number(name)), out)
    return out


def _number(name: str) -> int:
    return zlib.crc32(name.encode())


@njit(cache=True)
def _fill_uniforms(seeds: Integers, source: np.uint64, out: Array) -> None:
    for i in range(len(seeds)):
        for k in range(0, out.shape[1], 4):
            words = _philox(np.uint64(k // 4 + 1), np.uint64(seeds[i]), source)
            for j in range(min(4, out.shape[1] - k)):
                out[i, k + j] = -1.0 + 2.0 * (np.float64(words[j] >> np.uint64(11)) * _UNIT)


@njit(cache=True)
def four_normals(counter: int, key: int, source: int) -> Four:
    """Four independent standard normal numbers, which are a function of a count and a key.

    Box and Muller's pairs ("A note on the generation of random normal deviates", 1958) of Philox's block.

    Args:
        counter: of blocks.
        key: of whoever draws.
        source: a second one.
    """
    words = _philox(np.uint64(counter), np.uint64(key), np.uint64(source))
    a, b = _pair(words[0], words[1])
    c, d = _pair(words[2], words[3])
    return a, b, c, d


@njit(cache=True)
def _pair(first: np.uint64, second: np.uint64) -> tuple[float, float]:
    """Two normal numbers of two words."""
    u = (np.float64(first >> np.uint64(11)) + 1.0) * _UNIT  # in (0, 1]
    angle = 2.0 * math.pi * np.float64(second >> np.uint64(11)) * _UNIT
    radius = math.sqrt(-2.0 * math.log(u))
    return radius * math.cos(angle), radius * math.sin(angle)


@njit(cache=True)
def _philox(counter: np.uint64, key_0: np.uint64, key_1: np.uint64) -> Block:
    """The block of a count and a key."""
    zero = np.uint64(0)
    block = (counter, zero, zero, zero)
    for _ in range(_ROUNDS):
        high_0, low_0 = _product(_FACTOR_0, block[0])
        high_1, low_1 = _product(_FACTOR_1, block[2])
        block = (high_1 ^ block[1] ^ key_0, low_1, high_0 ^ block[3] ^ key_1, low_0)
        key_0 += _WEYL_0
        key_1 += _WEYL_1
    return block


@njit(cache=True)
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """128 bits of a product: its upper half, its lower half."""
    a0, a1, b0, b1 = a & _WORD_MASK, a >> _WORD_BITS, b & _WORD_MASK, b >> _WORD_BITS
    lowest, cross_1, cross_2 = a0 * b0, a1 * b0, a0 * b1
    middle = (lowest >> _WORD_BITS) + (cross_1 & _WORD_MASK) + (cross_2 & _WORD_MASK)
    high = a1 * b1 + (cross_1 >> _WORD_BITS) + (cross_2 >> _WORD_BITS) + (middle >> _WORD_BITS)
    return high, (middle << _WORD_BITS) | (lowest & _WORD_MASK)
