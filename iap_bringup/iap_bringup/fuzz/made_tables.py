# SPDX-License-Identifier: BSD-3-Clause
"""Texts of numbers: recorded poses, and logs of a vehicle of first order, as CSV and for MATLAB."""

from pathlib import Path

import numpy as np

from iap_description.arrays import Array

RATES = np.array([2.0, 3.0, 4.0, 3.0, 5.0, 5.0, 5.0])  # poles of the logged vehicle [1/s]
CHANNELS = ("u_l", "u_m", "u_n", "w", "q1_p", "q2_p", "q3_p")
COLUMNS = 4  # channels of a CSV file
MATLAB = {"u_n": "zu_p", "w": "psi_p"}  # names of measured channels there
REFERENCES = ("ul", "um", "un", "w", "q1p", "q2p", "q3p")


def write(home: Path) -> None:
    """Write all of them."""
    rows = [[0.005 * i, 0.01 * i, 0.0, 1.0, 0.7071, 0.0, -0.7071, 0.0] for i in range(60)]
    stamped = [
        [f"{1_400_000_000_000_000_000 + round(1e9 * r[0])}", *map(repr, r[1:])] for r in rows
    ]
    text = "#timestamp, p_RS_R_x, y, z, q_RS_w, x, y, z\n"
    text += "\n".join(map(",".join, stamped)) + "\n"
    (home / "truth.csv").write_text(text, encoding="utf-8")
    tum = "\n".join(" ".join(map(repr, [*r[:4], *r[5:], r[4]])) for r in rows)
    (home / "truth.tum").write_text(f"# t x y z q\n{tum}\n", encoding="utf-8")
    for number in (1, 2):
        _write_logs(home, number)


def _write_logs(home: Path, number: int) -> None:
    from scipy.io import savemat  # slow to import

    t, commands, v = _log(number)
    names = CHANNELS[:COLUMNS]
    signals = {"t": t, **{f"{each}_ref": commands[i] for i, each in enumerate(names)}}
    signals |= {each: v[i] for i, each in enumerate(names)}
    table = np.column_stack(list(signals.values())).tolist()
    rows = "\n".join(",".join(map(repr, row)) for row in table)
    (home / f"log_{number}.csv").write_text(",".join(signals) + f"\n{rows}\n", encoding="utf-8")
    measured = {MATLAB.get(each, each): v[i] for i, each in enumerate(CHANNELS) if i > 1}
    planar = {"yu_p": v[0], "xu_p": -v[1], "psi": 0.0 * t}
    joints = {each.removesuffix("_p"): np.cumsum(measured[each]) * 0.05 for each in CHANNELS[4:]}
    sent = {f"{each}_ref": commands[i] for i, each in enumerate(REFERENCES)}
    times = {"ts": np.array([0.05]), "dt": np.full(len(t), 0.05)}
    savemat(
        home / f"log_{number}.mat",
        {**measured, **planar, **joints, **sent, **times},
        oned_as="row",
        do_compression=number == 1,
    )


def _log(seed: int, samples: int = 150, period: float = 0.05) -> tuple[Array, Array, Array]:
    """Times, commanded and measured velocities (7, K) of all channels: v' = rate (v_d - v)."""
    t: Array = period * np.arange(samples, dtype=np.float64)
    rng = np.random.default_rng(seed)
    count = len(CHANNELS)
    frequencies, phases = rng.uniform(0.5, 3.0, (count, 3)), rng.uniform(0.0, 6.3, (count, 3))
    commands: Array = 0.3 * np.sin(frequencies[..., None] * t + phases[..., None]).sum(axis=1)
    v = np.zeros((count, samples))
    for k in range(samples - 1):
        v[:, k + 1] = v[:, k] + period * RATES * (commands[:, k] - v[:, k])
    return t, commands, v
