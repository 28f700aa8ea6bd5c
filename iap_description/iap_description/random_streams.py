# SPDX-License-Identifier: BSD-3-Clause
"""Random streams: one generator for every source of noise, spawned from the run's seed by name."""

import zlib

import numpy as np


def stream(seed: int, name: str) -> np.random.Generator:
    """The generator of one noise source; adding a source changes no other stream.

    Args:
        seed: the run's seed.
        name: unique in the run, such as ``iap/state_noise``.
    """
    return np.random.default_rng(
        np.random.SeedSequence(seed, spawn_key=(zlib.crc32(name.encode()),))
    )
