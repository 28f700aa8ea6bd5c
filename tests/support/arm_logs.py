# SPDX-License-Identifier: BSD-3-Clause
"""Logs in the format of aerial_manipulator's flights, written by an identified model."""

from pathlib import Path

import numpy as np
from scipy.io import savemat

from iap_physics.identified.plant import IdentifiedPlant, PlantState
from iap_physics.identified.plant_file import PlantFile

PERIOD = 0.1  # [s]
SIZES = np.array([0.8, 0.8, 0.7, 0.7, 1.4, 1.2, 1.2])  # of commands [m/s], [rad/s]
HEADING_OFF = np.pi / 2.0  # of the logged psi from the aircraft's heading


def commands(t: np.ndarray, seed: int) -> np.ndarray:
    """(K, 7) sums of harmonics, which steer every channel on its own."""
    rng = np.random.default_rng(seed)
    rates, phases = rng.uniform(0.3, 3.0, (7, 4)), rng.uniform(0.0, 6.3, (7, 4))
    waves = np.sin(rates[:, None] * t[:, None] + phases[:, None])
    return 0.5 * SIZES * waves.sum(axis=-1).T


def signals(plant: PlantFile, *, seed: int, samples: int = 501, noise: float = 0.0) -> dict:
    """Variables of a log, by their names in MATLAB."""
    t = PERIOD * np.arange(samples)
    told = np.ascontiguousarray(commands(t, seed))  # rows as those of all flights
    start = PlantState(np.zeros(3), 0.3, np.array([0.1, 0.9, -0.2]), np.zeros(7))
    flown, states = IdentifiedPlant(plant, start, noise=0.0, seed=seed), []
    for v_d in told:
        states.append(flown.state.copy())
        for _ in range(2):
            flown.step(v_d, PERIOD / 2.0)
    v = np.array([s.v for s in states])
    v += np.random.default_rng(seed).uniform(-noise, noise, v.shape) if noise else 0.0
    psi, q = np.array([s.yaw for s in states]) - HEADING_OFF, np.array([s.q for s in states])
    c, s = np.cos(psi), np.sin(psi)
    a, b = -v[:, 1], v[:, 0]  # the velocity turned by -psi
    out = {"t": t, "dt": np.full(samples, PERIOD), "ts": PERIOD, "psi": psi, "psi_p": v[:, 3]}
    out |= {"xu_p": c * a - s * b, "yu_p": s * a + c * b, "zu_p": v[:, 2]}
    out |= {f"q{i + 1}": q[:, i] for i in range(3)}
    out |= {f"q{i + 1}_p": v[:, 4 + i] for i in range(3)}
    names = ("ul", "um", "un", "w", "q1p", "q2p", "q3p")
    return out | {f"{name}_ref": told[:, i] for i, name in enumerate(names)}


def write_log(path: Path, plant: PlantFile, **how: float) -> Path:
    """Write a log; returns its path."""
    savemat(path, signals(plant, **how), oned_as="row")
    return path
