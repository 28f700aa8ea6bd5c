# SPDX-License-Identifier: BSD-3-Clause
"""Numerical derivatives along steps of the states, and states to take them at."""

from collections.abc import Callable

import numpy as np

from iap_description.math import so3
from iap_estimation.virpo.algebra.states import States, retract

EXACT = 1e-6  # largest relative error of a derivative


def numeric(of: Callable[[np.ndarray], np.ndarray], n: int, h: float = 1e-3) -> np.ndarray:
    """Derivative (m, n) at zero of a function of a step (n,), by five points."""
    columns = []
    for i in range(n):
        e = h * np.eye(n)[i]
        near = np.asarray(of(e)) - np.asarray(of(-e))
        far = np.asarray(of(2 * e)) - np.asarray(of(-2 * e))
        columns.append((8.0 * near - far) / (12.0 * h))
    return np.stack(columns, axis=-1)


def along(states: States, of: Callable[[States], np.ndarray], h: float = 1e-3) -> np.ndarray:
    """Derivative of a function of states by their step."""

    def moved(step: np.ndarray) -> np.ndarray:
        there = states.copy()
        retract(there, step)
        return np.array(of(there))

    return numeric(moved, states.size, h)


def assert_slopes(analytic: np.ndarray, numerical: np.ndarray, relative: float = EXACT) -> None:
    """Every column agrees, relative to its length, or to the whole where it is nothing beside it."""
    size = np.linalg.norm(numerical, axis=0)
    off = np.linalg.norm(analytic - numerical, axis=0)
    allowed = relative * np.maximum(size, 1e-3 * size.max())
    assert (off <= allowed).all(), f"off by {(off / np.maximum(size, 1e-300)).max():.1e}"


def some_states(
    frames: int, aircraft: int, *, neighbours: int = 0, centre: bool = False, seed: int = 0
) -> States:
    """States spread over some metres and some tenths of a radian."""
    rng = np.random.default_rng(seed)
    states = States.empty(frames, aircraft, neighbours, centre)
    states.x[..., :3] = rng.normal(size=(frames, aircraft, 3))
    states.x[..., 3:7] = so3.quaternion_exp(0.4 * rng.normal(size=(frames, aircraft, 3)))
    states.x[..., 7:10] = rng.normal(size=(frames, aircraft, 3))
    states.x[..., 10:13] = 0.01 * rng.normal(size=(frames, aircraft, 3))
    states.x[..., 13:16] = 0.1 * rng.normal(size=(frames, aircraft, 3))
    states.drift[:] = 0.3 * rng.normal(size=states.drift.shape)
    states.centre[..., :4] = so3.quaternion_exp(
        0.4 * rng.normal(size=states.centre.shape[:2] + (3,))
    )
    states.centre[..., 4:] = 0.01 * rng.normal(size=states.centre[..., 4:].shape)
    states.alignment[:] = rng.normal(size=states.alignment.shape)
    return states
